"""The formulas of designs with one look, against values by hand and by other ways."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import power_binom_tost

from recall_claims.judge.region import Region
from tests.benchmarks import fixed_n, planning

VALUES = np.array([0.1, 0.9, 0.4, 0.6])


def test_envelope_by_hand() -> None:
    # ln(2 / (2 / e^2)) = 2, and sqrt(2 / (2 * 100)) = 0.1.
    assert fixed_n.envelope(100, 2 * math.exp(-2)) == pytest.approx(0.1)


def test_hoeffding_by_hand() -> None:
    # ln 40 / (2 * 0.05^2) = 737.8; twice the width takes four times as many.
    assert fixed_n.hoeffding_samples(0.05, 1, 0.05) == 738
    assert fixed_n.hoeffding_samples(0.05, 2, 0.05) == 2952
    interval = fixed_n.hoeffding(np.array([0.0, 2.0]), 0, 2, 2 * math.exp(-1))
    assert (interval.low, interval.high) == pytest.approx((0, 2))


def test_dkwm_moves_the_outer_values_to_the_bounds() -> None:
    # A band of 0.25 moves one of four values: the largest to 0, or the smallest to 2.
    alpha = 2 * math.exp(-2 * 4 * 0.25**2)
    found = fixed_n.dkwm(VALUES, 0, 2, alpha)
    assert found.low == pytest.approx((0.0 + 0.1 + 0.4 + 0.6) / 4)
    assert found.high == pytest.approx((0.4 + 0.6 + 0.9 + 2.0) / 4)


def test_a_band_of_part_of_a_value_moves_that_part() -> None:
    found = fixed_n.means_within(np.sort(VALUES), 0, 2, 0.125)
    assert found.low == pytest.approx((0.1 + 0.4 + 0.6 + 0.45) / 4)
    assert found.high == pytest.approx((0.05 + 1.0 + 0.4 + 0.6 + 0.9) / 4)


def test_dkwm_without_data_to_speak_of_knows_only_the_bounds() -> None:
    found = fixed_n.means_within(np.sort(VALUES), 0, 2, 1.5)
    assert (found.low, found.high) == (0, 2)


def test_dkwm_is_within_hoeffding() -> None:
    values = np.random.default_rng(1000).beta(2, 5, 300)
    found, wider = (method(values, 0, 1, 0.01) for method in (fixed_n.dkwm, fixed_n.hoeffding))
    assert wider.low < found.low < values.mean() < found.high < wider.high


def test_dkwm_planned_by_hand() -> None:
    # Half of 0.2 for each error: ln(2 / 0.05) / (2 * 0.1^2) = 184.4 is the larger.
    assert fixed_n.dkwm_planned(0.2, 1, 0.05, 0.1) == 185
    assert fixed_n.dkwm_planned(0.2, 1, 0.1, 0.05) == 185


def test_clopper_pearson_by_its_definition() -> None:
    values = np.repeat([2.0, -1.0], [7, 13])
    found = fixed_n.clopper_pearson(values, -1, 2, 0.05)
    low, high = (found.low + 1) / 3, (found.high + 1) / 3
    assert stats.binom.sf(6, 20, low) == pytest.approx(0.025)
    assert stats.binom.cdf(7, 20, high) == pytest.approx(0.025)


@pytest.mark.parametrize("probability", [0.5, 0.9])
def test_binomial_power_by_all_outcomes(probability: float) -> None:
    region, alpha, samples = Region(0.1, 0.8), 0.4, 9
    expected = 0.0
    for tosses in product((0.0, 1.0), repeat=samples):
        found = fixed_n.clopper_pearson(np.array(tosses), 0, 1, alpha)
        right = found.inside(region) if probability < 0.8 else found.disjoint(region)
        expected += right * probability ** sum(tosses) * (1 - probability) ** tosses.count(0.0)
    assert 0 < expected < 1
    assert fixed_n.binomial_power(samples, probability, region, alpha) == pytest.approx(expected)


def test_binomial_power_is_that_of_two_one_sided_tests() -> None:
    found = fixed_n.binomial_power(900, 0.5, Region(0.4, 0.6), 0.01)
    assert found == pytest.approx(power_binom_tost(0.4, 0.6, 900, 0.5, alpha=0.005), rel=1e-6)


def test_fewest_is_the_first_with_the_power() -> None:
    assert planning.fewest(lambda count: 1 - 1 / count) == 10
    assert planning.fewest(lambda _: 1) == 2
    with pytest.raises(ValueError, match="no power"):
        planning.fewest(lambda _: math.nan)
