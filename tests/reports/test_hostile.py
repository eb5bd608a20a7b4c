"""A record with hostile text everywhere harms no form of a report.

`test_browser.py` tests scripts in a browser, and `tests/faults/test_exit_status.py` tests
exceptions in JUnit's file.
"""

import io
import re
from typing import Any

import pytest
from markdown_it import MarkdownIt
from msgspec import Struct
from msgspec.structs import asdict, replace
from rich.console import Console

from recall_reports import diff, html, markdown
from recall_reports.record import (
    ClaimRow,
    ControlRow,
    ErrorBudget,
    Hunt,
    PaperRow,
    Record,
    SourceRow,
    Statement,
)
from recall_reports.record.files import validated
from recall_reports.record.text import clean
from recall_reports.terminal import print_verdicts
from tests.reports import golden, sample

WORDS = ("version", "verdict", "state", "outcome", "expected", "scale", "kind", "log")
"""Fields that take one of a few words."""
NAMES = {
    ClaimRow: ("id",),
    ControlRow: ("id",),
    ErrorBudget: ("papers",),
    PaperRow: ("key",),
    SourceRow: ("paper", "statements", "provenance"),
    Statement: ("id",),
}
"""Fields that are not free text because of their types."""
MARKDOWN = (
    "`![x](https://evil.example/i.png)` **Nothing changed** _x_ ~~x~~ <img src=x> [x](y) | a |",
    "\n\n` `` @somebody a@b.co #1 o/r#2 GH-3 https://evil.example www.evil.example &#64;x $x^2$ \\",
)
CONTROL = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e\ud800\r"


def attacks(address: str) -> list[str]:
    """Return markup that sets the page's `ran`, or requests something from the address."""
    return [
        "<script>ran=1</script>",
        f"<script src={address}/script></script>",
        f"<img src={address}/image onerror=ran=1>",
        f"<link rel=stylesheet href={address}/sheet>",
        f"<iframe src={address}/frame></iframe>",
        f"<p style=background:url({address}/style)>",
        "<svg onload=ran=1></svg>",
    ]


def text(address: str) -> str:
    """Return all attacks in one text, plain and in formulas."""
    texts = attacks(address)
    inside = [rf"$\text{{{text}}}$" for text in texts]
    inside.append(rf"$\href{{javascript:ran=1}}{{x}} \style{{background:url({address}/tex)}}{{x}}$")
    return " ".join(["'\">", "</title></style></template>", *texts, *inside, CONTROL, *MARKDOWN])


def everywhere(record: Record, attack: str) -> Record:
    """Put an attack at the end of each free text and key of a record."""

    def attacked(value: Any) -> Any:
        if isinstance(value, Struct):
            fixed = WORDS + NAMES.get(type(value), ())
            free = {name: part for name, part in asdict(value).items() if name not in fixed}
            return replace(value, **{name: attacked(part) for name, part in free.items()})
        if isinstance(value, dict):
            return {attacked(key): attacked(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(attacked, value))
        return value + attack if isinstance(value, str) else value

    found: Record = attacked(record)
    return found


ADDRESS = "http://nowhere"
TEXT = text(ADDRESS)
STEERING = set("\x1b\x07\x9b\u202e\r")
LIVE = re.compile(r"@\w|#\d|GH-\d|\w://|www\.\w")
READER = MarkdownIt().enable(["table", "strikethrough"])


def read(text: str) -> tuple[str, list[str], set[str]]:
    """Return a document's plain text, its code spans, and the names of its other elements."""
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
    """The sample, less the claims that have a plot of at most 30 cells."""
    report.claims = [claim for claim in report.claims if claim.plot is None or claim.cells[30:]]
    return report


def test_page(few: Record) -> None:
    text = golden.unfolded(html.render(validated(everywhere(few, TEXT))))
    assert "ran=1" in text
    for attack in (*attacks(ADDRESS), "'\"></title>", "</template>'"):
        assert attack not in text


def test_markdown(report: Record) -> None:
    for cell in (cell for claim in report.claims for cell in claim.cells):
        cell.error = None  # else the rule's name, which is text, decides on an analysis
    before = markdown.render(report)
    text = markdown.render(validated(everywhere(report, TEXT)))
    plain, codes, other = read(text)
    assert other <= read(before)[2]
    shown = " ".join(clean(TEXT).split())
    assert any(shown in code for code in codes)
    assert shown in plain
    assert len(text.splitlines()) == len(before.splitlines())


@pytest.mark.parametrize("attack", MARKDOWN)
def test_diff(few: Record, attack: str) -> None:
    few.claims = few.claims[:3]
    few.claims[1].id = "www.example.org"
    other = validated(everywhere(few, attack + CONTROL))
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
    text = golden.terminal(everywhere(report, TEXT), width, verbosity=1)
    assert not STEERING & set(text)
    assert r"\x1b]0;title" in text
    assert r"\x9b31m\u202e\ud800" in text


def test_no_line_is_a_command_to_a_workflow(few: Record) -> None:
    before = few.claims[0]
    few.claims[0] = replace(
        before, state="ERROR", verdict=None, outcome="failed", reason="a\n::error::b"
    )
    few.suite.tier = "a\n::error::b"
    said = io.StringIO()
    console = Console(file=said, width=200)
    print_verdicts(validated(few), console)
    diff.print_changes(diff.changes(sample.record(), few), console)
    assert said.getvalue().count(r"\n::error::b") == 3
    assert not re.search(r"^\s*::", said.getvalue(), re.MULTILINE)
