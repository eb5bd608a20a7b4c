"""theory/laws/sphere.py against its density, normalised Gaussian vectors and closed forms."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats

from theory.laws import sphere
from theory.laws.quadrature import Array

Rule = Callable[[float, int], tuple[Array, Array]]


def below(x: float, dim: float) -> float:
    """F_d, by quadrature of the density in the angle."""

    def density(angle: float) -> float:
        return float(math.cos(angle) ** (dim - 2))

    total, _ = integrate.quad(density, -math.pi / 2, math.pi / 2)
    part, _ = integrate.quad(density, -math.pi / 2, math.asin(x / math.sqrt(dim)))
    return float(part / total)


@pytest.mark.parametrize("dim", [2.5, 7.0, 40.0])
def test_cdf_and_tail_are_integrals_of_the_density(dim: float) -> None:
    for x in (-1.2, 0.0, 0.7, 1.5):
        expected = below(x, dim)
        assert float(sphere.cdf(np.array(x), dim)) == pytest.approx(expected, abs=1e-9)
        assert float(sphere.tail(x / math.sqrt(dim), dim)) == pytest.approx(1 - expected, abs=1e-9)
        assert sphere.quantile(expected, dim) == pytest.approx(x, abs=1e-7)


def test_tail_keeps_its_digits_where_it_is_small() -> None:
    exact = 3 / 4 * (2 / 3 - 0.999 + 0.999**3 / 3)  # d = 5: density 3/4 (1 - c^2)
    assert float(sphere.tail(0.999, 5)) == pytest.approx(exact, rel=1e-8)
    assert sphere.tail(np.array([-2.0, 1.0, 2.0]), 5).tolist() == [1, 0, 0]


def test_cdf_tends_to_the_normal_one() -> None:
    x = np.linspace(-4, 4, 33)
    limit = sphere.cdf(x, math.inf)
    np.testing.assert_allclose(limit, stats.norm.cdf(x), rtol=1e-12)
    np.testing.assert_allclose(sphere.cdf(x, 1e7), limit, atol=1e-6)


@pytest.mark.parametrize("dim", [2, 2.5, 16, 400])
def test_cdf_of_many_numbers_is_that_of_each(dim: float) -> None:
    x = np.linspace(-12, 12, 8192)
    each = [float(sphere.cdf(np.array(number), dim)) for number in x]
    np.testing.assert_allclose(sphere.cdf(x, dim), each, rtol=0, atol=2e-10)


@pytest.mark.parametrize(
    ("rule", "dim"),
    [(sphere.nodes, dim) for dim in (2, 3, 16, 400, math.inf)]
    + [(sphere.gauss, dim) for dim in (2.5, 3, 16, 400)],
)
def test_quadratures_have_the_moments_of_the_law(rule: Rule, dim: float) -> None:
    values, weights = rule(dim, 64)
    fourth = 3.0 if math.isinf(dim) else 3 * dim / (dim + 2)
    assert [weights @ values**k for k in (0, 1, 2)] == pytest.approx([1, 0, 1], abs=1e-9)
    assert weights @ values**4 == pytest.approx(fourth, rel=1e-9)


@pytest.mark.parametrize("rule", [sphere.nodes, sphere.gauss])
def test_quadratures_resolve_the_largest_of_many(rule: Rule) -> None:
    values, weights = rule(24, 64)  # E F(t)^m = 1/(m + 1)
    assert weights @ sphere.cdf(values, 24) ** 99 == pytest.approx(0.01, rel=1e-3)
