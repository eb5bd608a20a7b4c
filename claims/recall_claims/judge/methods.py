"""Bounds for the mean of a cell's replicates: by betting, by a t interval, or without chance.

Each method gives an interval whose two ends each miss the mean with probability at most alpha, for
different reasons:

* `Betting` is exact for observables of a declared range, at every number of replicates, and at all
  looks at once;
* `Student` is approximate, and `python -m recall_claims certify` computes how often it errs;
* `Deterministic` is for simulations without chance, and uses no error budget.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from recall_claims.model.errors import ClaimError
from recall_claims.model.region import EVERYTHING, Interval

Array = npt.NDArray[np.float64]
T = TypeVar("T")

STAKES = np.append(np.geomspace(0.01, 0.9, 12), 1.0)
"""Shares of wealth that the bets of Betting's mixture risk."""
PARTS = np.append(np.full(12, 0.75 / 12), 0.25)
"""Share of the initial wealth behind each stake. Stake 1 has a quarter of the wealth. It wins
most if no replicate is against the bet. One replicate of value 0 loses this quarter, which costs a
log wealth of log(4/3), or 2 per cent more replicates."""

MANY = 2**14
"""Number of values above which values that agree to 2^-10 are counted together; also, number of
values whose logarithms for all stakes are in memory at once, 3 MB."""


ROUNDINGS = 64
"""Error of a value after a few steps, in units of its last place."""


def rounding(values: Array) -> float:
    """Return the relative rounding error of values; larger if all are float32 numbers."""
    with np.errstate(over="ignore"):
        single = bool(np.all(values.astype(np.float32) == values))
    return ROUNDINGS * float(np.finfo(np.float32 if single else np.float64).eps)


class Method(ABC):
    """A way to bound a mean."""

    exact: ClassVar[bool] = False
    """Whether a miss has probability at most alpha at any number of replicates."""
    anytime: ClassVar[bool] = True
    """Whether an exact method is exact at all looks together, so that looks do not share alpha. It
    says nothing about other methods."""
    guarantee: ClassVar[str] = "By a method of its own, which does not say what it rests on."

    @abstractmethod
    def bounds(self, values: Array, alpha: float) -> Interval:
        """Bound the mean: each end of the interval misses it with probability at most alpha.

        Args:
            values: independent replicates, shape (replicates,).
            alpha: in (0, 1).
        """

    def within(self, values: Array) -> Array:
        """Return the values, clipped if rounding puts them beyond the method's range.

        Raises:
            ClaimError: a value is beyond the range by more than rounding.
        """
        return values

    def of_mean(self, maps: Sequence[Callable[[float], float]]) -> Method:
        """Return the method for an average of observables, each sent through an affine map."""
        return self

    def of_difference(self) -> Method:
        """Return the method for the difference of two observables."""
        return self


@dataclass(frozen=True)
class Betting(Method):
    """Test by betting for an observable in [low, high], exact at every look.

    Scale the values X_i to [0, 1]. If their mean is at most m, somebody who bets on a larger mean
    has the wealth prod_i (1 + c (X_i/m - 1)), a nonnegative supermartingale for every stake c in
    [0, 1]. So is an average over stakes, in which c = 1 has the weight 1/4, and 12 stakes from 0.01
    to 0.9 share the rest equally. The average ever reaches 1/alpha with probability at most alpha
    (Ville's inequality). The largest m that is rejected in this way is the lower bound; 1 - X_i
    gives the upper bound (I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random
    variables by betting", J. R. Statist. Soc. B 86, 1, 2024). The wealth does not depend on the
    order of the data.

    Of more than 2^14 values, `bounds` counts those together that agree to 2^-10. The wealth is
    reduced by the most that this can gain, so the test stays exact; a bound changes by less than
    1e-7 of itself.

    At a true mean mu > m no exact test rejects m before ln(1/alpha) / ln(mu/m) replicates, whatever
    the variance: this is the price of exactness.

    Raises:
        ClaimError: the range is empty or infinite, or an observation leaves it.
    """

    low: float = 0.0
    high: float = 1.0
    exact: ClassVar[bool] = True
    guarantee: ClassVar[str] = (
        "Betting e-processes for means of bounded observables: each end of an interval is missed "
        "with probability at most its level, at any number of replicates and all looks together."
    )

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise ClaimError(f"a range needs two finite ends in order, got {self.low}, {self.high}")

    def bounds(self, values: Array, alpha: float) -> Interval:
        scaled = self._scaled(values)
        span = self.high - self.low
        below, above = _lower(scaled, alpha), _lower(1 - scaled, alpha)
        return Interval(self.low + span * below, self.high - span * above)

    def log_wealths(self, values: Array, mean: float) -> tuple[float, float]:
        """Return the log wealths of two bets: that the true mean is above `mean`, and below it.

        At level alpha, a log wealth of log(1/alpha) shows that its bet is right. `mean` lies inside
        the range.
        """
        return _log_wealths(self._scaled(values), (mean - self.low) / (self.high - self.low))

    def within(self, values: Array) -> Array:
        self._scaled(values)
        return np.clip(values, self.low, self.high)

    def of_mean(self, maps: Sequence[Callable[[float], float]]) -> Betting:
        ends = [sorted((one(self.low), one(self.high))) for one in maps]
        return Betting(*np.mean(ends, axis=0).tolist())

    def of_difference(self) -> Betting:
        return Betting(self.low - self.high, self.high - self.low)

    def _scaled(self, values: Array) -> Array:
        span = self.high - self.low
        scaled = (values - self.low) / span
        if np.all((scaled >= 0) & (scaled <= 1)):
            return scaled
        slack = max(1e-9, rounding(values) * max(abs(self.low), abs(self.high)) / span)
        if not (scaled.min() >= -slack and scaled.max() <= 1 + slack):
            raise ClaimError(
                f"an observation leaves the declared range [{self.low:.15g}, {self.high:.15g}] "
                f"(all are between {values.min():.15g} and {values.max():.15g}); "
                "declare a wider range, or use method=Student()"
            )
        return np.clip(scaled, 0.0, 1.0)


