"""What changed between two records; the kinds of changes are cases of `__snapshots__/`."""

from collections import Counter
from pathlib import Path

from recall_reports import diff, summary
from recall_reports.record import Record
from recall_reports.record.files import load
from tests.reports import sample


def test_files_of_claims_are_left_out_and_conftest_and_data_come_first(report: Record) -> None:
    shown = [
        *("claims/conftest.py", "claims/test_more/conftest.py", "conftest.py"),
        *("claims/papers/A.toml", "claims/test_more/law.json", "pyproject.toml"),
        *("claims/test_sample/test_empty.py", "claims/test_sample/test_sample.py", "theory/law.py"),
        "README.md",
    ]
    report.claims[0].file = "claims/conftest.py"  # a record may lie
    found = diff.changes(report, report, [*reversed(shown), "claims/test_sample.py"])
    assert [(change.kind, change.claim) for change in found] == [("changed file", n) for n in shown]


def test_an_older_record_that_declares_less_is_no_edit(report: Record) -> None:
    for claim in report.claims:
        claim.declared = {}
    assert diff.changes(report, sample.record()) == []


def test_a_comment_has_a_length_that_is_accepted(report: Record) -> None:
    found = diff.changes(report, report, [f"{'*' * 5000}{number}" for number in range(1000)])
    text = diff.markdown(found)
    assert len(text) < 65_536
    assert "changes more" in text


def test_the_committed_baseline_is_a_whole_standard_run_in_which_all_claims_pass() -> None:
    baseline = load(Path(__file__).parents[2] / "reports" / "baseline.json")
    assert baseline.suite.tier == "standard"
    left_out = [claim for claim in baseline.claims if claim.outcome != "passed"]
    assert Counter(claim.reason for claim in left_out) == {
        "the claim needs --device cuda, this run is on cpu": 1,
        "the claim has no cells in tier standard (only in full)": 4,
    }
    for entries in summary.statements(baseline).values():
        assert all(entry.claims for entry in entries)
