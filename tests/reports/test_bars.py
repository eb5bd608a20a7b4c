"""The small graphics show an interval where it lies on its region."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_reports.plots.bars import bars
from recall_reports.record import Component, Range
from recall_reports.values import Verdict

NUMBER = st.floats(-100, 100)


def _finding(
    estimate: float | None, interval: list[float | None], region: list[float | None]
) -> Component:
    return Component(
        name="value",
        estimate=estimate,
        interval=Range(*interval),
        one_sided=Range(*interval),
        region=Range(*region),
        verdict=Verdict.INCONCLUSIVE,
    )


@given(st.tuples(NUMBER, NUMBER).map(sorted), st.tuples(NUMBER, NUMBER).map(sorted))
def test_order_on_the_bar_is_order_of_the_numbers(
    region: list[float | None], interval: list[float | None]
) -> None:
    [bar] = bars([_finding(interval[0], interval, region)])
    positions = {(value, place) for value, place in zip(region, bar.region, strict=True)}
    positions |= {(value, place) for value, place in zip(interval, bar.bounds, strict=True)}
    ordered = sorted(positions)
    places = [place for _, place in ordered]
    assert all(0 <= place <= 100 for place in places)
    assert places == sorted(places)


def test_open_ends_are_at_the_edge_of_the_row() -> None:
    right, left = bars(
        [_finding(None, [0.95, None], [0.9, None]), _finding(1.0, [None, 1.05], [None, 1.1])]
    )
    assert (right.bounded, right.cut, right.point) == ((True, False), (False, True), None)
    assert (left.bounded, left.cut) == ((False, True), (True, False))
    assert (right.region[1], right.bounds[1], left.region[0], left.bounds[0]) == (100, 100, 0, 0)


def test_far_interval_is_cut_not_squeezed() -> None:
    [bar] = bars([_finding(1e6, [1e6, 1e6 + 1], [0.9, 1.1])])
    assert bar.cut == (False, True)
    assert list(bar.bounds) == [100, 100]
    assert bar.region[1] - bar.region[0] > 1


def test_same_region_same_scale() -> None:
    near, far, other = bars(
        [
            _finding(1.0, [0.98, 1.02], [0.9, 1.1]),
            _finding(1.5, [1.4, 1.6], [0.9, 1.1]),
            _finding(2.0, [1.9, 2.1], [1.5, 2.5]),
        ]
    )
    assert near.region == far.region != other.region
    assert near.bounds[1] < far.bounds[0]


def test_errors_are_on_a_logarithmic_scale() -> None:
    sizes = (1e-15, 1e-13, 1e-11)
    low, middle, high = (
        bar.point or 0.0
        for bar in bars([_finding(e, [e, e], [None, 1e-9]) for e in sizes], log=True)
    )
    assert 0 < middle - low == pytest.approx(high - middle, abs=0.02)
