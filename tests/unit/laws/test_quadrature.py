"""theory/laws/quadrature.py: moments of the laws, by scipy.stats where it has them."""

import numpy as np
import pytest
from scipy import stats

from theory.laws import quadrature


def test_normal_and_binomial_have_their_moments() -> None:
    nodes, weights = quadrature.normal(9)
    assert [weights @ nodes**k for k in (0, 2, 4, 6)] == pytest.approx([1, 1, 3, 15])
    nodes, weights = quadrature.binomial(50, 0.2, 6)
    expected = [stats.binom(50, 0.2).moment(k) for k in range(1, 9)]
    assert [weights @ nodes**k for k in range(1, 9)] == pytest.approx(expected)


def test_few_trials_are_counted_one_by_one() -> None:
    nodes, weights = quadrature.binomial(3, 0.4, 20)
    assert nodes == pytest.approx(np.arange(4), abs=1e-12)
    assert weights == pytest.approx(stats.binom.pmf(np.arange(4), 3, 0.4))


@pytest.mark.parametrize(("a", "b"), [(3.0, 5.0), (0.5, 31.5), (20.0, 0.5)])
def test_beta_has_its_moments(a: float, b: float) -> None:
    nodes, weights = quadrature.beta(a, b, 6)
    expected = np.cumprod([(a + k) / (a + b + k) for k in range(11)])
    assert [weights @ nodes**k for k in range(1, 12)] == pytest.approx(expected)


def test_gamma_has_its_mean_and_variance() -> None:
    nodes, weights = quadrature.gamma(0.09, 9)
    mean = float(weights @ nodes)
    assert mean == pytest.approx(1, abs=1e-3)
    assert float(weights @ (nodes - mean) ** 2) == pytest.approx(0.09, rel=0.02)
    assert quadrature.gamma(0.0, 9) == (np.ones(1), np.ones(1))


def test_poisson_is_that_of_scipy() -> None:
    assert quadrature.poisson(0.0).tolist() == [1.0]
    for mean in (1e-6, 0.3, 3.5, 40.0, 1234.5):
        counts = np.arange(int(stats.poisson.isf(1e-8, mean)) + 1)
        chances = stats.poisson.pmf(counts, mean)
        assert quadrature.poisson(mean).tolist() == (chances / chances.sum()).tolist()


def test_merged_keeps_mass_and_mean() -> None:
    values, masses = quadrature.merged(np.arange(1000.0), np.full(1000, 1e-3), 7)
    assert values.size == 7
    assert float(values @ masses) == pytest.approx(499.5)
