"""A record with hostile text everywhere harms no form of a report.

What script would do in a browser is in `test_browser.py`, and what an exception says in JUnit's
file in `tests/faults/test_broken_simulation.py`.
"""

import io
import re

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from recall_reports import diff, html, markdown
from recall_reports.record import Hunt, Record
from recall_reports.record.files import validated
from recall_reports.record.text import clean
from tests.reports import golden, hostile

ADDRESS = "http://nowhere"
TEXT = hostile.text(ADDRESS)
STEERING = set("\x1b\x07\x9b\u202e\r")
LIVE = re.compile(r"@\w|#\d|GH-\d|\w://|www\.\w")
READER = MarkdownIt().enable(["table", "strikethrough"])


def read(text: str) -> tuple[str, list[str], set[str]]:
    """The plain text of a document, its codes, and the names of whatever else is in its lines."""
    tokens = [part for token in READER.parse(text) for part in token.children or ()]
    found: dict[str, list[str]] = {"text": [], "code_inline": []}
    for token in tokens:
        if token.type in found:
            found[token.type].append(token.content)
    plain = "\n".join(found["text"])
    assert not LIVE.search(plain)
    return (
        plain.replace("\n", "").replace("\u200b", ""),
        found["code_inline"],
        {token.type for token in tokens} - {*found},
    )


@pytest.fixture
def few(report: Record) -> Record:
    """The sample without most of its large pictures."""
    report.claims = [claim for claim in report.claims if claim.plot is None or claim.cells[30:]]
    return report


def test_page(few: Record) -> None:
    text = html.render(validated(hostile.everywhere(few, TEXT)))
    assert "ran=1" in text
    for attack in (*hostile.attacks(ADDRESS), "'\"></title>", "</noscript>'"):
        assert attack not in text


def test_markdown(report: Record) -> None:
    before = markdown.render(report)
    text = markdown.render(validated(hostile.everywhere(report, TEXT)))
    plain, codes, other = read(text)
    assert other <= read(before)[2]
    shown = " ".join(clean(TEXT).split())
    assert any(shown in code for code in codes)
    assert shown in plain
    assert len(text.splitlines()) == len(before.splitlines())


@pytest.mark.parametrize("attack", hostile.MARKDOWN)
def test_diff(few: Record, attack: str) -> None:
    few.claims = few.claims[:3]
    few.claims[1].id = "www.example.org"
    other = validated(hostile.everywhere(few, attack + hostile.CONTROL))
    found = diff.changes(few, other, [attack])
    text = diff.markdown(found)
    plain, codes, markup = read(text)
    assert len(text.splitlines()) == 4 + len(found) > 8
    assert markup == {"strong_open", "strong_close"}
    assert set(codes) == {claim.id for claim in few.claims}
    assert plain.count(" ".join(attack.split())) > len(found) / 2
    said = io.StringIO()
    diff.print_changes(found, Console(file=said))
    assert not STEERING & set(said.getvalue())


@pytest.mark.parametrize("width", [80, 140])
def test_terminal(report: Record, width: int) -> None:
    for claim in report.claims:
        claim.hunt = Hunt(tried=1, refused={"": 1})
    text = golden.terminal(hostile.everywhere(report, TEXT), width, verbosity=1)
    assert not STEERING & set(text)
    assert r"\x1b]0;title" in text
    assert r"\x9b31m\u202e\ud800" in text
