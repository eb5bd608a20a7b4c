r"""Linear associative memory: the share of $n$ associations that $W=\sum_k u_k e_k^\top$ recalls.

Inputs $e_k$ and outputs $u_k$ are independent uniform unit vectors of $R^d$. A query $e_i$ is
answered by $\arg\max_j u_j^\top We_i$. Let $We_i = u_i + y'$, where $y'$ is a sum of the other
outputs with the coefficients $e_k^\top e_i$. Let $B$ be the mean of $R = |y'|^2$ given these
coefficients. The right score is $1+x$, $x = u_i^\top y'$. Given $R$, $x$ and $B$ the wrong scores
$s$ are independent up to $O(1/n)$, and

$$ s = c\,\frac{x+R}{\sqrt R} + \sqrt{1-\frac{x^2}R}\sqrt{1-c^2}\,c',\qquad
   P = E_{B,R,x}\big[P_{b,c,c'}(s < 1 + x)\big]^{n-1} . $$

$c'$ is a coordinate of a uniform unit vector. $c$ has the density of such a coordinate times
$e^{\kappa c}$, where $\kappa = d\,b\sqrt R/(B-b^2)$ and $b$ is the coefficient of the wrong output
in $y'$. All variants
below differ in the variance of the coefficients, $T^2$, and in isotropic noise of mean squared
length $\tau^2$; the mean of $B$ is $(n-1)T^2+\tau^2$. Derivation and asymptotics are in linear.md.

At finite size the share predicted for the plain memory is always too high; for signs it is mostly
too low. Where failures are rare, the predicted rate of failures is right within 10%. The quadrature
is good to 0.0015 for $n$ up to 131072.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing, quadrature, sphere

_SOURCE = "paper B, arXiv 2412.06538, B1; constants derived"
_SHARP = "arXiv 2605.05189, C1; finite-size form derived"
_SCORE_NODES, _COSINE_NODES, _COEFFICIENT_NODES, _LENGTH_NODES, _GAIN_NODES = 60, 24, 12, 5, 15

PAIRS = Regime(
    "n >= 30, d >= 12", {"associations": log_range(30, 16384), "dim": log_range(12, 1024)}
)
"""Regime in which formulas for the share of associations recalled state their errors."""
THRESHOLD = PAIRS.searched(without=("dim",))
"""Regime in which `half_dim` and `all_dim` state their errors."""
LOW_RANK = PAIRS.searched(
    "rank m from 12 to d",
    holds=lambda cell: cell["width"] <= cell["dim"],
    width=log_range(12, 1024),
)
"""Regime in which `low_rank_accuracy` states its error."""
RANK = PAIRS.searched(
    "2 n log(n)/d, about the rank at which half are recalled, from 14 to 0.95 d",
    holds=lambda cell: (
        14 * cell["dim"]
        <= 2 * cell["associations"] * math.log(cell["associations"])
        <= 0.95 * cell["dim"] ** 2
    ),
    associations=log_range(30, 2048),
    dim=log_range(16, 512),
)
"""Regime in which `half_rank` states its error."""
WHOLE = Regime("d >= 32", {"dim": log_range(32, 1024)})
"""Regime in which `capacity` states its error."""

Array = NDArray[np.float64]
Law = Callable[[Array], Array]


@lru_cache(maxsize=4096)
def recalled(
    dim: float,
    stored: float,
    spread: float,
    *,
    idle: float = 0,
    extra: float = 0.0,
    margin: float = 0.0,
    single: bool = False,
) -> float:
    r"""Probability that the right score is the largest.

    Scores are in units of the right score's mean.

    Args:
        dim: dimension $d$, which need not be an integer.
        stored: number of other associations.
        spread: $T^2$, the variance of the coefficients of the other associations.
        idle: number of further outputs that belong to no association.
        extra: $\tau^2$, mean squared length of isotropic noise.
        margin: least lead of the right score over the others.
        single: whether single large coefficients decide, so that c lies far from 0.
    """
    sizes, weights = quadrature.gamma(2 * (dim - 1) / ((dim + 2) * stored), _LENGTH_NODES)
    total = 0.0
    for size, share in zip(map(float, sizes), map(float, weights), strict=True):
        length = stored * spread * size + extra
        below, unstored, weight = _below(dim, stored, spread * size, length, margin, single)
        total += share * float(weight[0] @ (below**stored * unstored**idle) @ weight[1])
    return total


def _below(
    dim: float,
    stored: float,
    spread: float,
    length: float,
    margin: float = 0.0,
    single: bool = False,
) -> tuple[Array, Array, tuple[Array, Array]]:
    """Chances, (R, x), that a stored and that an idle rival loses; weights of R and x."""
    score, score_weight = sphere.gauss(dim, _SCORE_NODES)
    scale, scale_weight = quadrature.gamma(2 / dim, _LENGTH_NODES)
    # The n-th power asks for the far tail of c: at n = 131072, 24 nodes leave 0.014 of error.
    nodes = _COSINE_NODES if stored < 4096 else 4 * _COSINE_NODES
    cosine, cosine_weight = sphere.gauss(dim, nodes)
    cosine = cosine / math.sqrt(dim)
    # Axes: R, x, c; for a stored rival with nodes of its own R, x, b, c.
    square = length * scale.reshape(-1, 1, 1)
    own = np.sqrt(square / dim) * score.reshape(-1, 1)

    def chances(cosine: Array, *more: int) -> Array:
        size, x = (np.expand_dims(axes, more) for axes in (square, own))
        along = (x + size) / np.sqrt(size)
        across = np.sqrt(np.maximum(1 - x**2 / size, 1e-9) * (1 - cosine**2))
        return sphere.cdf((1 + x - margin - cosine * along) / across * math.sqrt(dim - 1), dim - 1)

    below = chances(cosine)
    # Axes: R, b, c.
    unit, unit_weight = sphere.gauss(dim, _COEFFICIENT_NODES)
    b = math.sqrt(spread) * unit[:, None]
    kappa = dim * b * np.sqrt(square) / np.maximum(length - b**2, length / 2)
    if single:
        far, law = _tilted(kappa, dim)
        of_stored: Array = (chances(far[:, None], 3) * law[:, None]).sum(3) @ unit_weight
    else:
        law = cosine_weight * np.exp(kappa * cosine - np.abs(kappa) * cosine.max())
        law /= law.sum(axis=2, keepdims=True)
        of_stored = (below @ (unit_weight @ law)[..., None])[..., 0]
    return of_stored, below @ cosine_weight, (scale_weight, score_weight)


def _tilted(kappa: Array, dim: float) -> tuple[Array, Array]:
    """Cosines about the mode of the sphere's density times exp(kappa c), and their weights."""
    node, weight = quadrature.normal(_COEFFICIENT_NODES)
    mode = 2 * kappa / (dim - 3 + np.hypot(dim - 3, 2 * kappa))
    width = (1 - mode**2) / np.sqrt((dim - 3) * (1 + mode**2))
    cosine = np.clip(mode + width * node, -1 + 1e-12, 1 - 1e-12)
    log = (dim - 3) / 2 * np.log1p(-(cosine**2)) + kappa * cosine + node**2 / 2
    law = weight * np.exp(log - log.max(axis=2, keepdims=True))
    return cosine, law / law.sum(axis=2, keepdims=True)


