"""Miss probability of a t bound, by importance sampling, at levels too small to count misses.

From a data set n values are drawn with replacement; a miss is a lower bound above the mean of the
data set. Misses of probability 1e-7 happen when the t statistic S/V, S the sum and V the root of
the sum of squares, reaches a large value c. That is so when b S - b^2 V^2/2 >= c^2/2 for some b, so
the values are drawn with weights exp theta (b x - b^2 x^2/2) instead. Theta makes the mean of the
exponent equal c^2/(2n), and b is where such a deviation is the least unlikely (self-normalised
tilting: Q.-M. Shao, "Self-normalized large deviations", Ann. Probab. 25, 285, 1997). The result is
a certificate for that data set, no theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, special, stats

from recall_claims.judge.methods import Array, student_quantiles

PRECISION = 0.1
"""Relative standard error at which a probability is good enough."""
BATCH = 2**19
MOST = 100


@dataclass(frozen=True)
class Estimate:
    """A probability with its standard error."""

    value: float
    error: float


@dataclass(frozen=True)
class Tilt:
    """Weights of a data set's values, and the factors by which they change a sample's probability.

    Attributes:
        weights: of the values, adding up to 1.
        log_ratios: of each value: tilted over true probability, in logarithms.
    """

    weights: Array
    log_ratios: Array

    def draw(self, rows: int, count: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
        """Samples as indices of values, shape (rows, count)."""
        # How often each value occurs in all samples, then in which order: faster than one by one.
        often = rng.multinomial(rows * count, self.weights / self.weights.sum())
        drawn = np.repeat(np.arange(self.weights.size), often)
        rng.shuffle(drawn)
        return drawn.reshape(rows, count)


def misses(
    world: Array,
    count: int,
    level: float,
    rng: np.random.Generator,
    judged: Callable[[npt.NDArray[np.intp]], Array] | None = None,
) -> Estimate:
    """Probability that the lower end of a t interval at this level exceeds the data set's mean.

    Half of the samples are tilted towards the quantile of Student's t, and half towards Hall's for
    the skewness of the data set. Samples without a tail miss at the former, others at the latter.

    Args:
        world: the values that samples are drawn from, shape (values,).
        count: values in a sample.
        level: of the end, as it is used.
        rng: what draws.
        judged: maps samples, as indices of values, to the values of mean 0 that are judged instead;
            for values that depend on all others of their sample.
    """
    standard = (world - world.mean()) / world.std()
    quantiles = {
        float(student_quantiles(count, skewness, level)[0])
        for skewness in (0.0, stats.skew(standard))
    }
    tilts = [t for t in (tilted(standard, count, q) for q in sorted(quantiles)) if t is not None]
    if not tilts:
        return Estimate(0.0, 0.0)
    total = squares = 0.0
    samples, rows = 0, max(1, BATCH // (count * len(tilts)))
    for _ in range(MOST):
        drawn = np.concatenate([tilt.draw(rows, count, rng) for tilt in tilts])
        logs = [tilt.log_ratios[drawn].sum(axis=1) for tilt in tilts]
        proposed = special.logsumexp(logs, axis=0) - math.log(len(tilts))
        ratios = np.exp(-proposed) * missed(judged(drawn) if judged else standard[drawn], level)
        total, squares = total + ratios.sum(), squares + (ratios**2).sum()
        samples += len(drawn)
        value = total / samples
        error = math.sqrt(max(squares / samples - value**2, 0.0) / samples)
        if samples >= 1000 and value > 0 and error <= PRECISION * value:
            break
    return Estimate(float(value), error)


def missed(samples: Array, level: float) -> Array:
    """Mark the samples, rows of values of mean 0, with a lower bound above 0; shape (rows,)."""
    count = samples.shape[1]
    mean = samples.mean(axis=1)
    off = samples - mean[:, None]
    square = off * off
    second, third = square.mean(axis=1), (square * off).mean(axis=1)
    varies = np.ptp(samples, axis=1) > 1e-12 * np.abs(samples).max(axis=1)
    second = np.where(varies, second, 1.0)
    skewness = third / second**1.5 * math.sqrt(count * (count - 1)) / (count - 2)
    below, _ = student_quantiles(count, skewness, level)
    found: Array = varies & (mean > below * np.sqrt(second / (count - 1)))
    return found


def tilted(world: Array, count: int, quantile: float) -> Tilt | None:
    """The tilt towards samples whose t statistic is the quantile; None if none can have it."""
    needed = quantile**2 / (2 * (count - 1 + quantile**2))  # c^2 / (2n)

    def best_theta(exponents: Array) -> float | None:
        def excess(theta: float) -> float:
            weights = np.exp(theta * (exponents - exponents.max()))
            return float(weights @ exponents / weights.sum()) - needed

        if exponents.max() <= needed * (1 + 1e-9):
            return None
        high = 1.0
        while excess(high) < 0:
            high *= 2
            if high > 2**40:
                return None
        return float(optimize.brentq(excess, 0.0, high))

    usual, found, largest = math.log(math.sqrt(2 * needed)), None, -math.inf
    for log_b in np.linspace(usual - 2, usual + 2, 17):
        b = math.exp(log_b)
        exponents = b * world - b**2 * world**2 / 2
        theta = best_theta(exponents)
        if theta is None:
            continue
        log_mean = _log_mean_exp(theta * exponents)
        rate = log_mean - theta * needed  # of the probability of such a deviation, per value
        if rate > largest:
            logs, largest = theta * exponents - log_mean, rate
            found = Tilt(np.exp(logs) / world.size, logs)
    return found


def _log_mean_exp(values: Array) -> float:
    top = values.max()
    return float(top + math.log(np.exp(values - top).mean()))
