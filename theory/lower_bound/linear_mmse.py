r"""Linear MMSE: remove the embeddings' overlaps by pseudo-inverses on both sides, then guess.

Signal and noise of the Gaussian-equivalent channel have covariances proportional to
$UU^\top\otimes ZZ^\top$ (`gradient_channel`), so the pseudo-inverse is the best linear estimate. In
the $V - 1$ directions of mean zero it projects M to rank $d$ for labels and $d' = d - 1$ for tokens
(as label counts are unknown, one token direction is projected out). With $\delta = d/(V-1)$ an
overlap has variance $(1-\delta)/d$, not $1/d$, and noise is amplified by $1/\delta$ on each side.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from recall_claims import prediction
from theory.attention.problem import Problem
from theory.laws import quadrature
from theory.laws.quadrature import Array
from theory.lower_bound import argmax_accuracy
from theory.lower_bound.argmax_accuracy import Counts

THRESHOLD = argmax_accuracy.THRESHOLD
REGIME = argmax_accuracy.REGIME

_SOURCE = "paper A, arXiv 2603.15923, A3, A4 and A13; constants derived"
_OWN_NODES, _RIVAL_NODES = 6, 12
"""Points of `meetings` for right label and rivals. Fewer leave steps in laws at d near V."""


@dataclass(frozen=True)
class Meetings:
    r"""Excess of an entry of M over its mean, from chance meetings of a token and a label.

    A meeting: the token is uninformative in a sequence of the label.

    Attributes:
        shares: relative counts of the label, (count,).
        excess: meetings minus their mean, in units of the mean count of a label, (count,).
        weights: probabilities, (count,).
        variance: variance of the excess at fixed label count, per relative count.
    """

    shares: Array
    excess: Array
    weights: Array
    variance: float


def meetings(problem: Problem, law: Counts, nodes: int) -> Meetings:
    """Binomial law of chance meetings at each label count, as ``nodes`` points.

    With one point the excess and its variance are 0.
    """
    chance, others = 1 / problem.vocab_size, problem.length - 1
    shares, excess, weights = [], [], []
    for share, weight in zip(law.shares, law.weights, strict=True):
        draws = round(share * problem.load * others)
        met, probability = quadrature.binomial(draws, chance, nodes)
        excess.append((met - draws * chance) / problem.load)
        shares.append(np.full(len(met), share))
        weights.append(weight * probability)
    return Meetings(
        shares=np.concatenate(shares),
        excess=np.concatenate(excess),
        weights=np.concatenate(weights),
        variance=others / problem.samples * (1 - chance) if nodes > 1 else 0.0,
    )


@prediction(
    latex=r"\mathrm{Acc} = E_s\int\varphi(t)\,F\left(\frac{s+\sigma_At}{\sigma_B}\right)^{V-1}dt,"
    r"\quad \sigma_B^2 \simeq \left(1+\frac1\lambda\right)\left[\frac{(1-\delta)^2V}{d^2}"
    r"+\frac{1-\delta}{d}\right]+\frac{s^2(1-\delta)}{d}+\frac{L-1}{N\delta^2}",
    source=_SOURCE,
    error=0.015,
    regime=REGIME,
)
@cache
def linear_mmse_accuracy(problem: Problem) -> float:
    r"""Mean accuracy of the linear MMSE estimate on the gradient of a training batch.

    By chance a token meets a label of relative count $s$ on average $\mu s$ times,
    $\mu = N(L-1)/V^2$. For $\mu$ of order 1 the skewness of this number matters. A rival's
    score contains its own entry of M, and so this number. Rivals with high counts $s$ fluctuate
    most. Above V/2 dimensions the right label's score has little other noise, and is
    skewed too.

    Raises ValueError: the dimension is not between 3 and V - 2.
    """
    if not 3 <= problem.dim <= problem.vocab_size - 2:
        raise ValueError(
            f"dim is {problem.dim}: give from 3 to vocab_size - 2 = {problem.vocab_size - 2}"
        )
    size, law = problem.vocab_size, argmax_accuracy.counts(problem)
    label_rank, token_rank = problem.dim, problem.dim - 1
    label_share, token_share = label_rank / (size - 1), token_rank / (size - 1)
    label_overlap, token_overlap = (1 - label_share) / label_rank, (1 - token_share) / token_rank
    noise = (problem.length - 1) / problem.samples / token_share
    shared = law.square * size * label_overlap * token_overlap + noise * (1 / label_share - 1)
    # Leverages of unit vectors fluctuate by 2(1 - share)/V relative to their square.
    leverage = 2 * (2 - label_share - token_share) / size
    own = meetings(problem, law, _OWN_NODES if token_share > 0.5 else 1)
    # A rival reads its own entry of M with weight 1.
    rival = meetings(problem, law, _RIVAL_NODES)
    scores = argmax_accuracy.Scores(
        own=own.shares + own.excess,
        own_variance=shared + own.shares**2 * leverage + (noise - own.variance) * own.shares,
        rival=rival.excess,
        rival_variance=rival.shares**2 * token_overlap + (noise - rival.variance) * rival.shares,
        rival_weights=rival.weights,
        shared=shared,
        overlap=label_overlap,
        rank=1 / label_overlap,
    )
    return argmax_accuracy.probability(
        scores, replace(law, shares=own.shares, weights=own.weights), size
    )


@prediction(
    latex=r"\mathrm{Acc}(V, L, N_c, d) = \frac12", source=_SOURCE, error="8%", regime=THRESHOLD
)
def critical_samples(problem: Problem) -> float:
    """Number N of samples at which half of the labels are guessed right.

    0 if below V, infinite if above 2^30. Raises ValueError as `linear_mmse_accuracy`.
    """
    return argmax_accuracy.half_samples(linear_mmse_accuracy, problem)