def accuracy_of_independent_scores(associations: float, variance: float) -> float:
    """Accuracy under the wrong assumption of independent normal scores with this variance."""
    node, weight = quadrature.normal(_SCORE_NODES)
    below = special.ndtr((1 + math.sqrt(variance) * node) / math.sqrt(variance))
    return float(weight @ below ** (associations - 1))


def _check(associations: float, dim: float) -> None:
    if associations < 3:
        raise ValueError(f"{associations} associations: a memory needs at least 3 to interfere")
    if dim < 4:
        raise ValueError(f"dim is {dim}: the law of the scores needs at least 4")


@prediction(
    latex=r"P = E_{B,R,x}\left[P_{b,c,c'}\left(\text{wrong score} < 1+x\right)\right]^{n-1}",
    source=_SOURCE,
    error=((0.006, "for d >= 24", lambda cell: cell["dim"] >= 24), (0.01, "for d >= 12")),
    regime=PAIRS,
)
def linear_memory_accuracy(associations: float, dim: float) -> float:
    r"""Share of $n$ associations that $W=\sum_k u_ke_k^\top$ recalls: $T^2=1/d$, $B=(n-1)/d$.

    Stated error for n >= 30: {error}. For smaller n, down to n = 3 and d = 4, the formula is up to
    0.03 too high: at (n, d) = (5, 4), (9, 5) and (17, 9) by 0.029, 0.016 and 0.011.

    >>> round(linear_memory_accuracy(200, 64), 2)
    0.88

    Raises:
        ValueError: fewer than 3 associations or 4 dimensions.
    """
    _check(associations, dim)
    return recalled(dim, associations - 1, 1 / dim)


