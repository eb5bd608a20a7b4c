r"""Law of a coordinate $c$ of a uniform unit vector in $R^d$, and of $t = \sqrt d\,c$ (variance 1).

The density of $c$ is

$$ p_d(c) = \frac{\Gamma(d/2)}{\sqrt\pi\,\Gamma((d-1)/2)}\,(1-c^2)^{(d-3)/2} , $$

so that $(1+c)/2\sim\mathrm{Beta}(\frac{d-1}2,\frac{d-1}2)$ and the angle $\arcsin c$ has a density
proportional to $\cos^{d-2}$. The law of $t$ has density $f_d$ and distribution function $F_d$; it
tends to N(0, 1) for $d\to\infty$. The dimension need not be an integer, and `nodes` and `cdf` take
an infinite one.

Two quadratures serve two kinds of integrand. `gauss` is exact for polynomials and needs few nodes;
`nodes` cover the angle and resolve a step, such as a high power of $F_d$.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.special import betainc, betaincinv, betaln, ndtr

from theory.laws import quadrature
from theory.laws.quadrature import Array

_TAIL = 9.0
"""Standard deviations beyond which the density is dropped (1e-19 of its mass)."""
_FEW = 4096
_KNOTS = 1024
"""Intervals of a cubic spline, which replaces the ten times slower incomplete beta function for
``_FEW`` values and more."""


def nodes(dim: float, count: int) -> tuple[Array, Array]:
    r"""Values of t and their weights, each (count,): Gauss-Legendre nodes in the angle."""
    x, weights = quadrature.legendre(count)
    if math.isinf(dim):
        values = _TAIL * x
        weights = weights * np.exp(-(values**2) / 2)
    else:
        # t = sqrt(d) sin(phi) keeps the density smooth down to d = 2.
        angle = math.asin(min(1.0, _TAIL / math.sqrt(dim))) * x
        values = math.sqrt(dim) * np.sin(angle)
        weights = weights * np.cos(angle) ** (dim - 2)
    return values, weights / weights.sum()


@lru_cache(maxsize=4096)
def gauss(dim: float, count: int) -> tuple[Array, Array]:
    r"""Values of t and their weights, each (count,), for ``dim`` above 2 (Gegenbauer polynomials).

    Exact for polynomials in t of degree up to 2 count - 1.

    >>> t, weights = gauss(5, 3)
    >>> round(float(weights @ t**4), 12) == round(3 * 5 / 7, 12)
    True
    """
    k = np.arange(1.0, count)
    side = np.sqrt(dim * k * (k + dim - 3) / ((2 * k + dim - 2) * (2 * k + dim - 4)))
    return quadrature.golub_welsch(np.zeros(count), side)


def tail(cosine: Array | float, dim: float) -> Array:
    r"""Probability $P(c > x)$ of the coordinate $c$, accurate even where it is small.

    >>> float(tail(0.5, 3))
    0.25
    """
    half = (dim - 1) / 2
    values: Array = betainc(half, half, (1 - np.clip(cosine, -1.0, 1.0)) / 2)
    return values


def cdf(x: Array, dim: float) -> Array:
    r"""Distribution function $F_d$ of $t$, within 1e-9 for dimensions of 3 and more.

    >>> float(cdf(np.array(0.5), dim=3)).hex() == (0.5 + 0.25 / 3**0.5).hex()
    True
    """
    if math.isinf(dim):
        gaussian: Array = ndtr(x)
        return gaussian
    sine = np.clip(x / math.sqrt(dim), -1.0, 1.0)
    if sine.size < _FEW:
        return tail(-sine, dim)
    curve, step = _cdf_of_angle(dim)
    place = (np.arcsin(sine) / step + _KNOTS / 2).clip(0, _KNOTS)
    knot = np.minimum(place.astype(np.intp), _KNOTS - 1)
    beyond = (place - knot) * step
    values: Array = curve[0].take(knot)
    for coefficients in curve[1:]:  # in place, as a new array takes longer than the arithmetic
        values *= beyond
        values += coefficients.take(knot)
    return np.clip(values, 0.0, 1.0, out=values)


def quantile(probability: float, dim: float) -> float:
    r"""Quantile $F_d^{-1}$ of $t$, at a finite dimension.

    >>> round(quantile(0.75, 3), 9) == round(3**0.5 / 2, 9)
    True
    """
    half = (dim - 1) / 2
    return math.sqrt(dim) * float(2 * betaincinv(half, half, probability) - 1)


@lru_cache(maxsize=4096)
def _cdf_of_angle(dim: float) -> tuple[Array, float]:
    """Distribution function as a function of the angle, in which it is smooth down to d = 2.

    Returns:
        Coefficients of a cubic on each interval, (4, intervals), and the length of an interval: the
        caller finds an interval by division, faster than scipy's search.
    """
    limit = math.asin(min(1.0, _TAIL / math.sqrt(dim)))
    angle = np.linspace(-limit, limit, _KNOTS + 1)
    below = tail(-np.sin(angle[: _KNOTS // 2 + 1]), dim)
    values = np.append(below, 1 - below[-2::-1])  # the law is symmetric
    density = np.cos(angle) ** (dim - 2) * math.exp(-betaln(0.5, (dim - 1) / 2))
    spline = CubicHermiteSpline(angle, values, density)
    return spline.c, 2 * limit / _KNOTS
