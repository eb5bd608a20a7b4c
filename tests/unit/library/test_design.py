"""Design before run: its functions invert each other and agree with what a decision sees."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_claims import Cell, MeanRatio, Region
from recall_claims.errors import ClaimError
from recall_claims.judge.design import (
    detectable,
    factor_for,
    factor_to_decide,
    half_width,
    replicates_for,
)
from recall_claims.judge.region import EVERYTHING, Component, Interval, Verdict, judge
from recall_claims.judge.resolution import resolution
from recall_claims.judge.rules import Sample
from recall_claims.judge.rules.base import t_interval


@given(st.integers(2, 10_000), st.floats(1e-3, 1e3), st.floats(1e-8, 0.2))
def test_replicates_and_half_width_invert_each_other(n: int, sd: float, alpha: float) -> None:
    assert replicates_for(half_width(n, sd, alpha), sd, alpha) == n


def test_half_width_is_that_of_the_interval_used() -> None:
    values = np.random.default_rng(1).normal(size=50)
    interval = t_interval(values, 1e-5)
    expected = half_width(50, float(values.std(ddof=1)), 1e-5)
    assert (interval.high - interval.low) / 2 == pytest.approx(expected, rel=0.05)


def test_a_pilot_foretells_the_resolution_of_more_data() -> None:
    rng = np.random.default_rng(2)
    rule = MeanRatio(Region(0.95, 1.05))

    def look(n: int) -> tuple[Component, ...]:
        sample = Sample(Cell(a=1), {"value": rng.normal(1, 0.3, size=n)})
        return rule.components([sample], lambda cell: 1.0, 1e-6)

    foretold = detectable(look(4_000), 16)
    seen = resolution(look(64_000)).value
    assert seen is not None
    assert seen == pytest.approx(foretold, rel=0.15)
    factor = factor_for(look(4_000), 0.06)
    assert detectable(look(4_000), factor) == pytest.approx(0.06, rel=0.15)


def test_a_region_too_wide_for_the_wanted_resolution_is_said() -> None:
    wide = Component("c", 1.0, Interval(0.99, 1.01), Region(0.5, 1.5), "ratio")
    with pytest.raises(ClaimError, match="no amount of data"):
        factor_for([wide], 0.1)


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


def test_an_estimate_at_the_edge_is_never_decided() -> None:
    edge = Component("c", 1.05, Interval(0.9, 1.1), Region(0.95, 1.05), "ratio")
    with pytest.raises(ClaimError, match="no amount of data decides"):
        factor_to_decide([edge])


def test_a_pilot_that_knows_nothing_foretells_nothing() -> None:
    with pytest.raises(ClaimError, match="more replicates"):
        detectable([Component("c", math.nan, EVERYTHING, Region(0, 1), "ratio")], 4)


@pytest.mark.parametrize(("wanted", "match"), [(0.0, "positive"), (1e-9, "more than")])
def test_senseless_wishes_are_refused(wanted: float, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        replicates_for(wanted, 1.0, 0.05)
