"""Laws, compared with known roots, enumeration, scipy, closed forms and random matrices."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats

from tests.unit.draws import unit_vectors
from theory.laws import crossing, multinomial, quadrature, spectra, sphere
from theory.laws.quadrature import Array


@pytest.mark.parametrize("sign", [1, -1])
def test_root_of_rising_and_falling_functions(sign: int) -> None:
    def cube(x: float) -> float:
        return sign * x**3

    assert crossing.root(cube, 0, 5, level=sign * 8) == pytest.approx(2)
    assert crossing.root(cube, 0, 5, level=sign * 126) == math.inf
    assert crossing.root(cube, 1, 5, level=0) == -math.inf
    assert crossing.log_root(cube, 1, 5, level=sign * 8, tolerance=1e-12) == pytest.approx(2)
    assert crossing.log_root(cube, 1, 5, level=sign * 126, tolerance=1e-12) == math.inf
    assert crossing.log_root(cube, 1, 5, level=0, tolerance=1e-12) == 0


def test_ends_of_the_bracket_belong_to_it_and_a_constant_is_never_crossed() -> None:
    assert crossing.root(lambda x: x, 0, 1) == 0
    assert crossing.root(lambda x: x - 1, 0, 1) == 1
    assert crossing.root(lambda x: 0.3, 0, 1, level=0.5) == math.inf


def test_open_bracket_is_doubled_until_the_level() -> None:
    found = crossing.log_root(lambda x: 1 - 1 / x, 1.5, level=0.999, tolerance=1e-9)
    assert found == pytest.approx(1000, rel=1e-6)
    assert crossing.log_root(lambda x: 0.3, 1.0, level=0.5, tolerance=1e-9) == math.inf


@pytest.mark.parametrize("true", [1.7, 2.0, 3.0, 63.0, 64.0, 65.2, 12345.6])
def test_integer_root_interpolates_a_power_law(true: float) -> None:
    found = crossing.integer_root(lambda n: math.log(n / true), level=0.0, within=0.02)
    assert found == pytest.approx(true, rel=1e-9)


def test_integer_root_outside_its_range() -> None:
    assert crossing.integer_root(float, level=1, within=0.01) == 1
    assert crossing.integer_root(float, level=64, most=64, within=0.01) == 64
    assert crossing.integer_root(float, level=65, most=64, within=0.01) == math.inf


@pytest.mark.parametrize("least", [1, 2, 3, 7, 8, 9, 1000])
def test_least_integer(least: int) -> None:
    assert crossing.least_integer(least.__le__, 1) == least
    assert crossing.least_integer(least.__le__, 1, 1024) == least
    assert crossing.least_integer(least.__le__, 5) == max(least, 5)
    assert crossing.least_integer(lambda _: False, least) == math.inf


def test_bisected_finds_every_element_at_once() -> None:
    squares = np.array([[0.25], [2.0], [9.0]])
    found = crossing.bisected(
        lambda x: x**2 > squares, np.zeros((3, 1)), np.full((3, 1), 4.0), steps=50
    )
    np.testing.assert_allclose(found, np.sqrt(squares))


@pytest.mark.parametrize(("cells", "total"), [(1, 3), (2, 4), (3, 5), (4, 0)])
def test_mean_of_a_product_by_enumeration(cells: int, total: int) -> None:
    weight = np.random.default_rng(0).uniform(size=total + 1)
    products = [
        np.prod(weight[np.bincount(np.array(placed, dtype=int), minlength=cells)])
        for placed in itertools.product(range(cells), repeat=total)
    ]
    assert multinomial.product_mean(weight, cells, total) == pytest.approx(np.mean(products))


def test_normal_and_binomial_have_their_moments() -> None:
    nodes, weights = quadrature.normal(9)
    assert [weights @ nodes**k for k in (0, 2, 4, 6)] == pytest.approx([1, 1, 3, 15])
    nodes, weights = quadrature.binomial(50, 0.2, 6)
    expected = [stats.binom(50, 0.2).moment(k) for k in range(1, 9)]
    assert [weights @ nodes**k for k in range(1, 9)] == pytest.approx(expected)


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


Rule = Callable[[float, int], tuple[Array, Array]]


def below(x: float, dim: float) -> float:
    """Compute the distribution function F_d of `sphere`, by quadrature of the angle's density."""

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


@pytest.mark.parametrize("ratio", [0.3, 1.0])
def test_moments_are_integrals_of_the_marchenko_pastur_density(ratio: float) -> None:
    middle, half = 1 + ratio, 2 * ratio**0.5
    for order in range(1, 9):
        value, _ = integrate.quad(
            lambda y, k=order: (1 - y**2) ** 0.5 * (middle + half * y) ** (k - 1), -1, 1
        )
        scale = half**2 / (2 * np.pi * ratio)
        assert spectra.moment(order, ratio) == pytest.approx(value * scale, rel=1e-7)


@pytest.mark.parametrize("law", ["sphere", "gaussian"])
def test_centred_moments_match_random_matrices(law: spectra.Vectors) -> None:
    rng, size, dim = np.random.default_rng(1), 96, 24
    sums = np.zeros(3)
    for _ in range(400):
        gaussian = rng.standard_normal((size, dim)) / np.sqrt(dim)
        z = unit_vectors(rng, size, dim) if law == "sphere" else gaussian
        z -= z.mean(axis=0)
        eigenvalues = np.linalg.eigvalsh(z.T @ z)
        sums += [(eigenvalues**k).sum() / (size - 1) / 400 for k in (2, 3, 4)]
    assert spectra.centred_moments(law, size, dim) == pytest.approx(sums, rel=0.02)


@pytest.mark.parametrize("law", ["sphere", "gaussian"])
def test_centred_moments_tend_to_the_limit_law(law: spectra.Vectors) -> None:
    limit = spectra.moments(4.0)
    assert spectra.centred_moments(law, 4 * 10**6, 10**6) == pytest.approx(limit, rel=1e-4)
    assert spectra.centred_moments("orthonormal", 100, 200) == spectra.moments(0.0)


def test_effective_rank_is_the_inverse_mean_squared_correlation() -> None:
    rng, squares = np.random.default_rng(9), []
    for _ in range(5):
        u = unit_vectors(rng, 256, 56)
        gram = u @ u.T
        covariance = gram @ gram
        deviation = np.sqrt(np.diag(covariance))
        correlation = covariance / np.outer(deviation, deviation)
        squares.append((correlation[~np.eye(256, dtype=bool)] ** 2).mean())
    assert np.mean(squares) == pytest.approx(1 / spectra.effective_rank(256, 56), rel=0.03)
    assert spectra.effective_rank(10**9, 56) == pytest.approx(56, rel=1e-6)
