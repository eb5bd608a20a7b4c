"""Miss probability of a t bound, by importance sampling, at levels too small to count misses.

A sample is n values, drawn with replacement from a data set of mean 0. A miss is a lower bound
above 0. Let S be the sum of a sample, and V the root of its sum of squares. A miss of probability
1e-7 happens when S/V, which grows with the t statistic, reaches a large value c. S/V >= c means
b S - b^2 V^2/2 >= c^2/2 for some b. So we draw a value x of the data set with the weight
exp(theta (b x - b^2 x^2/2)). Theta makes the mean of b x - b^2 x^2/2 equal to c^2/(2n), and b makes
such a deviation the most probable. This is self-normalised tilting (Q.-M. Shao, "Self-normalized
large deviations", Ann. Probab. 25, 285, 1997). The result is a certificate for that data set, not a
theorem.
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
"""Relative standard error at which sampling ends."""
BATCH = 2**19
"""Number of values to draw at a time."""
MOST = 100
"""Largest number of batches; after these, the standard error may be larger."""


@dataclass(frozen=True)
class Estimate:
    """A probability with its standard error."""

    value: float
    error: float


def misses(
    world: Array,
    count: int,
    level: float,
    rng: np.random.Generator,
    judged: Callable[[npt.NDArray[np.intp]], Array] | None = None,
) -> Estimate:
    """Estimate how often a lower bound by `student_quantiles` exceeds the data set's mean.

    Half of the samples are tilted towards the quantile of Student's t, and half towards Hall's,
    which corrects for the data set's skewness (`student_quantiles`). Samples miss near Hall's
    quantile if the data set has a long tail, and otherwise near Student's. If samples can reach
    only one of these quantiles, all are tilted towards this one; if they can reach neither, the
    probability is 0.

    Args:
        world: the values that samples are drawn from, shape (values,).
        count: values in a sample.
        level: error probability of the lower bound.
        rng: generator of the samples.
        judged: computes the values to judge, of mean 0, from the indices of samples' values; both
            have the shape (samples, count). Needed if each value depends on the whole sample. By
            default, the drawn values are judged.
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
        drawn = np.concatenate([_drawn(tilt, rows, count, rng) for tilt in tilts])
        logs = [tilt[drawn].sum(axis=1) for tilt in tilts]
        proposed = special.logsumexp(logs, axis=0) - math.log(len(tilts))
        ratios = np.exp(-proposed) * missed(judged(drawn) if judged else standard[drawn], level)
        total, squares = total + ratios.sum(), squares + (ratios**2).sum()
        samples += len(drawn)
        value = total / samples
        error = math.sqrt(max(squares / samples - value**2, 0.0) / samples)
        if samples >= 1000 and value > 0 and error <= PRECISION * value:
            break
    return Estimate(float(value), error)


def _drawn(tilt: Array, rows: int, count: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Draw tilted samples, as indices of values, shape (rows, count)."""
    weights = np.exp(tilt)
    # First how often each value occurs in all samples, then in which order: this is faster.
    often = rng.multinomial(rows * count, weights / weights.sum())
    drawn = np.repeat(np.arange(weights.size), often)
    rng.shuffle(drawn)
    return drawn.reshape(rows, count)


def missed(samples: Array, level: float) -> Array:
    """Mark the rows of `samples` with a lower bound above the true mean 0; return shape (rows,)."""
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


def tilted(world: Array, count: int, quantile: float) -> Array | None:
    """Find the tilt to samples whose t statistic is `quantile`; None if no sample reaches it.

    The tilt is the log ratio of each value's tilted and true probability, of shape (values,).
    """
    needed = quantile**2 / (2 * (count - 1 + quantile**2))  # c^2/(2n) of the module's docstring

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

    found, largest = None, -math.inf
    for b in math.sqrt(2 * needed) * np.exp(np.linspace(-2, 2, 17)):
        exponents = b * world - b**2 * world**2 / 2
        theta = best_theta(exponents)
        if theta is None:
            continue
        log_mean = special.logsumexp(theta * exponents) - math.log(world.size)
        rate = log_mean - theta * needed  # log probability of such a deviation, per value
        if rate > largest:
            found, largest = theta * exponents - log_mean, rate
    return found
