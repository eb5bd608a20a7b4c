"""Bounds for means are exact where they claim to be; data without variation give no t interval."""

from __future__ import annotations

import gc
import math
import sys
import tracemalloc
import warnings
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import recall_claims as rc
from recall_claims.judge import methods
from recall_claims.judge.methods import PARTS, STAKES, log_wealth, student_quantiles
from recall_claims.judge.rules import Sample
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import EVERYTHING, Interval

ALPHA = 1e-3 / 256
LOOKS = [16 * blocks for blocks in rc.CriticalLocation(rc.Region(0.9, 1.1)).looks_in_blocks(6)]


@pytest.mark.parametrize("mean", [0.01, 0.1, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("alpha", [0.05, ALPHA])
def test_betting_on_coins_errs_at_most_as_often_as_it_says_at_all_looks(
    mean: float, alpha: float
) -> None:
    """The test adds up probabilities over all looks, and over all numbers of ones at which the look
    rejects the true mean.

    Each term is the probability that this number of ones occurs and no earlier look has rejected.
    """
    alive, seen, rejected = np.ones(1), 0, 0.0
    for count in LOOKS:
        more, seen = count - seen, count
        alive = np.convolve(alive, stats.binom.pmf(np.arange(more + 1), more, mean))
        tosses = (np.repeat([1.0, 0.0], [ones, count - ones]) for ones in range(count + 1))
        wealths = [rc.Betting().log_wealths(each, mean)[0] for each in tosses]
        over = np.array(wealths) >= math.log(1 / alpha)
        rejected += float(alive[over].sum())
        alive[over] = 0.0
    assert 0 < rejected <= alpha


@given(st.integers(1, 60), st.integers(0, 60), st.floats(0.05, 0.95))
def test_wealth_is_an_average_over_stakes_of_products(wins: int, losses: int, mean: float) -> None:
    values = np.array([1.0] * wins + [0.0] * losses)
    above, below = rc.Betting().log_wealths(values, mean)
    for wealth, sign in ((above, 1), (below, -1)):
        edge = mean if sign == 1 else 1 - mean
        gains = (values if sign == 1 else 1 - values) / edge - 1
        products = np.prod(1 + STAKES[:, None] * gains, axis=1)
        assert math.exp(wealth) == pytest.approx(PARTS @ products, rel=1e-9)


def test_where_all_agree_a_quarter_of_the_wealth_doubles_with_each_coin() -> None:
    few, enough = (rc.Betting().log_wealths(np.ones(count), 0.5)[0] for count in (19, 20))
    assert few < math.log(1 / ALPHA) <= enough


@example([5e-324], 0.1)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(1e-6, 0.2))
def test_bounds_hold_the_mean_and_are_where_the_bets_win(values: list[float], alpha: float) -> None:
    data = np.array(values)
    found = rc.Betting().bounds(data, alpha)
    assert found.low - 1e-9 <= data.mean() <= found.high + 1e-9
    if found.low > 1e-9:
        assert rc.Betting().log_wealths(data, found.low)[0] >= math.log(1 / alpha) - 1e-9
        assert rc.Betting().log_wealths(data, found.low * (1 + 1e-4))[0] < math.log(1 / alpha)
    if found.high < 1 - 1e-9:
        # A small 1 - high has lost digits: at 1e-7 it is off by 1e-9 of itself, for each value.
        assert rc.Betting().log_wealths(data, found.high)[1] >= math.log(1 / alpha) - 1e-7


@settings(deadline=None)  # a table of a million bins for a few values
@given(st.integers(1, 9), st.integers(1, 1000), st.integers(0, 2**32), st.floats(1e-6, 0.2))
def test_many_values_are_bounded_as_few_are(
    shape: int, count: int, seed: int, alpha: float
) -> None:
    data = np.random.default_rng(seed).beta(shape / 5, 1, count)
    few = rc.Betting().bounds(data, alpha)
    with mock.patch.object(methods, "MANY", 8):
        many = rc.Betting().bounds(data[::-1], alpha)  # reversed, so that no kept result is used
    assert many.low == pytest.approx(few.low, rel=1.1e-6)
    assert 1 - many.high == pytest.approx(1 - few.high, rel=1.1e-6)
    for ends in (few, many):  # each lower end is on the rejected side
        above, _ = rc.Betting().log_wealths(data, ends.low or 1e-300)
        assert above >= math.log(1 / alpha) - 1e-9 or ends.low == 0


@settings(deadline=None)
@given(st.integers(0, 2**32), st.floats(0.01, 0.99))
def test_values_that_are_counted_together_never_earn_more(seed: int, mean: float) -> None:
    data = np.random.default_rng(seed).beta(0.3, 0.7, 300) * np.random.default_rng(seed).random()
    with mock.patch.object(methods, "MANY", 8):
        values, counts, spread = methods._grouped(data)
    together = log_wealth(values, mean, counts, spread)
    each = log_wealth(data, mean, np.ones(data.size))
    assert each - 1e-3 < together <= each + 1e-12 * (1 + abs(each))  # sums round


def test_two_million_values_take_logarithms_of_a_hundredth_and_are_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = mock.Mock(wraps=log_wealth)
    monkeypatch.setattr(methods, "log_wealth", counted)
    data = np.random.default_rng(3).random(2_000_000)
    tracemalloc.start()
    rc.Betting().bounds(data, ALPHA)
    sizes = [call.args[0].size for call in counted.call_args_list]
    counted.reset_mock()
    gc.collect()  # scipy's search leaves a cycle
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(sizes) < 20
    assert max(sizes) < data.size / 100
    assert kept < data.nbytes / 8
    assert peak < 6 * data.nbytes


def test_a_ladder_under_a_thousand_controls_is_bet_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data, counted = np.random.default_rng(5).random(100), mock.Mock(wraps=log_wealth)
    monkeypatch.setattr(methods, "log_wealth", counted)
    assert len({rc.Betting().log_wealths(data.copy(), 0.5) for _ in range(1000)}) == 1
    assert counted.call_count == 2


def test_a_range_is_only_a_scale() -> None:
    data = np.random.default_rng(0).beta(3, 2, 200)
    plain = rc.Betting().bounds(data, ALPHA)
    scaled = rc.Betting(-2.0, 6.0).bounds(8 * data - 2, ALPHA)
    assert scaled.low == pytest.approx(8 * plain.low - 2, abs=1e-4)
    assert scaled.high == pytest.approx(8 * plain.high - 2, abs=1e-4)


def test_an_observation_out_of_its_range_is_an_error() -> None:
    for values, told in (([0.5, 1.2], "0.5 and 1.2"), ([-0.2, 0.5], "-0.2 and 0.5")):
        with pytest.raises(ClaimError, match=rf"leaves the declared range .* between {told}\)"):
            rc.Betting().bounds(np.array(values), 0.05)
    with pytest.raises(ClaimError, match="leaves the declared range"):
        rc.Betting().bounds(np.array([0.5, math.nan]), 0.05)


def test_rounding_does_not_leave_a_range() -> None:
    cosine = np.array([0.5, 1.0, np.nextafter(np.float32(1), np.float32(2))] * 20, dtype=float)
    bet, one = rc.Betting(-1.0, 1.0), Sample(rc.Cell(dim=1), {"a": cosine, "b": cosine - 1.0})
    assert bet.bounds(cosine, 0.05) == bet.bounds(np.minimum(cosine, 1.0), 0.05)
    rules = [
        rc.MeanRatio(rc.Region(0.9, 1.1), "a", method=bet),
        rc.MeanDifference(rc.Region(0.9, 1.1), "a", by=(), method=bet),
        rc.OneSided(upper=2.0, observable="a", method=bet),
        rc.Ordering("b", "a", method=bet),
    ]
    for rule in rules:
        [part] = rule.components([one], lambda cell: 0.7, 0.05)
        assert math.isfinite(part.interval.low)
    tied = Sample(rc.Cell(dim=1), {"a": cosine, "b": -cosine})
    assert rc.WinnerShare(rc.Region(0.9, 1.0), bet).components([tied], lambda _: "a", 0.05)
    for off, told in ((1 + 1e-7, "1.0000001"), (1 + 1e-5, "1.00001")):  # no number of float32
        with pytest.raises(ClaimError, match=rf"between 0.1 and {told}\)"):
            bet.bounds(np.array([0.1, off]), 0.05)
    with pytest.raises(ClaimError, match=r"and 1.0000200"):
        bet.bounds(np.array([0.5, np.float32(1.00002)], dtype=float), 0.05)


def test_the_range_that_is_named_is_the_one_that_was_declared() -> None:
    """The message names the range of the observable, not of a ratio or a difference."""
    pair = {"value": np.array([1.0, 7.0]), "other": np.array([1.0, 2.0])}
    sample, bet = Sample(rc.Cell(dim=1), pair), rc.Betting(0.0, 5.0)
    ratio = rc.MeanRatio(rc.Region(0.9, 1.1), method=bet)
    ordering = rc.Ordering(smaller="other", larger="value", method=bet)
    for rule in (ratio, ordering):
        with pytest.raises(ClaimError, match=r"range \[0, 5\] \(all are between 1 and 7\)"):
            rule.components([sample], lambda cell: 2.0, 0.05)


def test_the_mean_of_observables_has_the_mean_of_their_ranges() -> None:
    maps = [lambda x: 2 * x, lambda x: -x]
    assert rc.Betting(0.0, 1.0).of_mean(maps) == rc.Betting(-0.5, 1.0)
    assert rc.Betting(0.0, 2.0).of_difference() == rc.Betting(-2.0, 2.0)


@pytest.mark.parametrize("values", [[1.0] * 32, [0.0] * 32, [3.0], [0.1 + 0.2, 0.3]])
def test_a_sample_without_variation_gives_no_t_interval(values: list[float]) -> None:
    assert rc.Student().bounds(np.array(values), 0.05) == EVERYTHING


def test_a_t_interval_says_nothing_of_a_value_that_outweighs_all_or_is_none() -> None:
    values = np.random.default_rng(5).normal(size=256)
    assert rc.Student().bounds(values, 0.05) != EVERYTHING
    for odd in (1e3, math.nan):
        assert rc.Student().bounds(np.append(values, odd), 0.05) == EVERYTHING


@given(
    st.integers(2, 300),
    st.integers(0, 2**32),
    st.sampled_from([(0.0, 1.0), (1.0, 1e-6), (-5.0, 1e9), (0.0, 1e-60)]),
)
def test_t_bounds_are_those_of_scipys_moments(
    count: int, seed: int, place: tuple[float, float]
) -> None:
    values = place[0] + place[1] * np.random.default_rng(seed).random(count) ** 3
    with warnings.catch_warnings(action="ignore"):  # scipy's, of cancellation
        error, skewness = stats.sem(values), stats.skew(values, bias=False) if count > 2 else 0.0
    below, above = student_quantiles(count, skewness, ALPHA / 2)
    found = rc.Student().bounds(values, ALPHA)
    rounding = 1e-12 * (abs(values.mean()) + above * error)  # libraries differ in the last digits
    assert found.low == pytest.approx(values.mean() - below * error, abs=rounding, rel=0)
    assert found.high == pytest.approx(values.mean() + above * error, abs=rounding, rel=0)


def test_t_bounds_take_no_detour() -> None:
    values, seen = np.random.default_rng(4).normal(size=64), list[str]()
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_name))
    rc.Student().bounds(values, ALPHA)
    sys.setprofile(None)
    assert len(seen) < 120  # calls and returns; scipy's wrappers make thousands


def test_t_quantiles_are_students_and_reach_further_on_the_side_of_the_tail() -> None:
    students = pytest.approx(stats.t(199).isf(1e-4))
    assert student_quantiles(200, 0.0, 1e-4) == (students, students)
    below, above = student_quantiles(200, 2.0, 1e-4)
    assert below == students
    assert above > 1.2 * below


def test_a_deterministic_interval_holds_every_value() -> None:
    assert rc.Deterministic().bounds(np.array([2.0, 1.0, 1.5]), 1e-9) == Interval(1.0, 2.0)