@dataclass(frozen=True)
class Student(Method):
    """The union of Student's t interval and Hall's, at a part of the nominal level.

    `spent` is this part; the fewer and more skewed the values, the smaller it must be, so that the
    interval errs no more often than stated.

    On skewed data a t interval misses on one side far more often than a small alpha says: 90 times
    as often for 128 chi-squared values of 1 degree of freedom and alpha = 1e-5. Hall's
    transformation T + c T^2/3 + c^2 T^3/27 + c/6 of the t statistic, c = skewness / sqrt(n),
    removes the skewness to second order and is invertible (P. Hall, "On the removal of skewness by
    transformation", J. R. Statist. Soc. B 54, 221, 1992). The union of the two intervals is never
    narrower than the t interval.

    The interval is the whole line for fewer than two values, for values that do not vary, and if a
    value is NaN. The same holds if one value makes more than `heaviest` of the sum of squared
    deviations, as with infinite variance. We counted samples with such a value among 20,000 of each
    kind: 8 samples of 256 exponential values, 25 of 1,024 squared normal values, and 97 per cent of
    the samples of 1,024 Cauchy values.

    Raises:
        ClaimError: `spent` is not in (0, 1], or the cubes of the values' differences are too small
            or too large to be added.
    """

    spent: float = 0.5
    exact: ClassVar[bool] = False
    guarantee: ClassVar[str] = (
        "Skewness-corrected t intervals, run at half their level or less: valid for large samples. "
        "A certificate, where a claim has one, says how often they err."
    )

    def __post_init__(self) -> None:
        if not 0 < self.spent <= 1:
            raise ClaimError(f"a t interval uses a part of its level in (0, 1], not {self.spent}")

    def bounds(self, values: Array, alpha: float) -> Interval:
        count = values.size
        if count < 2 or (spread := float(np.ptp(values))) <= 1e-12 * np.abs(values).max():
            return EVERYTHING
        if math.isnan(spread):  # a function of means is undefined there
            return EVERYTHING
        if not 1e-90 < spread < 1e90:
            raise ClaimError(
                f"an observable that varies by {spread:.0e} has no skewness in double precision; "
                "return it in other units"
            )
        # In the order of scipy.stats.sem and skew, to the last bit; their wrappers take 0.7 ms.
        mean = float(values.sum()) / count
        off = values - mean
        squares = off * off
        sum2, third = float(squares.sum()), float((squares * off).sum()) / count
        if float(squares.max()) > heaviest(count) * sum2:
            return EVERYTHING
        error = math.sqrt(sum2 / (count - 1)) / count**0.5
        skewness = 0.0
        if count > 2:
            bias = ((count - 1.0) * count) ** 0.5 / (count - 2.0)
            skewness = bias * third / (sum2 / count) ** 1.5
        below, above = student_quantiles(count, skewness, self.spent * alpha)
        return Interval(mean - float(below) * error, mean + float(above) * error)


def heaviest(count: int) -> float:
    """Return the largest share of the sum of squared deviations that one value may have.

    If one of `count` values has a larger share, `Student` bounds nothing.
    """
    return max(0.2, 6.4 / math.sqrt(count))


def student_quantiles(count: int, skewness: Any, level: float) -> tuple[Any, Any]:
    """Return the distances of the ends of `Student`'s interval from the mean, in standard errors.

    Args:
        count: number of values.
        skewness: the values' skewness: one number or an array of any shape, as are the results.
        level: error probability at which each end is computed.
    """
    quantile = -float(special.stdtrit(count - 1, level))
    c = np.asarray(skewness) / math.sqrt(count)
    return (
        np.maximum(quantile, _undo_hall(quantile, c)),
        np.maximum(quantile, -_undo_hall(-quantile, c)),
    )


@dataclass(frozen=True)
class Deterministic(Method):
    """Bounds of a simulation without chance: its smallest and largest value."""

    exact: ClassVar[bool] = True
    guarantee: ClassVar[str] = (
        "The simulation is deterministic: the interval holds every value computed; it uses no "
        "error budget."
    )

    def bounds(self, values: Array, alpha: float) -> Interval:
        return Interval(float(values.min()), float(values.max()))


