"""Design before run: what a pilot foretells agrees with what a decision sees."""

import math

import numpy as np
import pytest

from recall_claims import Cell, MeanRatio, Region
from recall_claims.errors import ClaimError
from recall_claims.judge.design import factor_to_decide
from recall_claims.judge.region import EVERYTHING, Component, Interval, Verdict, judge
from recall_claims.judge.rules import Sample


def test_a_pilot_foretells_how_much_data_decides() -> None:
    rng = np.random.default_rng(3)
    rule = MeanRatio(Region(0.95, 1.05))

    def look(n: int) -> tuple[Component, ...]:
        sample = Sample(Cell(a=1), {"value": rng.normal(1, 0.3, size=n)})
        return rule.components([sample], lambda cell: 1.0, 1e-6)

    needed = round(1_000 * factor_to_decide(look(1_000)))
    assert judge(look(2 * needed)) is Verdict.SUPPORTED
    assert judge(look(needed // 2)) is Verdict.INCONCLUSIVE
    refuted = Component("c", 1.2, Interval(1.0, 1.4), Region(0.95, 1.05), "ratio")
    assert factor_to_decide([refuted]) == pytest.approx((0.2 / 0.15) ** 2, rel=0.01)


@pytest.mark.parametrize(
    ("estimate", "interval", "match"),
    [
        (1.05, Interval(0.9, 1.1), "no amount of data decides"),
        (math.nan, EVERYTHING, "more replicates"),
    ],
    ids=["edge", "nothing-known"],
)
def test_a_pilot_that_foretells_nothing(estimate: float, interval: Interval, match: str) -> None:
    with pytest.raises(ClaimError, match=match):
        factor_to_decide([Component("c", estimate, interval, Region(0.95, 1.05), "ratio")])
