"""What changed between two records; the kinds of changes are cases of `__snapshots__/`."""

from collections import Counter
from pathlib import Path

from recall_reports import summary
from recall_reports.compare import diff
from recall_reports.record import Record
from recall_reports.record.files import load
from tests.reports import builders, sample


def test_a_slower_processor_is_no_news(report: Record) -> None:
    new = sample.record()
    for index, claim in enumerate(new.claims):
        claim.seconds *= 2.2 * (1 + 0.1 * builders.wobble(index))
    assert diff.changes(report, new) == []
    new.claims[1].seconds *= 2
    [change] = diff.changes(report, new)
    assert (change.kind, change.claim) == ("slower", "A.trigger-signal")
    assert "the median claim takes 2." in change.note
    for record in (report, new):  # too few to tell a slow claim from a slow processor
        record.claims = record.claims[1:2]
    assert diff.changes(report, new) == []


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
