"""theory/laws/spectra.py against eigenvalues and covariances of random matrices."""

import numpy as np
import pytest
from scipy import integrate

from tests.unit.draws import unit_vectors
from theory.laws import spectra


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
