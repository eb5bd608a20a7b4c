r"""Linear MMSE: undo the overlaps of the embeddings by pseudo-inverses on both sides, then guess.

Signal and noise of the Gaussian-equivalent channel have covariances that are both proportional to
$UU^\top\otimes ZZ^\top$, so the pseudo-inverse is the best linear estimate. It reads M through
projectors of rank $d$ and $d' = d - 1$ in the $V - 1$ directions of mean zero (one token direction
is struck out with the unknown label counts). With $\delta = d/(V-1)$ an overlap has variance
$(1-\delta)/d$ rather than $1/d$, and noise is amplified by $1/\delta$ on each side.
"""

from functools import cache

import numpy as np

from recall_claims import prediction
from theory.attention.problem import Problem
from theory.laws import quadrature
from theory.lower_bound import argmax_accuracy

THRESHOLD = argmax_accuracy.THRESHOLD
REGIME = argmax_accuracy.REGIME.searched(
    "d up to 0.6 V", holds=lambda cell: 5 * cell["dim"] <= 3 * cell["vocab_size"]
)

_SOURCE = "paper A, arXiv 2603.15923, A3, A4 and A13; constants derived"
_MEETING_NODES = 8


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

    A token meets a label by chance $\mu = NL/V^2$ times. Where $\mu$ is of order 1 the skewness of
    that count matters, and it enters through the score that a rival has from its own entry of M.
    With more dimensions the formula is too high where noise rules. At V = L = 256 and N = 2048, by
    256 batches and more, it is 0.006, 0.020, 0.028, 0.047 and 0.074 too high for d = 128, 192, 230,
    246 and 254.

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
    # A rival reads its own entry of M with weight 1: the skewed count of chance meetings.
    chance = 1 / size**2
    meetings, meeting_weights = quadrature.binomial(
        problem.samples * (problem.length - 1), chance, _MEETING_NODES
    )
    strays = meetings / problem.load
    mean = (problem.length - 1) / size
    scores = argmax_accuracy.Scores(
        own=law.shares,
        own_variance=shared + law.shares**2 * leverage + noise * law.shares,
        rival=np.tile(strays - mean, len(law.shares)),
        rival_variance=np.repeat(
            law.shares**2 * token_overlap + noise * (1 - token_share) * law.shares, len(strays)
        ),
        rival_weights=np.outer(law.weights, meeting_weights).ravel(),
        shared=shared,
        overlap=label_overlap,
        rank=1 / label_overlap,
    )
    return argmax_accuracy.probability(scores, law, size)


@prediction(
    latex=r"\mathrm{Acc}(V, L, N_c, d) = \frac12", source=_SOURCE, error="8%", regime=THRESHOLD
)
def critical_samples(problem: Problem) -> float:
    """N at which half of the labels are guessed right; infinite if none below 2^30."""
    return argmax_accuracy.half_samples(linear_mmse_accuracy, problem)