COIN = Betting(0.0, 1.0)
"""Bets on rates and other observables in [0, 1]."""
STUDENT = Student()


def log_wealth(values: Array, mean: float, counts: Array, spread: Array | None = None) -> float:
    """Return the log wealth of bets that a mean exceeds `mean` in (0, 1).

    Args:
        values: distinct observations in [0, 1], or means of observations that agree to 2^-10.
        mean: the mean under the hypothesis that is bet against.
        counts: number of observations of each value, at least 1.
        spread: if values are means, the sum of squared deviations from each mean, divided by the
            mean's square. The result is then a lower limit of the log wealth.
    """
    logs = np.zeros(STAKES.size)
    for i in range(0, values.size, MANY):
        some = slice(i, i + MANY)
        gains = STAKES[:, None] * (values[some] / mean - 1)
        with np.errstate(divide="ignore"):  # a whole stake is lost if a value is 0
            logs += np.log1p(gains) @ counts[some]
        if spread is not None:
            # By Taylor's theorem, values win at most this much less than their mean M: half the
            # square of (c M/m) / (1 - c + c x/m) at the least x, times the spread. We take the
            # square at x = M, which needs 0.501 instead of 1/2.
            left = np.divide(1 - STAKES[:, None], 1 + gains, np.ones(gains.shape), where=gains > -1)
            logs -= 0.501 * (1 - left) ** 2 @ spread[some]
    top = float(logs.max())  # scipy's logsumexp takes six times as long
    return top + math.log(float(PARTS @ np.exp(logs - top)))


def kept(work: Callable[[Array, float], T]) -> Callable[[Array, float], T]:
    """Remember up to 65,536 results by a digest of the data, without keeping the data.

    A look repeats calls for cells without new blocks, and a control repeats its claim's calls.
    """
    known: dict[tuple[bytes, float], T] = {}

    @wraps(work)
    def found(scaled: Array, number: float) -> T:
        key = hashlib.blake2b(scaled.tobytes(), digest_size=16).digest(), number
        if key not in known:
            if len(known) == 65536:
                known.clear()
            known[key] = work(scaled, number)
        return known[key]

    return found


@kept
def _log_wealths(scaled: Array, target: float) -> tuple[float, float]:
    seen, times = np.unique(scaled, return_counts=True)
    counts = times.astype(np.float64)
    return log_wealth(seen, target, counts), log_wealth(1 - seen, 1 - target, counts)


@kept
def _lower(scaled: Array, alpha: float) -> float:
    """Return the largest mean in [0, 1] that values reject as too small; relative error 1e-6."""
    return math.exp(_log_lower(scaled, math.log(1 / alpha)))


def _log_lower(scaled: Array, needed: float) -> float:
    values, counts, spread = _grouped(scaled)
    mean = float(values @ counts / counts.sum()) if counts.size else 0.0
    if mean < 1e-300:  # smaller means lack a reciprocal; 0 is always a bound
        return -math.inf

    @cache
    def excess(log_mean: float) -> float:
        return log_wealth(values, math.exp(log_mean), counts, spread) - needed

    highest = high = math.log(mean)
    observed = counts.sum()
    deviation = math.sqrt(float((values / mean - 1) ** 2 @ counts / observed))
    # Where the bound would be for many values that are nearly normal.
    guess = deviation * math.sqrt(2 * needed / observed) + needed / observed
    low = max(high - max(guess, 1e-6), -700.0)
    while excess(low) < 0:
        high, low = low, low - 2 * (highest - low)
        if low < -700:
            return -math.inf
    root = optimize.brentq(excess, low, high, xtol=5e-7)
    while excess(root) < 0:  # rounding must not leave the rejected side
        root -= 1e-6
    return float(root)


def _grouped(scaled: Array) -> tuple[Array, Array, Array | None]:
    """Return values, counts and spread for `log_wealth`. Few values are sorted, each with a count;
    many are grouped without sorting, to save time."""
    if scaled.size <= MANY:
        values, times = np.unique(scaled, return_counts=True)
        return values, times.astype(np.float64), None
    places = (scaled + 0.0).view(np.int64) >> 42  # exponent and 10 bits; +0.0 removes -0's sign
    places -= places.min()
    counts = np.bincount(places).astype(np.float64)
    means = np.bincount(places, scaled) / np.maximum(counts, 1)
    off = np.maximum(means, 1e-300)[places]
    np.divide(scaled, off, out=off)  # 0 if the mean is 0, where `log_wealth` ignores the spread
    off -= 1
    off *= off
    held = counts > 0
    spread = np.bincount(places, off).astype(np.float64)
    means[means < 1e-300] = 0.0  # so small a mean counts as 0
    return means[held], counts[held], spread[held]


def _undo_hall(value: float, c: Array) -> Array:
    """Invert Hall's transformation; the identity without skewness."""
    safe = np.where(np.abs(c) < 1e-6, 1.0, c)
    undone = 3 / safe * (np.cbrt(1 + safe * (value - safe / 6)) - 1)
    return np.where(np.abs(c) < 1e-6, value, undone)
