"""The family-wise error rate of a run, divided among papers and their claims."""

import math
from dataclasses import replace

import pytest

from recall_claims.declare.papers import papers
from recall_claims.judge.budget import DEFAULT, Budget


def test_a_claim_owns_a_slot_of_its_papers_share() -> None:
    paper = replace(papers()["A"], share=0.4, slots=100)
    assert Budget(0.01).per_claim(paper) == pytest.approx(0.01 * 0.4 / 100)


def test_all_slots_of_all_papers_together_spend_no_more_than_the_budget() -> None:
    budget = Budget()
    spent = math.fsum(paper.slots * budget.per_claim(paper) for paper in papers().values())
    assert 0.8 * DEFAULT < spent <= DEFAULT


@pytest.mark.parametrize("value", [0.0, -1.0, 0.7, float("nan")])
def test_a_senseless_budget_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="error budget"):
        Budget(value)
