"""Probability that the right label outscores all others, for any linear estimator."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recall_claims import log_range
from theory.attention.problem import SIZES, Problem
from theory.laws import crossing, quadrature, sphere
from theory.laws.quadrature import Array

_COUNT_NODES = 10
REGIME = SIZES.searched(
    "V >= 256, d from 30 to V - 2 and N >= 8 V",
    holds=lambda cell: (
        30 <= cell["dim"] <= cell["vocab_size"] - 2 and cell["samples"] >= 8 * cell["vocab_size"]
    ),
    vocab_size=log_range(256, 131072),
    length=log_range(2, 256),
    samples=log_range(2048, 1048576),
    dim=log_range(30, 4096),
    without=("trigger_in_values",),
)
THRESHOLD = SIZES.searched(
    "V >= 256, d from 30 to V - 2, N_c of 8 V or more",
    holds=lambda cell: 30 <= cell["dim"] <= cell["vocab_size"] - 2,
    vocab_size=log_range(256, 1024),
    length=log_range(2, 256),
    samples=(1,),
    dim=log_range(30, 512),
    without=("trigger_in_values",),
)

_SCORE_NODES = 24
_SCALE_NODES = 5


@dataclass(frozen=True)
class Counts:
    r"""Relative counts $s = n/\lambda$ of a label, $\lambda = N/V$: quadrature and two moments.

    Attributes:
        shares: values of $s$, shape (count,).
        weights: their probabilities.
        square: $E s^2$.
        kurtosis: $E s^4/(E s^2)^2$.
    """

    shares: Array
    weights: Array
    square: float
    kurtosis: float


def counts(problem: Problem) -> Counts:
    """Binomial law of the label counts of ``problem``."""
    nodes, weights = quadrature.binomial(problem.samples, 1 / problem.vocab_size, _COUNT_NODES)
    shares = nodes / problem.load
    square = float(weights @ shares**2)
    return Counts(shares, weights, square, float(weights @ shares**4) / square**2)


@dataclass(frozen=True)
class Scores:
    r"""Scores of one token in units $1/(LV)$, as functions of the label's relative count.

    Attributes:
        own: mean score of the right label, shape (count,).
        own_variance: variance of this score, (count,).
        rival: mean score of another label, by that label's count and other properties of rivals,
            (rivals,).
        rival_variance: the part of the rival's variance that depends on these properties,
            (rivals,).
        rival_weights: probabilities of these properties, (rivals,).
        shared: the part of a rival's variance that depends on the token, not on the rival.
        overlap: mean squared correlation of the directions along which two labels are scored; (own
            signal)^2 times ``overlap`` adds to the variance of the rivals.
        rank: effective number of independent directions among the rivals' scores.
        rival_third: third cumulant of the rival's score, (rivals,), or 0 for none.
    """

    own: Array
    own_variance: Array
    rival: Array
    rival_variance: Array
    rival_weights: Array
    shared: float
    overlap: float
    rank: float
    rival_third: Array | float = 0.0


def probability(scores: Scores, law: Counts, vocab_size: int) -> float:
    r"""Probability that the right label scores highest, averaged over counts.

    As in `theory.attention.recall`, a label's score is a coordinate of one vector $y$ for each
    token. So all rivals share $|y|^2$, which fluctuates (gamma, variance
    $2/D + (3 E s^4/(E s^2)^2 - 1)/V$, $D$ = ``rank``), and contains the token's own score. Given
    $|y|^2$, a rival's score has the law of a coordinate of a sphere in $D$ dimensions. A third
    cumulant adds the first term of Edgeworth's series to this law.
    """
    scale, scale_weight = quadrature.gamma(
        2 / scores.rank + (3 * law.kurtosis - 1) / vocab_size, _SCALE_NODES
    )
    normal, normal_weight = quadrature.normal(_SCORE_NODES)

    # Axes: own count, length, own score, rival.
    signal, r = law.shares.reshape(-1, 1, 1), scale.reshape(-1, 1)
    noise = np.sqrt(scores.own_variance.reshape(-1, 1, 1) * r) * normal
    own = scores.own.reshape(-1, 1, 1) + noise
    length = r * scores.shared + scores.overlap * np.maximum(signal * (signal + 2 * noise), 0.0)
    margin = own[..., None] - scores.rival
    spread = np.sqrt(length[..., None] + scores.rival_variance)
    z = margin / spread
    skewed = scores.rival_third / spread**3 * (z**2 - 1) * np.exp(-(z**2) / 2)
    below = sphere.cdf(z, scores.rank) - skewed / (6 * math.sqrt(2 * math.pi))
    best = (below @ scores.rival_weights).clip(0, 1) ** (vocab_size - 1)
    return float(law.weights @ (best @ normal_weight) @ scale_weight)


def half_samples(accuracy: Callable[[Problem], float], problem: Problem) -> float:
    """Number of samples at which ``accuracy`` is 1/2; infinite if above 2^30, 0 if below V."""
    return crossing.log_root(
        lambda samples: accuracy(problem.replace(samples=round(samples))),
        problem.vocab_size,
        2**30,
        level=0.5,
        tolerance=1e-4,
    )
