"""Nodes and weights of laws that predictions average over.

A quadrature returns ``count`` nodes and as many weights, which add up to 1 (`legendre`: to 2). A
law with fewer values has fewer nodes.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
Real = NDArray[np.floating[Any]]


def golub_welsch(diagonal: Array, side: Array) -> tuple[Array, Array]:
    """Gauss nodes and probabilities of a law, each (count,), from its recurrence coefficients.

    Args:
        diagonal: diagonal recurrence coefficients, (count,).
        side: square roots of the off-diagonal coefficients, (count - 1,).
    """
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(side, 1) + np.diag(side, -1))
    return nodes, vectors[0] ** 2


@lru_cache(maxsize=64)
def normal(count: int) -> tuple[Array, Array]:
    """Gauss quadrature of the standard normal law (Hermite polynomials)."""
    return _shared(*golub_welsch(np.zeros(count), np.sqrt(np.arange(1.0, count))))


def _shared(nodes: Array, weights: Array) -> tuple[Array, Array]:
    """Make arrays read-only, because all callers share them."""
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def binomial(trials: int, chance: float, count: int) -> tuple[Array, Array]:
    """Gauss quadrature of the binomial law (Krawtchouk polynomials).

    >>> nodes, weights = binomial(10, 0.3, 4)
    >>> round(float(weights @ nodes), 9), round(float(weights @ (nodes - 3) ** 2), 9)
    (3.0, 2.1)
    """
    k = np.arange(min(count, trials + 1), dtype=float)
    diagonal = chance * (trials - k) + k * (1 - chance)
    side = np.sqrt(chance * (1 - chance) * k[1:] * (trials - k[1:] + 1))
    return golub_welsch(diagonal, side)


def beta(a: float, b: float, count: int) -> tuple[Array, Array]:
    """Gauss quadrature of the law Beta(a, b) (Jacobi polynomials), for a + b other than 1.

    >>> nodes, weights = beta(2, 3, 4)
    >>> round(float(weights @ nodes), 9), round(float(weights @ nodes**2), 9)
    (0.4, 0.2)
    """
    k, last = np.arange(1.0, count), a + b - 2
    middle = 2 * k + last
    diagonal = np.append((a - b) / (a + b), (a - b) * last / (middle * (middle + 2)))
    square = k * (k + b - 1) * (k + a - 1) * (k + last) / (middle**2 * (middle**2 - 1))
    nodes, weights = golub_welsch(diagonal, 2 * np.sqrt(square))
    return (1 + nodes) / 2, weights


def gamma(variance: float, count: int) -> tuple[Array, Array]:
    """Quadrature of a gamma variable of mean 1, as the cube of a normal (Wilson-Hilferty)."""
    if variance == 0:
        return np.ones(1), np.ones(1)
    nodes, weights = normal(count)
    cube = np.clip(1 - variance / 9 + math.sqrt(variance / 9) * nodes, 0.1, None) ** 3
    return cube, weights


def poisson(mean: float, tail: float = 1e-8) -> Array:
    """Poisson probabilities of 0, 1, ... without the upper ``tail``, rescaled to sum to 1."""
    # What scipy.stats does, to the last bit, without half a millisecond of its checks.
    last = 0.0
    if mean > 0:
        last = math.ceil(special.pdtrik(1 - tail, mean))
        below = max(last - 1, 0.0)
        last = below if special.pdtr(below, mean) >= 1 - tail else last
    weights = poisson_chance(np.arange(last + 1), mean)
    normalised: Array = weights / weights.sum()
    return normalised


def poisson_chance(count: NDArray[Any], mean: float) -> Array:
    """Probability of these counts under the Poisson law."""
    chance: Array = np.exp(special.xlogy(count, mean) - special.gammaln(count + 1) - mean)
    return chance


@lru_cache(maxsize=64)
def legendre(count: int) -> tuple[Array, Array]:
    """Gauss nodes and weights on [-1, 1] (Legendre polynomials)."""
    return _shared(*np.polynomial.legendre.leggauss(count))


def merged(values: Real, weights: Real, count: int) -> tuple[Array, Array]:
    """Merge neighbouring values into at most ``count`` means of groups of nearly equal weight.

    >>> values, weights = merged(np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.25, 0.25]), 2)
    >>> values.tolist(), weights.tolist()
    ([1.5, 3.0], [0.5, 0.5])
    """
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    middle = (np.cumsum(weights) - weights / 2) / weights.sum()
    group = np.minimum((middle * count).astype(int), count - 1)
    mass = np.bincount(group, weights).astype(float)
    means = np.bincount(group, weights * values)[mass > 0] / mass[mass > 0]
    return means, mass[mass > 0]
