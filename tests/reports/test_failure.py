"""Why a claim failed, for every kind of claim; `tests/faults` has whole runs."""

import pytest

from recall_reports import failure, phrases
from recall_reports.record import Claim, Range
from tests.reports import sample

FAILED = [c for c in sample.record().claims if c.outcome == "failed" and c.state == "DECIDED"]
ORDER = ["theorem", "data", "off by", "error", "controls", "replay"]


def lines(claim: Claim) -> dict[str, str]:
    """The message's lines by what they are about."""
    head, *rest = failure.message(claim, share=4e-6, budget=1e-3).splitlines()
    assert head.startswith(f"{claim.verdict} (expected {claim.expected}")
    return {line[2:11].strip(): line[12:] for line in rest}


@pytest.mark.parametrize("claim", FAILED, ids=lambda claim: claim.id)
def test_each_line_says_its_part(claim: Claim) -> None:
    told = lines(claim)
    assert list(told) == ORDER
    assert all(told.values())
    assert claim.title in told["theorem"]
    assert phrases.region(claim.head) in told["theorem"]
    assert told["data"].startswith(phrases.finding(claim.head))
    assert "4e-6, its share of the error budget 0.001" in told["error"]
    for control in claim.controls:
        stands = control.verdict != "REFUTED"
        assert control.id in told["controls"]
        assert (f"{control.id} {phrases.finding(control)}" in told["controls"]) == stands
    assert told["replay"] == claim.replay


def test_a_claim_that_a_control_leaves_undecided_is_off_by_nothing() -> None:
    told = lines(sample.lower_bound())
    assert told["off by"] == "nothing: the bounds lie inside the region."
    assert told["controls"].startswith("not refuted: no-trigger ")


def test_the_distance_is_that_of_the_interval_to_the_edge() -> None:
    claim = sample.orthonormal()
    head = claim.head
    assert head is not None
    head.estimate, head.interval, head.region = 1.34, Range(1.26, 1.42), Range(0.95, 1.05)
    assert lines(claim)["off by"] == (
        "at least 21.00% of the prediction beyond the upper edge "
        "(the estimate is 29.00% of the prediction beyond)."
    )
    head.interval, head.estimate, head.region = Range(None, 1.26), None, Range(1.5, None)
    assert lines(claim)["off by"] == "at least 24.00% of the prediction beyond the lower edge."


def test_bounds_that_say_nothing() -> None:
    claim = sample.noise_share()
    head = claim.head
    assert head is not None
    head.one_sided = Range(None, 1.113)
    said = lines(claim)["off by"]
    assert said.startswith("the data give no bound beyond the lower edge, bounds reach 1.30% of")


def test_an_identity_has_no_sampling_error() -> None:
    claim = sample.orthonormal()
    claim.rule.scale = "error"
    assert lines(claim)["error"].startswith("none from sampling")


def test_exact_rules_draws_and_certificates_are_told() -> None:
    claim = sample.orthonormal()
    claim.rule.exact, claim.draws, claim.certificate = True, 3, 2e-6
    told = lines(claim)["error"]
    assert "with probability at most 4e-6" in told
    assert "of 3 in this ledger" in told
    assert "at most 2e-6, exact" in told
    claim.rule.exact = False
    assert "nominally 4e-6" in lines(claim)["error"]


def test_the_explanation_of_what_should_be_refuted_is_repeated() -> None:
    claim = sample.all_tokens()
    claim.expected, claim.explanation, claim.outcome = "REFUTED", "it is a guess", "failed"
    told = failure.message(claim, 4e-6, 1e-3)
    assert told.startswith("SUPPORTED (expected REFUTED: it is a guess)\n")
