"""Verdicts as relations of intervals and regions, and resolution."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_claims import Cell, MeanRatio
from recall_claims.judge.rules import Sample
from recall_claims.model.region import (
    Component,
    Interval,
    Region,
    Scale,
    Verdict,
    headline,
    judge,
    resolution,
)


def component(
    low: float, high: float, region: tuple[float, float] = (0.9, 1.1), scale: Scale = "ratio"
) -> Component:
    return Component("c", (low + high) / 2, Interval(low, high), Region(*region), scale)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.95, 1.05, Verdict.SUPPORTED),
        (0.9, 1.1, Verdict.SUPPORTED),
        (0.85, 1.05, Verdict.INCONCLUSIVE),
        (0.5, 1.5, Verdict.INCONCLUSIVE),
        (1.1, 1.2, Verdict.INCONCLUSIVE),
        (1.11, 1.2, Verdict.REFUTED),
        (0.1, 0.89, Verdict.REFUTED),
        (-math.inf, math.inf, Verdict.INCONCLUSIVE),
    ],
)
def test_verdict_of_one_component(low: float, high: float, verdict: Verdict) -> None:
    assert component(low, high).verdict is verdict


def test_a_refuting_component_speaks_for_all_even_if_another_knows_nothing() -> None:
    good, ignorant, bad = component(0.95, 1.05), component(-math.inf, math.inf), component(2, 3)
    assert headline([good, ignorant, bad]) == bad
    assert headline([good, ignorant]) == ignorant
    assert resolution([ignorant]) is None


@pytest.mark.parametrize(
    ("ends", "region", "reach"),
    [
        ((0.98, 1.02), (0.9, 1.1), -0.4),
        ((0.98, 1.2), (0.9, 1.1), 0.5),
        ((1.2, 0.98), (0.9, 1.1), -0.6),
        ((1.3, 1.2), (0.9, 1.1), 0.5),
        ((-math.inf, 1.0), (0.9, 1.1), math.inf),
        ((-math.inf, 0.5), (-math.inf, 1.0), -0.5),
        ((3.0, math.inf), (2.0, math.inf), -1.0),
        ((math.nan, math.nan), (0.9, 1.1), -math.inf),
    ],
)
def test_the_distance_from_a_region(
    ends: tuple[float, float], region: tuple[float, float], reach: float
) -> None:
    assert Region(*region).distance(*ends) == pytest.approx(reach)


@pytest.mark.parametrize("scale", ["ratio", "difference"])
@given(st.floats(0.96, 0.99), st.floats(1.01, 1.04))
def test_resolution_is_the_smallest_shift_that_refutes(
    scale: Scale, low: float, high: float
) -> None:
    data = replace(component(low, high, scale=scale), estimate=1.0)
    if scale == "difference":  # its region may be around 1 as well
        assert not data.region.low <= 0 <= data.region.high
    value = resolution([data])
    assert value is not None

    def refuted(error: float) -> bool:
        """Check whether the data refute a theory that is wrong by `error`, both up and down."""
        by, add = (0, error) if scale == "difference" else (error, 0)
        both = [((1 + by * sign), add * sign) for sign in (1, -1)]
        shifted = [component(low / b - a, high / b - a, scale=scale) for b, a in both]
        return {c.verdict for c in shifted} == {Verdict.REFUTED}

    assert refuted(value * 1.001)
    assert not refuted(value * 0.999)


@pytest.mark.parametrize(
    ("region", "error"), [((0.5, math.inf), 7.0), ((8.0, math.inf), 0.0), ((-math.inf, 5.0), 0.8)]
)
def test_resolution_of_a_ratio_with_one_edge(region: tuple[float, float], error: float) -> None:
    assert resolution([component(1.0, 4.0, region)]) == pytest.approx(error)


@given(st.floats(0.9, 1.1))
def test_resolution_depends_on_widths_and_not_on_where_the_data_lie(by: float) -> None:
    here, there = component(0.98, 1.02), component(0.98 * by, 1.02 * by)
    assert resolution([there]) == pytest.approx(resolution([here]))


def test_a_common_error_is_seen_by_the_sharpest_and_of_exponents_the_bluntest_counts() -> None:
    sharp, blunt = component(0.99, 1.01), component(0.7, 1.4)
    assert resolution([sharp, blunt]) == resolution([sharp])
    sharp = component(1.98, 2.02, (1.95, 2.05), "exponent")
    blunt = component(0.9, 1.1, (0.8, 1.2), "exponent")
    assert resolution([sharp, blunt]) == resolution([blunt]) == pytest.approx(0.3)


def test_support_is_by_the_single_bounds_and_refutation_by_the_simultaneous_interval() -> None:
    wide, narrow = Interval(1.05, 1.3), Interval(1.12, 1.2)
    found = Component("c", 1.15, wide, Region(0.9, 1.1), "ratio", one_sided=narrow)
    assert found.verdict is Verdict.INCONCLUSIVE  # its bounds are outside, its interval is not
    inside = Component(
        "c", 1.0, Interval(0.8, 1.2), Region(0.9, 1.1), "ratio", one_sided=Interval(0.95, 1.05)
    )
    assert inside.verdict is Verdict.SUPPORTED


def test_an_end_within_rounding_of_an_edge_is_not_beyond_it() -> None:
    for edge in (0.9, 1.1):
        on = [edge, np.nextafter(edge, 0), np.nextafter(edge, 2), edge * (1 + 5e-13)]
        for end in on:
            assert component(end, end).verdict is Verdict.SUPPORTED
    for far in (1e-11, 1e-3):
        assert component(1.1, 1.1 * (1 + far)).verdict is Verdict.INCONCLUSIVE
        assert component(1.1 * (1 + far), 1.2).verdict is Verdict.REFUTED
        assert component(0.8, 0.9 * (1 - far)).verdict is Verdict.REFUTED
    half = Component("c", 1.0, Interval(-1e-6, 1e9), Region(0.0, math.inf), "ratio")
    assert half.verdict is Verdict.INCONCLUSIVE


def test_resolution_is_told_from_what_refutes() -> None:
    """If all means equal their predictions, a theory off by more than the resolution is refuted."""
    rng, rule = np.random.default_rng(0), MeanRatio(Region(0.9, 1.1))
    noise = [rng.normal(0, 0.3, 400) for _ in range(40)]
    evidence = [
        Sample(Cell(dim=dim), {"value": 1 + values - values.mean()})
        for dim, values in enumerate(noise, start=2)
    ]
    told = resolution(rule.components(evidence, lambda cell: 1.0, 1e-6))
    assert told is not None

    def verdict(error: float) -> Verdict:
        return judge(rule.components(evidence, lambda cell: 1 + error, 1e-6))

    assert verdict(1.001 * told) is Verdict.REFUTED
    assert verdict(0.999 * told) is not Verdict.REFUTED
