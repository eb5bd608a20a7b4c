"""The summary for CI: a table that survives any text, and the failures with their reasons."""

from recall_reports import markdown, phrases
from recall_reports.record import Record


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


def test_text_cannot_break_the_table(report: Record) -> None:
    report.claims[0].title = "a | b\n<img src=x> `c`"
    row = next(line for line in markdown.render(report).splitlines() if "A.gradient" in line)
    assert r"a \| b \<img src=x\> \`c\`" in row


def test_compact(report: Record) -> None:
    assert len(markdown.render(report)) < 400 * len(report.claims)


def test_verdicts_by_paper(report: Record) -> None:
    lines = markdown.render(report).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| paper |"))
    heads, _, row, end = lines[start : start + 4]
    assert end == ""
    counts = dict(zip(heads.split(" | ")[1:], row.split(" | ")[1:], strict=True))
    supported = [claim for claim in report.claims if claim.verdict == "SUPPORTED"]
    assert counts["SUPPORTED"] == str(len(supported))
    assert row.startswith("| A: Learning to Recall")


def test_what_claims_test_and_what_is_explored(report: Record) -> None:
    text = markdown.render(report)
    assert "- Our own derivations: 14 claims, 8 SUPPORTED" in text
    assert phrases.EXPLORED in text
    assert "(region from a pilot) (`A.all-tokens`)" in text
    report.claims = [claim for claim in report.claims if claim.state != "EXPLORED"]
    assert phrases.EXPLORED not in markdown.render(report)
