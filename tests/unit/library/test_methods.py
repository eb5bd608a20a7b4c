"""Bounds for means: exact where they say so, and never from data that tell nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_claims import Betting, Deterministic, Interval, Student
from recall_claims.errors import ClaimError
from recall_claims.judge.methods import STAKES
from recall_claims.judge.region import EVERYTHING
from tests.calibration.enumeration import rejection

ALPHA = 1e-3 / 256
LOOKS = [16 * blocks for blocks in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 32)]


@pytest.mark.parametrize("mean", [0.01, 0.1, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("alpha", [0.05, ALPHA])
def test_betting_on_coins_errs_at_most_as_often_as_it_says_at_all_looks(
    mean: float, alpha: float
) -> None:
    assert 0 < rejection(mean, mean, alpha, LOOKS) <= alpha


def test_a_coin_below_the_mean_is_rejected_even_less_often() -> None:
    assert rejection(0.4, 0.5, 0.05, LOOKS) < rejection(0.5, 0.5, 0.05, LOOKS)


def test_betting_finds_what_is_true() -> None:
    assert rejection(0.7, 0.5, ALPHA, LOOKS) > 0.999


@given(st.integers(1, 60), st.integers(0, 60), st.floats(0.05, 0.95))
def test_wealth_is_an_average_over_stakes_of_products(wins: int, losses: int, mean: float) -> None:
    values = np.array([1.0] * wins + [0.0] * losses)
    above, below = Betting().log_wealths(values, mean)
    for wealth, sign in ((above, 1), (below, -1)):
        edge = mean if sign == 1 else 1 - mean
        gains = (values if sign == 1 else 1 - values) / edge - 1
        products = np.prod(1 + STAKES[:, None] * gains, axis=1)
        assert math.exp(wealth) == pytest.approx(products.mean(), rel=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(1e-6, 0.2))
def test_bounds_hold_the_mean_and_are_where_the_bets_win(values: list[float], alpha: float) -> None:
    data = np.array(values)
    found = Betting().bounds(data, alpha)
    assert found.low - 1e-9 <= data.mean() <= found.high + 1e-9
    if found.low > 1e-9:
        assert Betting().log_wealths(data, found.low)[0] >= math.log(1 / alpha) - 1e-9
        assert Betting().log_wealths(data, found.low * (1 + 1e-4))[0] < math.log(1 / alpha)
    if found.high < 1 - 1e-9:
        # 1 - high has lost digits where it is small: at 1e-7, 1e-9 of it, 40 times over.
        assert Betting().log_wealths(data, found.high)[1] >= math.log(1 / alpha) - 1e-7


@given(st.permutations([0.0, 0.1, 0.4, 0.9, 1.0, 1.0, 0.7]))
def test_the_order_of_the_data_is_nothing_to_betting(values: list[float]) -> None:
    assert Betting().bounds(np.array(values), 0.05) == Betting().bounds(np.sort(values), 0.05)


def test_a_range_is_only_a_scale() -> None:
    data = np.random.default_rng(0).beta(3, 2, 200)
    plain = Betting().bounds(data, ALPHA)
    scaled = Betting(-2.0, 6.0).bounds(8 * data - 2, ALPHA)
    assert scaled.low == pytest.approx(8 * plain.low - 2, abs=1e-4)
    assert scaled.high == pytest.approx(8 * plain.high - 2, abs=1e-4)


def test_no_exact_method_decides_before_its_price_is_paid() -> None:
    # 32 ones: whoever excludes a mean m at level alpha needs m^32 <= alpha.
    assert Betting().bounds(np.ones(32), ALPHA).low <= ALPHA ** (1 / 32)
    assert Betting().bounds(np.zeros(32), ALPHA).high >= 1 - ALPHA ** (1 / 32)


def test_an_observation_out_of_its_range_is_an_error() -> None:
    with pytest.raises(ClaimError, match="leaves the declared range"):
        Betting().bounds(np.array([0.5, 1.2]), 0.05)
    with pytest.raises(ClaimError, match="leaves the declared range"):
        Betting().bounds(np.array([0.5, math.nan]), 0.05)
    with pytest.raises(ClaimError, match="two finite ends"):
        Betting(0.0, math.inf)


def test_the_mean_of_observables_has_the_mean_of_their_ranges() -> None:
    maps = [lambda x: 2 * x, lambda x: -x]
    assert Betting(0.0, 1.0).of_mean(maps) == Betting(-0.5, 1.0)
    assert Betting(0.0, 2.0).of_difference() == Betting(-2.0, 2.0)


@pytest.mark.parametrize("values", [[1.0] * 32, [0.0] * 32, [3.0], [0.1 + 0.2, 0.3]])
def test_a_sample_without_variation_gives_no_t_interval(values: list[float]) -> None:
    assert Student().bounds(np.array(values), 0.05) == EVERYTHING


def test_t_bounds_run_at_half_their_level() -> None:
    values = np.random.default_rng(1).normal(size=4000)
    found = Student().bounds(values, 0.01)
    error = values.std(ddof=1) / math.sqrt(values.size)
    # 2.807 is the normal quantile of 0.005 / 2: each end misses with at most 0.0025.
    assert found.high - values.mean() >= 2.57 * error
    assert found.high - values.mean() <= 2.9 * error


def test_t_bounds_reach_further_on_the_side_of_the_tail() -> None:
    values = np.random.default_rng(2).lognormal(0, 0.7, 200)
    found = Student().bounds(values, ALPHA)
    assert found.high - values.mean() > 1.2 * (values.mean() - found.low)


def test_a_deterministic_interval_holds_every_value() -> None:
    assert Deterministic().bounds(np.array([2.0, 1.0, 1.5]), 1e-9) == Interval(1.0, 2.0)
