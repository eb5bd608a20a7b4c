"""The summary for CI: a table that survives any text, and the failures with their reasons."""

import re

from markdown_it import MarkdownIt

from recall_reports import markdown, phrases
from recall_reports.compare import diff
from recall_reports.record import Record

HOSTILE = (
    "`![x](https://evil.example/i.png)` **Nothing changed** _x_ ~~x~~ <img src=x> [x](y) | a |",
    "` `` @somebody a@b.co #1 o/r#2 GH-3 https://evil.example www.evil.example &#64;x $x^2$ \\",
)
LIVE = re.compile(r"@\w|#\d|GH-\d|\w://|www\.\w")
READER = MarkdownIt().enable(["table", "strikethrough"])


def _read(text: str) -> tuple[list[str], list[str], list[str]]:
    """Plain texts and codes of a document, and the names of whatever else stands in its lines."""
    tokens = [part for token in READER.parse(text) for part in token.children or ()]
    found: dict[str, list[str]] = {"text": [], "code_inline": []}
    other = []
    for token in tokens:
        found[token.type].append(token.content) if token.type in found else other.append(token.type)
    return found["text"], found["code_inline"], other


def test_one_row_for_each_claim_that_was_tried(report: Record) -> None:
    text = markdown.render(report)
    rows = [line for line in text.splitlines() if line.startswith("| **")]
    tried = [claim for claim in report.claims if claim.state != "NOT RUN"]
    for claim, row in zip(tried, rows, strict=True):
        assert row.startswith(f"| **{phrases.label(claim)}** |")
        assert f"(`{claim.id}`)" in row
        assert row.count(" | ") == 6


def test_failures_have_reason_and_replay(report: Record) -> None:
    _, _, failures = markdown.render(report).partition("## Failed or undecided")
    for claim in report.claims:
        assert (f"`{claim.id}`:" in failures) == (claim.outcome != "passed")
    assert "control `no-trigger` was not refuted: INCONCLUSIVE" in failures
    assert "replay: `pytest" in failures


def test_no_failures_no_section(report: Record) -> None:
    report.claims = [claim for claim in report.claims if claim.outcome == "passed"]
    assert "Failed" not in markdown.render(report)


def test_no_text_of_a_record_is_markup_or_alive(report: Record) -> None:
    kinds = set(_read(markdown.render(report))[2])
    columns = markdown.render(report).splitlines()
    for attack in HOSTILE:
        report.suite.tier = report.suite.device = report.papers[0].title = attack
        for claim in report.claims:
            claim.title = claim.replay = attack
            if claim.state in ("ERROR", "NOT RUN"):
                claim.reason = attack
            for control in claim.controls:
                control.id = attack
        text = markdown.render(report)
        plain, codes, other = _read(text)
        assert set(other) <= kinds
        flat = " ".join(attack.split())
        assert flat in codes
        assert any(flat in line.replace("\u200b", "") for line in map("".join, [plain]))
        assert not LIVE.search("\n".join(plain))
        assert len(text.splitlines()) == len(columns)


def test_no_text_of_a_change_is_markup_or_alive() -> None:
    for attack in HOSTILE:
        found = [diff.Change("anew", "A.one", attack, attack, attack)]
        plain, codes, other = _read(diff.markdown(found))
        assert codes == ["A.one"]
        assert set(other) <= {"strong_open", "strong_close"}
        assert other.count("strong_open") == 1
        assert "".join(plain).replace("\u200b", "").count(" ".join(attack.split())) == 3
        assert not LIVE.search("\n".join(plain))
