r"""Listwise retrieval: each own score exceeds the average of its top competitors.

The score of pair i under W has to exceed the mean score of its best competitors, a
share r of all n - 1, rounded up. As $n\to\infty$ at $n = \alpha d^2$ the competitors' scores are
normal with the variance $|We_i|^2/d$ for any W, so that this average is $k|We_i|/\sqrt d$ with
$k = \varphi(\Phi^{-1}(1-r))/r$, and $We_i$ has to lie in a circular cone around $u_i$. A subspace
of $d^2$ dimensions meets n such cones up to the n with

$$ n\,E\,\mathrm{dist}^2(g, C) = d^2 ,\qquad\text{hence}\quad
   \alpha_c(r) = \frac1{E(k+z)_+^2} = \frac1{(1+k^2)\Phi(k)+k\varphi(k)} , $$

z standard normal. The closed form is from reports on the paper. The equation on the left holds at
finite d too, with the cone's angle $\beta$ for unit vectors: $\cos\beta = E[c\,|\,c>q]$ and
$P(c>q) = r$ for a coordinate c of a uniform unit vector.

The equation leaves out that, at finite n, a memory finds directions in which the top competitors
score less. With fewer top competitors, a memory exceeds the prediction by more.
"""

import math

import numpy as np
from scipy import special, stats

from recall_claims import Regime, prediction

_NODES = 4000


@prediction(
    latex=r"\alpha_c(r) = \frac1{(1+k^2)\Phi(k)+k\varphi(k)},\quad "
    r"k = \frac{\varphi(\Phi^{-1}(1-r))}r",
    source="arXiv 2605.05189, C4",
    provenance="reported",
)
def critical_load(share: float) -> float:
    """Limit of n/d^2 up to which a linear memory exists that retrieves all pairs listwise.

    It tends to 2, Cover's capacity, as ``share`` tends to 1, and is about 1/(2 log(1/share)) for a
    small ``share``.

    Raises:
        ValueError: ``share`` is not between 0 and 1.

    >>> [round(critical_load(share), 4) for share in (0.5, 0.1, 0.01)]
    [0.6577, 0.2458, 0.1234]
    """
    _check_share(share)
    k = float(stats.norm.pdf(stats.norm.isf(share))) / share
    needed = (1 + k**2) * special.ndtr(k) + k * stats.norm.pdf(k)
    return float(1 / needed)


@prediction(
    latex=r"n\,E\,\mathrm{dist}^2(g,C) = d^2,\quad C = \{w: u\cdot w\ge|w|\cos\beta\}",
    source="arXiv 2605.05189, C4; derived",
)
def critical_associations(dim: int, share: float) -> float:
    """Number of pairs of unit vectors up to which a memory exists that retrieves all listwise.

    It is exact for circular cones, up to terms of 1/dim^2. Real memories store a few per cent more
    with many times ``dim`` top competitors, and 15% more with hardly more than ``dim`` of them.

    Raises:
        ValueError: ``share`` is not between 0 and 1, or ``dim`` is below 3.
    """
    _check_share(share)
    if dim < 3:
        raise ValueError(f"dim is {dim}: give at least 3")
    half = (dim - 1) / 2
    least = 2 * float(stats.beta.isf(share, half, half)) - 1
    log_density = special.gammaln(dim / 2) - special.gammaln(half) - math.log(math.pi) / 2
    average = math.exp(log_density + half * math.log1p(-(least**2))) / (2 * half * share)
    angles = (np.arange(_NODES) + 0.5) * math.pi / _NODES
    weights = np.sin(angles) ** (dim - 2)
    off = np.clip(angles - math.acos(average), 0, math.pi / 2)
    return float(dim / (weights @ np.sin(off) ** 2 / weights.sum()))


REGIME = Regime(
    "d >= 8, r d/(2 log(1/r)) >= 1.4, so that there are 3/2 d top competitors or more",
    {"dim": range(8, 65), "share": (0.5, 0.25, 0.75, 0.1, 0.9)},
    holds=lambda cell: cell["share"] * cell["dim"] / (2 * math.log(1 / cell["share"])) >= 1.4,
)
"""Regime in which real memories store at most 15% more than `critical_associations`."""


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise ValueError(f"share is {share}: give one between 0 and 1")
