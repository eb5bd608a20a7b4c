"""theory.memory.zipf against sums, limits and a plain simulation."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from recall_claims import Cell
from theory.memory import zipf


def test_few_tokens_in_a_large_space_leave_the_guessed_tail() -> None:
    p = zipf.frequencies(20, 2.0)
    guessed = 0.8 * (1 - p.sum())
    assert zipf.cutoff_error(2.0, 5, 1e6, 20) == pytest.approx(guessed, rel=1e-6)
    assert zipf.power_error(2.0, 5, 1e9, 0.5, 20) == pytest.approx(guessed, rel=1e-3)
    assert zipf.many_labels_error(2.0, 40, 2000, 20) == pytest.approx(1 - p.sum(), rel=1e-6)


def test_two_labels_have_the_error_of_one_difference() -> None:
    # Two labels with two tokens each: the difference of their scores has variance 3/d.
    p = zipf.frequencies(4, 2.0)
    right = stats.norm.cdf(1 / math.sqrt(3 / 50))
    expected = 1 - p.sum() * right - (1 - p.sum()) / 2
    assert zipf.cutoff_error(2.0, 2, 50, 4) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("dim", [4, 6, 40])
def test_recall_is_the_integral_of_its_formula(dim: int) -> None:
    # Three labels, three tokens: token x has nothing else under its label, and cross terms alone.
    p = zipf.frequencies(3, 2.0)
    own, rival = math.sqrt(1 / dim**2), math.sqrt(1 / dim + 1 / dim**2)
    right, _ = integrate.quad(
        lambda z: stats.norm.pdf(z) * stats.norm.cdf((1 + own * z) / rival) ** 2, -9, 9
    )
    expected = 1 - p.sum() * right - (1 - p.sum()) / 3
    assert zipf.cutoff_error(2.0, 3, dim, 3) == pytest.approx(expected, abs=1e-6)


def test_more_samples_approach_unlimited_data() -> None:
    errors = [zipf.cutoff_error(2.0, 5, 64, 15, samples) for samples in (10, 100, 1000, 10**6)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] == pytest.approx(zipf.cutoff_error(2.0, 5, 64, 15), rel=1e-4)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.0])
def test_unseen_mass_is_its_sum(alpha: float) -> None:
    p = zipf.frequencies(10**6, alpha)
    tail = 1 - p.sum()
    for samples in (64, 1000):
        exact = float(p @ np.exp(samples * np.log1p(-p))) + tail
        assert zipf.unseen_mass(alpha, samples) == pytest.approx(exact, rel=0.01)
        assert zipf.UNSEEN.why_outside(Cell(alpha=alpha, samples=samples)) is None


def test_exponents_are_those_of_large_sizes() -> None:
    errors = [zipf.power_error(2.0, 5, dim, 0.5, 4096) for dim in (1e3, 4e3)]
    slope = math.log(errors[1] / errors[0]) / math.log(4)
    assert slope == pytest.approx(zipf.power_exponent(2.0, 0.5), abs=0.03)
    masses = [zipf.unseen_mass(1.5, samples) for samples in (100, 1000)]
    assert math.log10(masses[1] / masses[0]) == pytest.approx(zipf.samples_exponent(1.5))
    assert zipf.cutoff_exponent(1.5) == -0.5
