"""What changed between two records."""

import copy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from recall_reports import diff, summary
from recall_reports.diff import Change
from recall_reports.files import load
from recall_reports.record import Claim, Range, Record
from tests.reports import builders

CLAIM = "A.trigger-signal"
Edit = Callable[[Claim], object]


def edited(report: Record, edit: Edit, *, seed: int = 0, tier: str = "standard") -> Record:
    """A copy of the record with one claim changed, of a run with this seed and tier."""
    new = copy.deepcopy(report)
    new.suite.seed, new.suite.tier = seed, tier
    [claim] = [claim for claim in new.claims if claim.id == CLAIM]
    edit(claim)
    return new


def move(claim: Claim, share: float) -> None:
    """Move the first component by a share of its interval's width."""
    component = claim.components[0]
    estimate, low, high = component.estimate, component.interval.low, component.interval.high
    assert estimate is not None
    assert low is not None
    assert high is not None
    step = share * (high - low)
    component.estimate, component.interval = estimate + step, Range(low + step, high + step)


def verdict(word: Literal["REFUTED", "INCONCLUSIVE"]) -> Edit:
    def edit(claim: Claim) -> None:
        claim.verdict, claim.outcome = word, "failed"

    return edit


def leave_out(claim: Claim) -> None:
    claim.state, claim.verdict, claim.outcome = "NOT RUN", None, "skipped"


def kinds(found: list[Change]) -> list[str]:
    return [change.kind for change in found]


def test_equal_records_have_no_changes(report: Record) -> None:
    assert diff.changes(report, copy.deepcopy(report)) == []


@pytest.mark.parametrize("word", ["REFUTED", "INCONCLUSIVE"])
def test_lost_and_gained_verdicts(report: Record, word: Literal["REFUTED", "INCONCLUSIVE"]) -> None:
    worse = edited(report, verdict(word))
    assert kinds(diff.changes(report, worse)) == ["lost"]
    assert diff.lost(diff.changes(report, worse))
    assert kinds(diff.changes(worse, report)) == ["gained"]
    assert not diff.lost(diff.changes(worse, report))


def test_claim_that_is_gone_is_lost(report: Record) -> None:
    new = copy.deepcopy(report)
    new.claims = [claim for claim in new.claims if claim.id != CLAIM]
    found = diff.changes(report, new)
    assert kinds(found) == ["gone"]
    assert diff.lost(found)
    assert kinds(diff.changes(new, report)) == ["new"]


def test_claim_left_out_is_lost_in_the_same_tier_only(report: Record) -> None:
    assert diff.lost(diff.changes(report, edited(report, leave_out)))
    assert diff.changes(report, edited(report, leave_out, tier="smoke")) == []


def test_small_move_is_chance_under_another_seed_only(report: Record) -> None:
    def small(claim: Claim) -> None:
        move(claim, 0.3)

    assert diff.changes(report, edited(report, small, seed=1)) == []
    [change] = diff.changes(report, edited(report, small))
    assert change.kind == "moved"
    assert "same seed, so not chance" in change.note


@pytest.mark.parametrize("share", [1e-7, 4e-5])
def test_rounding_is_no_move(report: Record, share: float) -> None:
    report.suite.commit = "abcdef0123"
    new = edited(report, lambda claim: move(claim, share))
    new.suite.commit = "0123abcdef"
    assert diff.changes(report, new) == []
    assert kinds(diff.changes(report, edited(new, lambda claim: move(claim, 1e-3)))) == ["moved"]


def test_an_identity_is_as_exact_as_it_was(report: Record) -> None:
    def violated(size: float) -> Edit:
        def edit(claim: Claim) -> None:
            claim.rule.scale = "error"
            [part] = claim.components = claim.components[:1]
            part.estimate, part.interval = size, Range(size, size)
            part.region, part.one_sided = Range(None, 1e-12), Range(size, size)

        return edit

    was = edited(report, violated(8.7e-16))
    assert diff.changes(was, edited(report, violated(1.0e-15))) == []
    [change] = diff.changes(was, edited(report, violated(3e-14)))
    assert (change.kind, change.old, change.new) == ("moved", "8.7e-16", "3e-14")


