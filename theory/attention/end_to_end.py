r"""End to end: the probability that a fresh sequence gets its label after three gradient steps.

A fresh sequence gets its label if its informative token is found and then recalled. Finding and
recall are almost independent: accuracy = localisation x recall. They are coupled because attention
also misses some informative tokens in training, and other tokens are stored instead. The
probability P that attention finds the informative token is equal in training and fresh sequences.
P differs from replicate to replicate (by the realised signal-to-noise ratio SNR) and from token
to token (by the token's own score $t$). With $F_D$ and $L_{eff}$ as in `localisation`

$$ P(\mathrm{SNR}, t) = F_D(t + \mathrm{SNR})^{L_{eff}} . $$

The memory holds a token of score $t$ with the weight of the samples that found it,
$n \sim \mathrm{Bin}(N, P(\mathrm{SNR},t)/V)$. The mean and the mean square of $P(\mathrm{SNR},
\cdot)$ over tokens set the variance of the interference. Orthonormal embeddings raise ValueError.
"""

import numpy as np
from scipy.interpolate import CubicSpline

from recall_claims import prediction
from theory.attention import localisation, recall
from theory.attention.problem import SIZES, Problem
from theory.laws import quadrature, sphere
from theory.laws.quadrature import Array

REGIME = localisation.SPARSE
DENSER = SIZES.searched(
    "d >= 12, L >= 8, V >= 2 d and L <= V/4",
    holds=lambda cell: (
        cell["vocab_size"] >= 2 * cell["dim"] and 4 * cell["length"] <= cell["vocab_size"]
    ),
)
"""Regime in which the claim on `end_to_end_accuracy` allows 1.5 times the stated error."""

_SOURCE = "paper A, arXiv 2603.15923, A7 and A9 (accuracy after three steps); formula derived"
_REPLICATE_NODES = 10
_TOKEN_NODES = 48
_COUNT_POINTS = 24


def _given_localisation(problem: Problem, found: Array, weights: Array) -> float:
    """Accuracy, averaged by ``weights`` over tokens that are found with probabilities ``found``."""
    mean, square = float(weights @ found), float(weights @ found**2)
    if mean <= 0:
        return 0.0
    counts, chances = zip(
        *(recall.count_nodes(problem, attended=max(float(p), 1e-12)) for p in found), strict=True
    )
    # The accuracy is a smooth function of the count: a few points and interpolation will do.
    grid = np.linspace(0.0, max(float(c.max()) for c in counts), _COUNT_POINTS)
    attended = recall.Attended(mean, square)
    right = CubicSpline(grid, recall.given_count(problem, grid, attended=attended))
    recalled = np.array(
        [chance @ right(count) for count, chance in zip(counts, chances, strict=True)]
    )
    return float(weights @ (found * recalled))


@prediction(
    latex=r"\mathrm{Acc} = E_{\mathrm{SNR}}E_{t}\left[P(\mathrm{SNR},t)\,"
    r"\mathrm{Recall}(n, P(\mathrm{SNR},\cdot))\right],"
    r"\quad n\sim\mathrm{Bin}(N,P(\mathrm{SNR},t)/V)",
    source=_SOURCE,
    error=0.04,
    regime=REGIME,
)
def end_to_end_accuracy(problem: Problem) -> float:
    r"""Probability that the trained model gives a fresh sequence its label.

    Wrong tokens that happen to give the right label are neglected; they add about 1/V. Finite size:
    within {error}, in the regime of `localisation.probability`.

    Raises ValueError: the embeddings are orthonormal.
    """
    ratios, masses = quadrature.merged(*localisation.replicate_snr(problem), _REPLICATE_NODES)
    dim = localisation.marginal_dim(problem)
    scores, weights = sphere.nodes(dim, _TOKEN_NODES)
    distractors = localisation.distinct_distractors(problem.length, problem.vocab_size)
    found = sphere.cdf(scores + ratios[:, None], dim) ** distractors
    each = [_given_localisation(problem, chances, weights) for chances in found]
    return float(masses @ each)


@prediction(
    latex=r"\mathrm{Acc} = P\cdot\mathrm{Recall}", source=_SOURCE, error=0.07, regime=REGIME
)
def product(problem: Problem) -> float:
    r"""Localisation times recall, for a memory that was trained with perfect localisation.

    The product neglects that training misses some tokens. Two effects of this nearly cancel: the
    memory lacks these tokens, which lowers recall, but in fresh sequences attention misses the same
    tokens.

    Raises ValueError: the embeddings are orthonormal.
    """
    return localisation.probability(problem) * recall.recall_accuracy(problem)
