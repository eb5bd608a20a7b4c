r"""Heads that add codes: the least dimension in which codes exist that store the facts.

Without an MLP the logits are $u_a^\top(y_s + y_r)$ for any heads that each add the code of one
token. If $y_r$ separates the relation's answers, two conditions are necessary:

- *Subjects.* For each relation the code $y_s$ must prefer the right answer: $R$ answers, each
  against $D-1$ rivals. With Gaussian embeddings the logits $Uy$ of a free $y\in\mathbb R^d$ are a
  uniformly random $d$-dimensional subspace of $\mathbb R^{RD}$; it meets the cone $C^R$,
  $C = \{v\in\mathbb R^D: v_1\ge v_j\}$, from $d = R\,\delta_0(D)$ on,

  $$ \delta_0(D) = E\,\mathrm{dist}^2(z, C) = D - \delta(C) \sim 2\ln D , $$

  with a normal vector z. $\delta$ is the statistical dimension of a cone (D. Amelunxen, M. Lotz, M.
  B. McCoy, J. A. Tropp, "Living on the edge: phase transitions in convex programs with random
  data", Inf. Inference 3, 224, 2014). For D = 2, $\delta_0 = 1/2$, as in Cover's count of separable
  dichotomies.
- *Relations.* Likewise a code $y_r$ can put all its answers $A_r$ above all others from
  $d = E\,\mathrm{dist}^2(z, \{v: \min_{A_r}v\ge\max_{A_r^c}v\})$ on.

The transition is sharp, of width $O(\sqrt d)$ in $d$, and its centre is off by $O(1)$. Neither
condition bounds trained transformers: their heads can mix subject and relation in one softmax.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recall_claims import Regime, log_range, prediction
from theory.laws import crossing
from theory.laws.quadrature import Array

SHAPES = Regime("", {"relations": log_range(2, 128), "answers": log_range(2, 64)})
SUBJECTS = SHAPES.searched(
    "R log2 D >= 20, so that there are 10 dimensions and more",
    holds=lambda cell: cell["relations"] * math.log2(cell["answers"]) >= 20,
)
RELATIONS = SHAPES.searched(
    "D log2 R >= 15, so that there are 10 dimensions and more",
    holds=lambda cell: cell["answers"] * math.log2(cell["relations"]) >= 15,
)
_SOURCE = "paper B, arXiv 2412.06538, B4; derived with the statistical dimension of convex cones"


@prediction(
    latex=r"d = R\,E\min_\theta\Big[(z_1-\theta)^2+\sum_{j>1}(z_j-\theta)_+^2\Big]",
    source=_SOURCE,
    error="8%",
    regime=SUBJECTS,
)
def subject_dim(relations: int, answers: int) -> float:
    r"""Dimension from which a subject's code can exist, $R\,\delta_0(D)$.

    Stated error against a numerical search for the code: {error}.

    Raises ValueError: no relation, or fewer than two answers.
    """
    _require(relations, answers)
    return relations * _distance(1, answers - 1, fixed=True)


@prediction(
    latex=r"d = E\min_\theta\Big[\sum_{a\in A_r}(\theta-z_a)_+^2"
    r"+\sum_{a\notin A_r}(z_a-\theta)_+^2\Big]",
    source=_SOURCE,
    error="8%",
    regime=RELATIONS,
)
def relation_dim(relations: int, answers: int) -> float:
    """Dimension from which a relation's code can exist that puts all its answers above all others.

    Stated error against a numerical search for the code: {error}.

    Raises ValueError: fewer than two relations, or fewer than two answers.
    """
    _require(relations - 1, answers)
    return _distance(answers, (relations - 1) * answers, fixed=False)


def _require(relations: int, answers: int) -> None:
    if relations < 1 or answers < 2:
        raise ValueError("too few relations or answers to distinguish")


@lru_cache(maxsize=256)
def _distance(above: int, below: int, *, fixed: bool) -> float:
    """Mean squared distance of a normal vector to {min of first >= max of others}.

    There are ``above`` first and ``below`` other coordinates. An average over draws from a fixed
    stream, with a standard error of 0.2% to 0.9% in `SHAPES`. The projection onto this cone sets
    the coordinates on the wrong side of a level t to t. Given the number of these coordinates,
    dist^2 is chi-squared; its degrees of freedom are the codimension of the face.

    ``fixed``: the single first coordinate always equals the level.
    """
    rng = np.random.default_rng(20241210)
    draws = 500_000 // (above + below) + 2
    upper, lower = rng.standard_normal((draws, above)), rng.standard_normal((draws, below))

    def past(level: Array) -> NDArray[np.bool_]:
        """Whether the squared distance, a convex function of the level, rises at this level."""
        gap = level - upper
        pull = gap.sum(1) if fixed else np.maximum(gap, 0).sum(1)
        rising: NDArray[np.bool_] = pull > np.maximum(lower - level, 0).sum(1)
        return rising[:, None]

    level = crossing.bisected(past, np.full((draws, 1), -9.0), np.full((draws, 1), 9.0), steps=30)
    wrong = (lower > level).sum(1)
    if not fixed:
        wrong = np.maximum(wrong + (upper < level).sum(1) - 1, 0)
    return float(wrong.mean())
