"""The small graphics show an interval where it lies on its region."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_reports.plots.bars import bars, overshoot
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


def test_inside_region() -> None:
    [bar] = bars([_finding(1.0, [0.98, 1.02], [0.9, 1.1])])
    assert bar.region[0] < bar.bounds[0] < 50 < bar.bounds[1] < bar.region[1]
    assert bar.point == pytest.approx(50)
    assert bar.cut == (False, False)


def test_infinite_ends_are_arrows() -> None:
    [bar] = bars([_finding(None, [0.95, None], [0.9, None])])
    assert bar.bounded == (True, False)
    assert bar.region[1] == 100
    assert bar.cut == (False, True)
    assert bar.bounds[1] == 100
    assert bar.point is None
    [bar] = bars([_finding(1.0, [None, 1.05], [None, 1.1])])
    assert bar.bounded == (False, True)
    assert bar.region[0] == bar.bounds[0] == 0
    assert bar.cut == (True, False)


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
    low, middle, high = bars(
        [_finding(e, [e, e], [None, 1e-9]) for e in (1e-15, 1e-13, 1e-11)], log=True
    )
    assert low.point is not None
    assert middle.point is not None
    assert high.point is not None
    assert middle.point - low.point == pytest.approx(high.point - middle.point, abs=0.02)


@pytest.mark.parametrize(
    ("interval", "region", "value"),
    [
        ([0.98, 1.02], [0.9, 1.1], -0.8),
        ([0.98, 1.2], [0.9, 1.1], 1.0),
        ([None, 1.0], [0.9, 1.1], float("inf")),
        ([None, 0.5], [None, 1.0], -0.5),
        ([3.0, None], [2.0, None], -0.5),
        ([-1.0, 1.0], [None, None], -float("inf")),
    ],
)
def test_overshoot(interval: list[float | None], region: list[float | None], value: float) -> None:
    assert overshoot(_finding(None, interval, region)) == pytest.approx(value)
