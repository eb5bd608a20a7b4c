"""What no text of a record does in any form of a report; the table keeps its shape."""

import re
from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from recall_reports import html, markdown, phrases
from recall_reports.compare import diff
from recall_reports.record import Hunt, Record
from tests.reports import golden, hostile, sample

FORMS = {"html": html.render, "markdown": markdown.render}
Render = Callable[[Record], str]
ATTACKS = (
    "`![x](https://evil.example/i.png)` **Nothing changed** _x_ ~~x~~ <img src=x> [x](y) | a |",
    "` `` @somebody a@b.co #1 o/r#2 GH-3 https://evil.example www.evil.example &#64;x $x^2$ \\",
)
LIVE = re.compile(r"@\w|#\d|GH-\d|\w://|www\.\w")
READER = MarkdownIt().enable(["table", "strikethrough"])


@pytest.mark.parametrize("render", [*FORMS.values(), golden.terminal], ids=[*FORMS, "terminal"])
def test_a_run_without_claims(render: Render, report: Record) -> None:
    report.claims, report.papers, report.derivations = [], [], []
    assert "No claim was selected." in render(report)


def test_text_from_the_record_is_escaped(report: Record) -> None:
    report.claims = [claim for claim in report.claims if claim.plot is None or claim.cells[30:]]
    text = html.render(hostile.everywhere(report, "http://nowhere"))
    assert "ran=1" in text
    for attack in (*hostile.attacks("http://nowhere"), "'\"></title>", "</noscript>'"):
        assert attack not in text


def _read(text: str) -> tuple[list[str], list[str], list[str]]:
    """Plain texts and codes of a document, and the names of whatever else stands in its lines."""
    tokens = [part for token in READER.parse(text) for part in token.children or ()]
    found: dict[str, list[str]] = {"text": [], "code_inline": []}
    other = []
    for token in tokens:
        found[token.type].append(token.content) if token.type in found else other.append(token.type)
    return found["text"], found["code_inline"], other


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_of_a_record_is_markup_or_alive(report: Record, attack: str) -> None:
    before = markdown.render(report)
    report.suite.tier = report.suite.device = report.papers[0].title = attack
    for claim in report.claims:
        claim.title = claim.replay = attack
        if claim.state in ("ERROR", "NOT RUN"):
            claim.reason = attack
        for control in claim.controls:
            control.id = attack
    text = markdown.render(report)
    plain, codes, other = _read(text)
    assert set(other) <= set(_read(before)[2])
    assert " ".join(attack.split()) in codes
    assert " ".join(attack.split()) in "".join(plain).replace("\u200b", "")
    assert not LIVE.search("\n".join(plain))
    assert len(text.splitlines()) == len(before.splitlines())


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_of_a_change_is_markup_or_alive(report: Record, attack: str) -> None:
    new = sample.record()
    for record, text in ((report, attack), (new, f"`{attack}")):
        claim = record.claims[1]
        claim.id, claim.registration, claim.title = "www.example.org", text, f"{text}\n\n| |"
    found = diff.changes(report, new, ["claims/`|conftest.py", attack])
    text = diff.markdown(found)
    assert len(text.splitlines()) == 4 + len(found) == 8
    plain, codes, other = _read(text)
    assert other == ["strong_open", "strong_close"]
    shown = " ".join(attack.split())
    assert codes == ["www.example.org", "www.example.org"]
    assert "".join(plain).replace("\u200b", "").count(shown) == 5
    assert not LIVE.search("\n".join(plain))


@pytest.mark.parametrize("width", [80, 140])
def test_nothing_that_a_record_says_steers_the_terminal(report: Record, width: int) -> None:
    bad = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e\ud800\r"
    for claim in report.claims:
        claim.reason = claim.replay = claim.title = bad
        claim.hunt = Hunt(tried=1, refused={bad: 1})
    text = golden.terminal(report, width, verbosity=1)
    assert not set("\x1b\x07\x9b\u202e\r") & set(text)
    assert r"\x1b]0;title" in text
    assert r"\x9b31m\u202e\ud800" in text


HEADINGS = ["verdict", "claim", "estimate", "caught", "time"]


@pytest.mark.parametrize("width", [40, 80, 130, 200])
def test_it_fits_and_names_every_claim(report: Record, width: int) -> None:
    text = golden.terminal(report, width)
    assert max(map(len, text.splitlines())) <= width
    for claim in report.claims:
        assert width < 80 or claim.id[:18] in text
        assert phrases.state(claim).replace(" ", "") in "".join(text.split())


@pytest.mark.parametrize("width", [60, 80])
def test_long_names_fold_and_push_nothing_out(report: Record, width: int) -> None:
    report.claims[1].id = "A.a-name-that-is-longer-than-any-sensible-column"
    lines = golden.terminal(report, width).splitlines()
    assert lines[0].split() == HEADINGS
    tried = [claim for claim in report.claims if claim.state != "NOT RUN"]
    assert sum(line.endswith(" s") for line in lines) == len(tried)


def test_headings_keep_their_width_where_nothing_was_found(report: Record) -> None:
    report.claims = [claim for claim in report.claims if claim.state == "ERROR"]
    assert golden.terminal(report).split()[:5] == HEADINGS


def test_many_claims_that_were_not_run_are_counted_and_named_when_asked(report: Record) -> None:
    left_out = next(claim for claim in report.claims if claim.state == "NOT RUN")
    report.claims += [replace(left_out, id=f"A.left-out-{k}") for k in range(20)]
    assert "A.left-out-7" not in golden.terminal(report, 100)
    assert "21 claims" in golden.terminal(report, 100)
    assert "A.left-out-7" in golden.terminal(report, 100, verbosity=1)
