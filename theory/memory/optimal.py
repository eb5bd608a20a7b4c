r"""Number of pairs that the best linear memory stores.

A matrix $W$ stores $n$ random pairs of unit vectors in $\mathbb R^d$ if every $We_i$ lies in the
cone $C_i=\{w: u_i^\top w\ge u_j^\top w\ \forall j\}$. The competitors $u_j$ are the outputs of the
other pairs; in a variant every pair has n - 1 random competitors of its own. The $(We_i)_i$ fill a
subspace of dimension $d^2$ in $\mathbb R^{nd}$. *If this subspace were uniformly random*, it would
meet $C_1\times\dots\times C_n$ with the probability

$$ P_{sep} = 2\sum_{k\text{ odd}}P(K_1+\dots+K_n=d^2-k) , $$

where the $K_i$ are independent, and have the law of the conic intrinsic volumes $v_k$ of the
tangent cone, polar to $C_i$. $P_{sep}$ falls from 1 to 0 where
$n\,E\,\mathrm{dist}^2(g,C_1) = d^2$, $g\sim N(0,1_d)$. The volumes are exact:

$$ n\,Ev_{m-1} = \binom nm\,I_m\,J_m,\quad m=1,\dots,d,\qquad
   I_m = \int f_{\alpha m}(\varphi)\,F_\alpha(\varphi)^{n-m}\,d\varphi , $$

$\alpha=d-2$, $f_p\propto\cos^p$ with distribution function $F_p$ on $(-\frac\pi2,\frac\pi2)$, and
$J_m$ the angles of a random simplex (Z. Kabluchko, Adv. Math. 380, 107612, 2021). As $n\to\infty$,
$d^2$ slowly approaches $2n\log n$. The derivation is in optimal.md.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, optimize, special, stats

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing, sphere

_SOURCE = "arXiv 2605.05189, C1; arXiv 2605.10795, C2; paper B, arXiv 2412.06538, B1; derived"
_NODES = 4000
_LINE_NODES = 2001
_LEVELS = 2000
_LARGEST = 128
"""Dimension beyond which the integrals lose their digits."""

Array = NDArray[np.float64]

ANY = Regime("", {"dim": range(2, _LARGEST + 1)})
"""Any dimension."""
SHARED = ANY.searched("d >= 10", holds=lambda cell: cell["dim"] >= 10)
"""Regime in which `critical_associations` states its error, for shared competitors."""
OWN = ANY.searched(
    "own competitors for each pair, d >= 6",
    holds=lambda cell: cell["dim"] >= 6,
    own_competitors=(True,),
)
"""Regime in which `critical_associations` states its error, for separate competitors."""
STORED = ANY.searched(
    "d >= 10; with own competitors for each pair d >= 6",
    holds=lambda cell: cell["dim"] >= (6 if cell.get("own_competitors", False) else 10),
)
TRANSITION = ANY.searched(
    "own competitors for each pair, d >= 4, more pairs than dimensions",
    holds=lambda cell: 4 <= cell["dim"] < cell["associations"],
    associations=log_range(4, 4096),
    own_competitors=(True,),
)
"""Regime in which `separable_probability` states its error."""


@prediction(
    latex=r"n\,E\,\mathrm{dist}^2(g, C_1) = d^2",
    source=_SOURCE,
    error=(
        (
            "3%",
            "where each pair has competitors of its own",
            lambda cell: cell.get("own_competitors", False),
        ),
        ("5%", "where the pairs share them"),
    ),
    regime=STORED,
)
@lru_cache
def critical_associations(dim: int) -> float:
    """Number of pairs up to which a linear memory of dimension ``dim`` exists that stores all.

    Stated error: {error}.

    Raises:
        ValueError: ``dim`` is not between 2 and 128.
    """
    _check_dim(dim)
    return _solve(
        lambda count: count * float(np.arange(dim + 1) @ _intrinsic_volumes(dim, count)), dim
    )


@prediction(
    latex=r"P_{sep} = 2\sum_{k\ \mathrm{odd}}P(K_1+\dots+K_n=d^2-k)",
    source=_SOURCE,
    error=0.08,
    regime=TRANSITION,
)
@lru_cache
def separable_probability(dim: int, associations: int) -> float:
    """Probability that a linear memory of dimension ``dim`` can store ``associations`` pairs.

    Stated error where each pair has competitors of its own: {error} for d >= 4.

    Raises:
        ValueError: ``dim`` is not between 2 and 128, or ``associations`` is below 1.
    """
    _check_dim(dim)
    if associations < 1:
        raise ValueError(f"associations is {associations}: give at least 1")
    if associations <= dim:
        return 1.0  # linearly independent inputs can get any outputs
    size = associations * dim + 1
    law = np.fft.rfft(_intrinsic_volumes(dim, associations), size)
    total = np.fft.irfft(law**associations, size)
    return 2 * float(total[dim**2 - 1 :: -2].sum())


def frozen_associations(dim: int) -> float:
    r"""Approximate number of pairs stored by a memory that can raise only the correct scores.

    It solves $n\,E(\max_{j<n}g_j-g)_+^2=d^2$ with independent standard normal scores: the largest
    competitor keeps its random value. A memory that can also lower competitors stores 1.4 to 1.6
    times as many pairs at d = 8 to 64, though the asymptote is the same.

    Raises ValueError unless ``dim`` is between 2 and 128.
    """
    _check_dim(dim)

    def needed(count: float) -> float:
        largest = _largest(count - 1)
        gap = (1 + largest**2) * stats.norm.cdf(largest) + largest * stats.norm.pdf(largest)
        return count * float(gap.mean())

    return _solve(needed, dim, least=2.0)


@prediction(
    latex=r"E\max_{j<n}g_j\sim\sqrt{2\ln n}",
    source="arXiv 2605.10795, G7; finite-size form derived",
)
def extreme_value(associations: int) -> float:
    """Mean of the largest of n - 1 independent standard normal scores: a right score's threshold.

    Raises:
        ValueError: fewer than 2 associations.

    >>> round(extreme_value(3), 3)
    0.564
    """
    if associations < 2:
        raise ValueError(f"associations is {associations}: give at least 2")
    return float(_largest(associations - 1).mean())


def _largest(count: float) -> Array:
    """Evenly spread quantiles of the largest of independent standard normal scores."""
    levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
    largest: Array = stats.norm.ppf(levels ** (1 / count))
    return largest


def associations_on_line(dim: int, constant: float) -> float:
    """Number of pairs n with dim^2 = ``constant`` n log n, the form of published reference lines.

    Raises ValueError unless both are positive.

    >>> round(associations_on_line(64, 2.0), 1)
    349.7
    """
    if dim < 1 or not constant > 0:
        raise ValueError(f"dim is {dim} and constant is {constant}: give positive ones")
    load = dim**2 / constant
    return load / float(special.lambertw(load).real)


def _solve(needed: Callable[[float], float], dim: int, least: float | None = None) -> float:
    low = dim + 1.0 if least is None else least
    return crossing.root(needed, low, dim**2 + 2.0, level=dim**2)


def _check_dim(dim: int) -> None:
    if not 2 <= dim <= _LARGEST:
        raise ValueError(f"dim is {dim}: give 2 to {_LARGEST}")


def _intrinsic_volumes(dim: int, count: float) -> Array:
    """Expected conic intrinsic volumes of a tangent cone, v_0 to v_dim; ``count`` exceeds dim."""
    m = np.arange(1.0, dim + 1)
    subsets = special.gammaln(count + 1) - special.gammaln(m + 1) - special.gammaln(count - m + 1)
    volumes = np.exp(subsets + _log_external(dim, count) + _log_internal(dim)) / count
    return np.append(volumes, 1 - volumes.sum())


def _log_external(dim: int, count: float) -> Array:
    """Values of log I_m for m = 1, ..., dim."""
    m = np.arange(1.0, dim + 1)
    log_cos, log_below = _angles(dim)
    integrand = (dim - 2) * np.outer(m, log_cos) + np.outer(count - m, log_below)
    integral: Array = special.logsumexp(integrand, axis=1) + math.log(math.pi / _NODES)
    integral += _log_density((dim - 2) * m)
    return integral


@lru_cache
def _angles(dim: int) -> tuple[Array, Array]:
    """Values of log cos and log F_{dim-2} at midpoints of a grid on (-pi/2, pi/2)."""
    angles = ((np.arange(_NODES) + 0.5) / _NODES - 0.5) * math.pi
    below = np.maximum(sphere.tail(-np.sin(angles), dim), np.finfo(float).tiny)
    return np.log(np.cos(angles)), np.log(below)


@lru_cache
def _log_internal(dim: int) -> Array:
    """Values of log J_m for m = 1, ..., dim."""
    return np.array([0.0, *(_log_vertex_angles(dim, m) for m in range(2, dim + 1))])


def _log_vertex_angles(dim: int, m: int) -> float:
    alpha = dim - 2
    power = alpha * m + 2

    def height(angle: float) -> float:
        return (m - 1) * math.log(float(sphere.tail(math.sin(angle), dim))) - power * math.log(
            math.cos(angle)
        )

    # A shift of the line of integration, by an imaginary number, leaves the integral as it is. On
    # the line through the saddle little cancels; for shifts beyond 1.3 tails underflow.
    saddle = float(optimize.minimize_scalar(height, bounds=(0, 1.3), method="bounded").x)
    # Far out the integrand falls like exp(-(alpha + 2) s), near the saddle like a Gaussian.
    s = np.linspace(0, 40 / (alpha + 2) + 9 / math.sqrt(alpha + 2), _LINE_NODES)
    cosh = np.cosh(s + 1j * saddle) / math.cos(saddle)
    hazard = (
        math.exp(_log_density(alpha))
        * math.cos(saddle) ** alpha
        / float(sphere.tail(math.sin(saddle), dim))
    )
    below = integrate.cumulative_simpson((cosh**alpha).real, x=s, initial=0)
    aside = integrate.cumulative_simpson((cosh**alpha).imag, x=s, initial=0)
    bracket = 1 + 1j * hazard * (below + 1j * aside)
    integrand = np.exp((m - 1) * np.log(bracket) - power * np.log(cosh)).real
    total = 2 * float(integrate.simpson(integrand, x=s))
    norm = 0.5 * math.log(math.pi) + special.gammaln(power / 2) - special.gammaln((power + 1) / 2)
    return math.log(m * total) + height(saddle) - float(norm)


def _log_density(power: Array | float) -> Array:
    """Constant log f_power(0) of the density proportional to cos^power."""
    half = np.asarray(power) / 2
    value: Array = special.gammaln(half + 1) - special.gammaln(half + 0.5)
    return value - 0.5 * math.log(math.pi)
