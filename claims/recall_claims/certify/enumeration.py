"""The exact probability that a test by betting ever rejects, for observations of 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from recall_claims.judge.methods import STAKES, Array


def rejection(rate: float, mean: float, alpha: float, counts: Sequence[int]) -> float:
    """Probability that a rate is ever shown, at level alpha, to exceed `mean`.

    For a rate that is shown to be less, give 1 - rate and 1 - mean.

    Args:
        rate: the true one.
        mean: the one that is bet against.
        alpha: the test's level.
        counts: replicates at each look, growing.
    """
    alive, seen, rejected = np.ones(1), 0, 0.0
    for count in counts:
        more = count - seen
        alive = np.convolve(alive, stats.binom.pmf(np.arange(more + 1), more, rate))
        seen = count
        over = _log_wealths(count, mean) >= math.log(1 / alpha)
        rejected += float(alive[over].sum())
        alive[over] = 0.0
    return rejected


def _log_wealths(count: int, mean: float) -> Array:
    """Of who bets on more than `mean`, after each possible number of ones among `count`."""
    ones = np.arange(count + 1)
    win, lose = np.log1p(STAKES * (1 / mean - 1)), np.log1p(-STAKES)
    logs = win[:, None] * ones + lose[:, None] * (count - ones)
    wealths: Array = special.logsumexp(logs, axis=0) - math.log(STAKES.size)
    return wealths
