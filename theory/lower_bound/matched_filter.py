r"""Matched filter: guess the label $k$ of largest $u_k^\top G z_x$, as after one gradient step.

The gradient is $G = UMZ^\top$, as in `gradient_channel`. Scores are in units of $1/(LV)$. The right
label scores its relative count $s = n/\lambda$, $\lambda = N/V$. Other tokens interfere through
overlaps of variance $1/d$, and the uninformative tokens add noise of variance $(L-1)/N$ per entry
of $LVM$, amplified by $(1 + V/d)^2$. Fluctuating label counts add $(L-1)(s_k-1)/V$ to a whole row
of M. In the scores of token $x$ this is multiplied by $c_x = z_x^\top\sum_w z_w \sim N(1,
(V-1)/d)$. A token's scores share $c_x$, so the accuracy is a mean over the law of $c_x$. The
score of label $k$ contains $M_{kx}$ with weight 1. For a rival $M_{kx}$ is a chance count, so its
score has the third cumulant $s(L-1)/(N\lambda)$, which matters at d of order V.
"""

import math
from functools import cache

from recall_claims import prediction
from theory.attention.problem import Problem
from theory.laws import quadrature, spectra
from theory.lower_bound import argmax_accuracy

REGIME, THRESHOLD = argmax_accuracy.REGIME, argmax_accuracy.THRESHOLD

_SOURCE = "paper A, arXiv 2603.15923, A3, A4 and A13; constants derived"
_BIAS_NODES = 9


@prediction(
    latex=r"\mathrm{Acc} = E_{s,c}\int\varphi(t)\,F\left(\frac{s+\sigma_At}{\sigma_B}\right)^{V-1}"
    r"dt,\quad \sigma_B^2 \simeq \left(1+\frac1\lambda\right)\left(\frac{V-1}{d^2}+\frac1d\right)"
    r"+\frac{s^2}{d}+\frac{L-1}{N}\left[\left(1+\frac{V-1}{d}\right)^2"
    r"+\frac{L-1}{V}\,c^2\left(1+\frac{V-1}{d}\right)\right]",
    source=_SOURCE,
    error=0.015,
    regime=REGIME,
)
@cache
def matched_filter_accuracy(problem: Problem) -> float:
    r"""Mean accuracy of the matched filter on the gradient of a training batch.

    The cumulative function F of a rival's score has Edgeworth's term for the third cumulant.
    """
    size, dim = problem.vocab_size, problem.dim
    law = argmax_accuracy.counts(problem)
    overlap = (size - 1) / dim
    noise = (problem.length - 1) / problem.samples * (1 + overlap)
    interference = law.square * overlap / dim
    # As in recall: covariance G^2 of the rivals' scores, G = U^T U.
    rank = spectra.effective_rank(size, dim)

    def given(read: float) -> float:
        row = read * (problem.length - 1) / size
        bias = row * (law.shares - 1)
        shared = interference + overlap * (noise + row**2 / problem.load)
        scores = argmax_accuracy.Scores(
            own=law.shares + bias,
            own_variance=shared + noise * law.shares,
            rival=bias,
            rival_variance=law.shares**2 / dim + noise * law.shares,
            rival_weights=law.weights,
            shared=shared,
            overlap=1 / dim,
            rank=rank,
            rival_third=(problem.length - 1) / problem.samples * law.shares / problem.load,
        )
        return argmax_accuracy.probability(scores, law, size)

    nodes, weights = quadrature.normal(_BIAS_NODES)
    return float(weights @ [given(1 + math.sqrt(overlap) * node) for node in nodes])


@prediction(
    latex=r"\mathrm{Acc}(V, L, N_c, d) = \frac12", source=_SOURCE, error="8%", regime=THRESHOLD
)
def critical_samples(problem: Problem) -> float:
    """Number of samples at which the matched filter guesses half of the labels right.

    0 if below V, infinite if above 2^30.
    """
    return argmax_accuracy.half_samples(matched_filter_accuracy, problem)