@prediction(
    latex=r"P_m = E_u P\left(T^2=\frac1{ud}\right),\quad u\sim\mathrm{Beta}"
    r"\left(\frac m2,\frac{d-m}2\right)",
    source=_SOURCE,
    error=0.01,
    regime=LOW_RANK,
)
def low_rank_accuracy(associations: float, dim: float, width: float) -> float:
    r"""Accuracy of $W\Pi$ with $\Pi$ the projector onto a random subspace of dimension $m$.

    The signal is $u=e_i^\top\Pi e_i$ and $b_k=e_k^\top\Pi e_i$ is $\sqrt u$ times a coordinate of
    the sphere: relative to the signal $T^2=1/(ud)\simeq1/m$. Hence $md$ replaces $d^2$ in limits.

    Stated error: {error} for n >= 30 and ranks of at least 12. With more than 2 n dimensions
    single large coefficients decide: at (n, d, m) = (30, 1024, 12) the formula has 0.932, and
    memories have 0.938.

    Raises:
        ValueError: sizes as in `linear_memory_accuracy`, or a rank outside (0, d].
    """
    _check(associations, dim)
    if not 0 < width <= dim:
        raise ValueError(f"rank {width} must be above 0 and at most dim={dim}")
    if width == dim:
        return recalled(dim, associations - 1, 1 / dim)
    q, weights = quadrature.beta(width / 2, (dim - width) / 2, _GAIN_NODES)
    single = dim > 2 * associations
    each = [recalled(dim, associations - 1, 1 / (float(gain) * dim), single=single) for gain in q]
    return float(weights @ each)


@prediction(
    latex=r"B=E|y'|^2 = \frac{n-1}d+\left(\frac\pi2-1\right)\frac nd",
    source=_SOURCE,
    error=0.015,
    regime=PAIRS,
)
def one_bit_accuracy(associations: float, dim: float) -> float:
    r"""Accuracy of the memory $\mathrm{sign}(W)$, one bit per parameter.

    An entry of W is nearly normal with variance $n/d^2$, so (Bussgang) the sign is
    $\sqrt{2/\pi}\,W_{ab}d/\sqrt n$ plus an uncorrelated rest of variance $1-2/\pi$. In units of the
    signal this rest adds an isotropic vector of squared length $(\pi/2-1)\,n/d$. To leading order
    the variance of the noise grows by a factor $\pi/2$, but the terms of order $1/d$ do not grow.

    Stated error: {error} for n >= 30 and d >= 12, mostly too low; 0.007 from n = 60 on.

    Raises:
        ValueError: sizes as in `linear_memory_accuracy`.
    """
    _check(associations, dim)
    rest = (math.pi / 2 - 1) * associations / dim
    return recalled(dim, associations - 1, 1 / dim, extra=rest)


@prediction(latex=r"P_{all} = e^{-n(1-P)}", source=_SHARP, error=0.04, regime=PAIRS)
def all_recalled(associations: float, dim: float) -> float:
    """Probability that every association is recalled: the few failures are nearly Poisson.

    Stated error: {error} for n >= 30. For small n failures are dependent: at (n, d) = (5, 4) the
    formula gives 0.21 instead of 0.11.

    Raises:
        ValueError: sizes as in `linear_memory_accuracy`.
    """
    return math.exp(-associations * (1 - linear_memory_accuracy(associations, dim)))


@prediction(latex=r"P(d_{1/2}) = \frac12", source=_SOURCE, error="2%", regime=THRESHOLD)
@lru_cache(maxsize=4096)
def half_dim(associations: float) -> float:
    """Dimension, real, at which half of the associations are recalled; 0 if below 4.

    Stated error: {error} for n >= 30.

    Raises:
        ValueError: fewer than 3 associations.
    """
    return _threshold(lambda dim: linear_memory_accuracy(associations, dim), 4, 4 * associations)


@prediction(
    latex=r"P_{all}(d_{all}) = \frac12",
    source=_SHARP,
    error="3%",
    regime=THRESHOLD,
    curve=all_recalled,
)
@lru_cache(maxsize=4096)
def all_dim(associations: float) -> float:
    """Dimension, real, at which all associations are recalled with probability 1/2; 0 if below 4.

    Stated error: {error} for n >= 30.

    Raises:
        ValueError: fewer than 3 associations.
    """
    return _threshold(lambda dim: all_recalled(associations, dim), 4, 20 * associations)