def test_training_amplifies_rounding_where_nothing_else_differs(report: Record) -> None:
    new = edited(report, lambda claim: move(claim, 0.04))
    assert diff.changes(report, new) == []
    assert kinds(diff.changes(report, edited(new, lambda claim: move(claim, 0.04)))) == ["moved"]
    new.suite.versions["torch"] = "9.9"
    assert kinds(diff.changes(report, new)) == ["moved"]
    new.suite.versions = report.suite.versions
    new.suite.commit = report.suite.commit = "0123456789+"
    assert kinds(diff.changes(report, new)) == ["moved"]


def test_a_slower_processor_is_no_news(report: Record) -> None:
    new = copy.deepcopy(report)
    for index, claim in enumerate(new.claims):
        claim.seconds *= 2.2 * (1 + 0.1 * builders.wobble(index))
    assert diff.changes(report, new) == []

    def slow(claim: Claim) -> None:
        claim.seconds *= 2

    [change] = diff.changes(report, edited(new, slow))
    assert (change.kind, change.claim) == ("slower", CLAIM)
    assert "the median claim takes 2." in change.note
    for record in (report, new):  # too few to tell a slow claim from a slow processor
        record.claims = [claim for claim in record.claims if claim.id == CLAIM]
    assert diff.changes(report, edited(new, slow)) == []


def test_large_move_is_beyond_chance_under_any_seed(report: Record) -> None:
    new = edited(report, lambda claim: move(claim, 1.1), seed=1)
    [change] = diff.changes(report, new)
    assert change.kind == "moved"
    assert "beyond chance" in change.note
    assert not diff.lost([change])


def test_coarser_and_slower(report: Record) -> None:
    def worse(claim: Claim) -> None:
        claim.resolution = 0.08
        claim.seconds = 2 * claim.seconds + 10

    assert kinds(diff.changes(report, edited(report, worse))) == ["coarser", "slower"]
    assert diff.changes(report, edited(report, worse, tier="full")) == []


def test_markdown_cannot_be_broken_by_a_reason(report: Record) -> None:
    def broken(claim: Claim) -> None:
        claim.state, claim.verdict, claim.outcome = "ERROR", None, "failed"
        claim.reason = "a | b"

    new = edited(report, broken)
    [row] = [
        line
        for line in diff.markdown(diff.changes(report, new)).splitlines()
        if "lost" in line and line.startswith("| lost")
    ]
    assert row.replace("\\|", "").count("|") == 6


def test_a_claim_with_another_registration_was_declared_anew(report: Record) -> None:
    def anew(claim: Claim) -> None:
        claim.registration = "fedcba9876543210"
        move(claim, 0.3)

    [change] = diff.changes(report, edited(report, anew))
    assert (change.kind, change.old, change.new) == (
        "anew",
        "0123456789abcdef",
        "fedcba9876543210",
    )
    assert not diff.lost([change])
    assert diff.changes(report, edited(report, anew, tier="full")) == []

    def far(claim: Claim) -> None:
        anew(claim)
        move(claim, 1.1)

    found = diff.changes(report, edited(report, far))
    assert kinds(found) == ["anew", "moved"]
    assert "beyond chance" in found[1].note


def test_a_claim_that_is_only_explored_has_lost_its_verdict(report: Record) -> None:
    def explored(claim: Claim) -> None:
        claim.state, claim.verdict, claim.outcome = "EXPLORED", None, "skipped"
        claim.reason = "the evidence was drawn before this declaration was fixed"

    found = diff.changes(report, edited(report, explored))
    assert kinds(found) == ["lost"]
    assert found[0].new == "~ EXPLORED"


def test_committed_baseline_is_a_whole_standard_run_in_which_all_claims_pass() -> None:
    baseline = load(Path(__file__).parents[2] / "reports" / "baseline.json")
    assert baseline.suite.tier == "standard"
    left_out = [claim for claim in baseline.claims if claim.outcome != "passed"]
    assert Counter(claim.reason for claim in left_out) == {
        "the claim needs --device cuda, this run is on cpu": 1,
        "the claim has no cells in tier standard (only in full)": 3,
    }
    for entries in summary.statements(baseline).values():
        assert all(entry.claims for entry in entries)
