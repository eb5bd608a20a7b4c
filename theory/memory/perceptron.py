r"""Number of random patterns that a perceptron separates: the weights that an output bit needs.

The sign of $w\cdot x$, with d weights, has to be right for n patterns x in general position with
random labels. Each pattern is one bit, so that n/d is a number of bits per weight.

**Real weights** (Cover 1965). Let $C(n,d)$ count the dichotomies that hyperplanes make. A new point
splits a dichotomy in two if a hyperplane through this point makes the dichotomy. Such hyperplanes
divide the old points as in d - 1 dimensions: $C(n+1,d)=C(n,d)+C(n,d-1)$. So
$C(n,d)=2\sum_{k<d}\binom{n-1}k$, and of the $2^n$ dichotomies the share

$$ P(n,d) = P(X\le d-1),\qquad X\sim\mathrm{Bin}(n-1,\tfrac12), $$

is separable: one half at n = 2d, for every d. The volume of right weights (Gardner 1988) vanishes
at the same n.

**Binary weights** (Krauth and Mezard 1989). Of the $2^d$ weight vectors a share $2^{-n}$ is right
on average, but rare sets of patterns dominate this mean. In the replica-symmetric ansatz two
solutions have the overlap q, with a conjugate $\hat q$. The typical entropy of solutions, per
weight, at n = a d is

$$ s = -\frac{\hat q(1-q)}2 + E\log2\cosh(\sqrt{\hat q}z) + a\,E\log H(u),\quad
   u=\sqrt{\frac q{1-q}}\,z, $$

$z$ standard normal and $H$ its tail. s is stationary at $q=E\tanh^2(\sqrt{\hat q}z)$ and
$\hat q=\frac a{1-q}E(\varphi(u)/H(u))^2$. The capacity is the a at which s = 0.
"""

import math
from functools import lru_cache

import numpy as np
from scipy import special, stats

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing, quadrature

PATTERNS = Regime(
    "from d to 4 d patterns",
    {"patterns": log_range(2, 64), "dim": log_range(1, 32)},
    holds=lambda cell: cell["dim"] <= cell["patterns"] <= 4 * cell["dim"],
)
"""Regime in which `separable_share` is exact."""


@prediction(
    latex=r"P = 2^{1-n}\sum_{k<d}\binom{n-1}k",
    source="Cover 1965, G1",
    provenance="reported",
    error="exact",
    regime=PATTERNS,
)
def separable_share(patterns: int, dim: int) -> float:
    """Exact share of the dichotomies of points in general position that a hyperplane through the
    origin makes.

    Raises ValueError: fewer than 1 pattern or dimension.

    >>> round(separable_share(16, 8), 9)
    0.5
    """
    if patterns < 1 or dim < 1:
        raise ValueError(f"{patterns} patterns in dim {dim}: give at least 1 of each")
    return float(stats.binom.cdf(dim - 1, patterns - 1, 0.5))


@prediction(latex=r"n = 2d", source="Cover 1965, G1; Gardner 1988, G2", provenance="reported")
def capacity(dim: int) -> float:
    """Number of patterns at which half of all sets of patterns are separable."""
    return 2.0 * dim


@prediction(
    latex=r"s(a) = 0,\quad n = a\,d", source="Krauth and Mezard 1989, G3", provenance="reported"
)
@lru_cache
def binary_capacity() -> float:
    """Limit of n/d up to which some one-bit weights are right: 0.833, by a replica calculation.

    >>> round(binary_capacity(), 4)
    0.8331
    """
    return crossing.root(binary_entropy, 0.5, 1.0, level=0.0, tolerance=1e-8)


def binary_entropy(load: float) -> float:
    """Logarithm, per weight, of the typical number of binary weight vectors that classify all n
    patterns correctly, at n/d = ``load``.
    """
    z, weights = quadrature.normal(120)
    overlap, before = 0.5, 0.0
    while abs(overlap - before) > 1e-13:
        u = math.sqrt(overlap / (1 - overlap)) * z
        hazard = np.exp(stats.norm.logpdf(u) - special.log_ndtr(-u))
        field = math.sqrt(load / (1 - overlap) * float(weights @ hazard**2)) * z
        before, overlap = overlap, float(weights @ np.tanh(field) ** 2)
    conjugate = load / (1 - overlap) * float(weights @ hazard**2)
    free = np.logaddexp(field, -field) + load * special.log_ndtr(-u)
    return float(weights @ free) - conjugate * (1 - overlap) / 2