@prediction(
    latex=r"P_m(m_{1/2}) = \frac12,\quad m_{1/2}d\sim2n\ln n",
    source=_SOURCE,
    error="3%",
    regime=RANK,
)
@lru_cache(maxsize=4096)
def half_rank(associations: float, dim: float) -> float:
    """Rank, real, at which half of the associations are recalled; infinite above d, 0 below 2.

    Stated error: {error} for n >= 30 and ranks of at least 12.

    Raises:
        ValueError: sizes as in `linear_memory_accuracy`.
    """
    if linear_memory_accuracy(associations, dim) < 0.5:
        return math.inf
    largest = (1 - 1e-6) * dim
    return _threshold(lambda width: low_rank_accuracy(associations, dim, width), 2, largest)


@prediction(
    latex=r"P_{all}(n_{all}) = \frac12",
    source=_SHARP,
    error="6%",
    regime=WHOLE,
    curve=all_recalled,
)
@lru_cache(maxsize=4096)
def capacity(dim: float) -> float:
    """Number of associations, real, that are all recalled with probability 1/2; 0 if below 3.

    Stated error: {error} for d >= 32.

    Raises:
        ValueError: fewer than 4 dimensions.
    """
    return _threshold(lambda number: all_recalled(number, dim), 3, dim**2)


def _threshold(success: Callable[[float], float], low: float, high: float) -> float:
    """Find the argument at which a monotone success probability is 1/2."""
    return crossing.log_root(success, low, high, level=0.5, tolerance=1e-6)


def score_laws(associations: int, dim: int) -> dict[str, Law]:
    r"""Distribution functions of the right score ("own"), a wrong one ("rival") and the "lead".

    The lead is the right score less the largest wrong score. A right and a wrong score have the
    variances $(n-1)/d^2$ and $(n-2)/d^2+2/d$. The part $2/d$, of $u_j^\top u_i+e_j^\top e_i$, is
    not crosstalk. The lead's law is $1-P(t)$, where $P(t)$ is the probability that the right score
    leads by at least t.

    Raises:
        ValueError: sizes as in `linear_memory_accuracy`.
    """
    _check(associations, dim)
    own = math.sqrt((associations - 1) / dim**2)
    rival = math.sqrt((associations - 2) / dim**2 + 2 / dim)
    leads = np.linspace(1 - 10 * rival, 1 + 7 * own, 80)
    reached = [recalled(dim, associations - 1, 1 / dim, margin=float(lead)) for lead in leads]
    return {
        "own": lambda score: special.ndtr((score - 1) / own),
        "rival": lambda score: special.ndtr(score / rival),
        "lead": lambda score: np.interp(score, leads, 1 - np.array(reached)),
    }


def rivals_below(associations: int, dim: int) -> Law:
    """Distribution function of the number of rivals that score less than the right output.

    This number, of n - 1 rivals, is binomial given the variables that `recalled` averages over.

    Raises:
        ValueError: sizes as in `linear_memory_accuracy`.
    """
    _check(associations, dim)
    rivals = associations - 1
    until = np.zeros(associations + 1)
    sizes, weights = quadrature.gamma(2 * (dim - 1) / ((dim + 2) * rivals), _LENGTH_NODES)
    for size, share in zip(sizes, weights, strict=True):
        below, _, (scale_weight, score_weight) = _below(
            dim, rivals, size / dim, rivals * size / dim
        )
        chance = np.minimum(below, 1)  # rounding leads beyond
        law = stats.binom.cdf(np.arange(-1, associations)[:, None, None], rivals, chance)
        until += share * np.einsum("krx,r,x->k", law, scale_weight, score_weight)
    return lambda count: until[np.floor(np.clip(count, -1, rivals)).astype(int) + 1]


@prediction(latex=r"d_{1/2}\sim\sqrt{2n\ln n}", source=_SOURCE)
def half_dim_asymptotic(associations: float) -> float:
    """Leading order of `half_dim`."""
    return math.sqrt(2 * associations * math.log(associations))


@prediction(
    latex=r"d_{all}\sim\sqrt{8n\ln n}", source=_SHARP, provenance="reported", curve=all_recalled
)
def all_dim_asymptotic(associations: float) -> float:
    """Leading order of `all_dim`, as arXiv 2605.05189 states it."""
    return math.sqrt(8 * associations * math.log(associations))
