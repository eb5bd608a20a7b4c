"""Memories of Zipf's law: sums, limits and plain simulations."""

import math
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from scipy import integrate, stats

from recall_claims import Cell
from simulation.memory import zipf
from tests.unit.draws import generators
from theory.memory import zipf as theory


def test_few_tokens_in_a_large_space_leave_the_guessed_tail() -> None:
    p = theory.frequencies(20, 2.0)
    guessed = 0.8 * (1 - p.sum())
    assert theory.cutoff_error(2.0, 5, 1e6, 20) == pytest.approx(guessed, rel=1e-6)
    assert theory.power_error(2.0, 5, 1e9, 0.5, 20) == pytest.approx(guessed, rel=1e-3)
    assert theory.many_labels_error(2.0, 40, 2000, 20) == pytest.approx(1 - p.sum(), rel=1e-6)


@pytest.mark.parametrize("dim", [4, 6, 40])
def test_recall_is_the_integral_of_its_formula(dim: int) -> None:
    # Three labels and tokens: no token shares its label, so only cross terms disturb it.
    p = theory.frequencies(3, 2.0)
    own, rival = math.sqrt(1 / dim**2), math.sqrt(1 / dim + 1 / dim**2)
    right, _ = integrate.quad(
        lambda z: stats.norm.pdf(z) * stats.norm.cdf((1 + own * z) / rival) ** 2, -9, 9
    )
    expected = 1 - p.sum() * right - (1 - p.sum()) / 3
    assert theory.cutoff_error(2.0, 3, dim, 3) == pytest.approx(expected, abs=1e-6)


def test_more_samples_approach_unlimited_data() -> None:
    errors = [theory.cutoff_error(2.0, 5, 64, 15, samples) for samples in (10, 100, 1000, 10**6)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] == pytest.approx(theory.cutoff_error(2.0, 5, 64, 15), rel=1e-4)


def test_the_least_error_of_two_tokens_by_hand() -> None:
    # Frequencies 4/5 and 1/5; after three samples unseen with probabilities 1/125 and 64/125.
    expected = (1 - 1 / 6) * (4 / 5 / 125 + 1 / 5 * 64 / 125)
    assert theory.least_error(2.0, 6, 2, 3) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.0])
def test_unseen_mass_is_its_sum(alpha: float) -> None:
    p = theory.frequencies(10**6, alpha)
    tail = 1 - p.sum()
    for samples in (64, 1000):
        exact = float(p @ np.exp(samples * np.log1p(-p))) + tail
        assert theory.unseen_mass(alpha, samples) == pytest.approx(exact, rel=0.01)
        assert theory.UNSEEN.why_outside(Cell(alpha=alpha, samples=samples)) is None


def test_exponents_are_those_of_large_sizes() -> None:
    errors = [theory.power_error(2.0, 5, dim, 0.5, 4096) for dim in (1e3, 4e3)]
    slope = math.log(errors[1] / errors[0]) / math.log(4)
    assert slope == pytest.approx(theory.power_exponent(2.0, 0.5), abs=0.03)
    masses = [theory.unseen_mass(1.5, samples) for samples in (100, 1000)]
    assert math.log10(masses[1] / masses[0]) == pytest.approx(theory.samples_exponent(1.5))
    assert theory.cutoff_exponent(1.5) == -0.5


def test_frequencies_are_a_power_law_that_adds_up() -> None:
    p = zipf.frequencies(10**6, 2.0)
    assert p.sum() == pytest.approx(1, abs=1e-5)
    assert p[0] / p[4] == pytest.approx(25)


@pytest.mark.parametrize(
    ("count", "stored", "dim", "samples", "expected"),
    [
        (30, 20, 2000, None, lambda p: 0.8 * (1 - p.sum())),  # ample: the tail is guessed
        (400, 10, 64, 1, lambda p: 0.8 * (1 - (p**2).sum())),  # one token was seen
        (20, 3, 500, 220, lambda p: 0.8 * (1 - p.sum())),  # the first is seen about 134 > 127 times
    ],
)
def test_what_was_not_stored_is_guessed(
    count: int, stored: int, dim: int, samples: int | None, expected: Callable[[Any], float]
) -> None:
    errors = zipf.error(
        generators(count), stored=stored, labels=5, dim=dim, alpha=2.0, samples=samples
    )
    shown = zipf.frequencies(10**5 if samples == 1 else stored, 2.0)
    assert float(errors.mean()) == pytest.approx(expected(shown), abs=0.05 if samples else 0.002)


@pytest.mark.parametrize("more", [{}, {"samples": 60}, {"power": 0.5}])
def test_averages_have_the_same_mean_and_a_smaller_spread(more: dict[str, float]) -> None:
    """Errors are averaged over exchangeable tokens. With `fresh`, the error of each token is also
    averaged over fresh embeddings.
    """
    setting: dict[str, Any] = {"stored": 12, "labels": 3, "dim": 16, "alpha": 2.0} | more
    averaged = zipf.error(generators(400), **setting)
    fresh = zipf.error(generators(400, seed=23), **setting, fresh=32)
    with patch.object(zipf, "_averaged", lambda mass, weight, label: mass):
        plain = zipf.error(generators(400), **setting)
    difference = averaged - plain
    assert abs(float(difference.mean())) < 4 * float(difference.std()) / 400**0.5 + 1e-12
    assert float(averaged.std()) <= float(plain.std()) + 1e-12
    deviation = float(averaged.var() + fresh.var()) ** 0.5 / 400**0.5
    assert abs(float(fresh.mean() - averaged.mean())) < 4 * deviation
    assert float(fresh.std()) < 0.8 * float(averaged.std())
