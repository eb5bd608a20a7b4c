r"""Explicit one-layer transformers for factual recall: how many dimensions and hidden units they need.

$SR$ facts: subject $s$ and relation $r$ have the answer $a^*(s,r)$, uniform in block $r$ of $R$
blocks of $D$ answers; all embeddings are uniform on the unit sphere of $\mathbb R^d$.

**Attention alone.** One head per group of $g$ tokens finds the group's token and outputs its code.
Subject $s$ has the code $y_s$, the least vector with logit 1 at its $R$ answers, relation $r$ the
least $y_r$ with logit 1 at its $D$. Then $u_a^\top(y_s+y_r)$ is 2 at the answer, 1 plus noise at
the other answers to $s$ or of $r$, and pure noise elsewhere. $1/|y_s| = h$ is the distance from
the origin to the affine hull of $R$ uniform points of the sphere; by the affine Blaschke-Petkantschin
formula its density is proportional to $h^{d-R}(1-h^2)^{(Rd-d-R-1)/2}$, so

$$ h_n^2 \sim \mathrm{Beta}\Big(\frac{d-n+1}2,\ \frac{(n-1)(d-1)}2\Big), \qquad n = R
   \text{ (subject)},\ n = D \text{ (relation)}. $$

An answer outside the hull, uniform on the sphere, disturbs iff its coordinate along $y$ exceeds $h$.
With $F$ the law of a coordinate, and up to the weak dependence between different codes,

$$ P(\text{all right}) = \big(E F(h_R)^{R(D-1)}\big)^S\,\big(E F(h_D)^{(R-1)K}\big)^R\,e^{-\mu},
   \qquad K = D\big(1-(1-1/D)^S\big) . $$

A subject has $R(D-1)$ rivals, each of a fact of its own. A relation's rivals are the answers of the
other blocks that some subject has, $K$ a block, *shared by all those subjects*: this is why $D$
costs fewer dimensions than a union bound over facts says. $\mu$ counts the few rivals that gain
logit 1 from both codes together. At leading order

$$ d^* \sim \max\{R\,(1+2\ln SRD),\ D\,(1+2\ln R^2D)\} . $$

**MLP.** Codes are random, and $F(z)=V^\top\sigma(Wz+b)$ with $m$ cosine features stores
$N=SR$ associations as a plain sum. Two features' overlap is a kernel that vanishes off the
diagonal, up to noise of variance $1/m$: `mlp_width`.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from theory.registry import prediction

_SOURCE = "paper B, arXiv 2412.06538, B3 to B5; constants derived"

Array = NDArray[np.float64]


def _require(**sizes: float) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} is {size}: give at least 1")


def _coordinate_log_cdf(x: Array, dim: float) -> Array:
    """log P(coordinate < x) of a uniform unit vector."""
    half = (dim - 1) / 2
    tail: Array = special.betainc(half, half, np.clip((1 - x) / 2, 0, 1))
    return np.log1p(-np.minimum(tail, 1 - 1e-300))


@lru_cache(maxsize=4096)
def _hull(points: int, dim: float) -> Array:
    """Equally likely distances from the origin to the affine hull of uniform points."""
    if points == 1:
        return np.ones(1)
    chances = (np.arange(64) + 0.5) / 64
    law = stats.beta((dim - points + 1) / 2, (points - 1) * (dim - 1) / 2)
    return np.sqrt(np.asarray(law.ppf(chances)))


def _undisturbed(points: int, rivals: float, dim: float) -> float:
    """log P(no rival exceeds the logit 1 that a code gives to so many answers)."""
    logs = rivals * _coordinate_log_cdf(_hull(points, dim), dim)
    return float(special.logsumexp(logs) - math.log(logs.size))


def _twice(relations: int, answers: int, dim: float) -> float:
    """P(a rival gains logit 2 from both codes, neither of which holds it)."""
    overlap = 2 / ((1 - relations / dim) * (1 - answers / dim))
    length = relations / (1 - relations / dim) + answers / (1 - answers / dim) + overlap
    x = np.array([min(2 / math.sqrt(length), 1.0)])
    return -float(np.expm1(_coordinate_log_cdf(x, dim))[0])


def _all_right(subjects: int, relations: int, answers: int, dim: float) -> float:
    used = answers * (1 - (1 - 1 / answers) ** subjects)
    both = subjects * relations * (relations - 1) * (answers - 1)
    return math.exp(
        subjects * _undisturbed(relations, relations * (answers - 1), dim)
        + relations * _undisturbed(answers, (relations - 1) * used, dim)
        - both * _twice(relations, answers, dim)
    )


def accuracy(subjects: int, relations: int, answers: int, dim: int) -> float:
    return math.exp(
        _undisturbed(relations, answers - 1, dim)
        + _undisturbed(answers, relations - 1, dim)
    ) * (1 - _twice(relations, answers, dim)) ** ((relations - 1) * (answers - 1))


def attention_dim(subjects: int, relations: int, answers: int) -> float:
    least = max(relations, answers) + 1.0

    def excess(log_dim: float) -> float:
        return _all_right(subjects, relations, answers, math.exp(log_dim)) - 0.5

    return math.exp(float(optimize.brentq(excess, math.log(least), math.log(100 * least))))
