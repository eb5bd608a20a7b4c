"""Bounds for the mean of a cell's replicates: by betting, by a t interval, or without chance.

Each method gives an interval whose two ends each miss the mean with probability at most alpha. The
methods differ in what that rests on:

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
"""Shares of the wealth that bets risk, as in Betting's mixture."""
PARTS = np.append(np.full(12, 0.75 / 12), 0.25)
"""Part of the wealth that each stake has. Wealth that is staked whole is lost with a single
replicate against it. It wins where all agree, and costs log(4/3) elsewhere, 2 per cent of the
replicates."""

MANY = 2**14
"""Values from which on those that agree to 2^-10 are counted together; also, how many have the
logarithms of all stakes held at once, 3 MB."""


ROUNDINGS = 64
"""Error of a value after a few steps, in units of its last place."""


def rounding(values: Array) -> float:
    """Relative rounding error of values; larger if all of them are numbers of float32."""
    with np.errstate(over="ignore"):
        single = bool(np.all(values.astype(np.float32) == values))
    return ROUNDINGS * float(np.finfo(np.float32 if single else np.float64).eps)


class Method(ABC):
    """A way to bound a mean."""

    exact: ClassVar[bool] = False
    """Whether an interval misses as rarely as it says at any number of replicates."""
    anytime: ClassVar[bool] = True
    """Whether an exact method stays so at all looks at once, so that looks share no alpha."""
    guarantee: ClassVar[str] = "By a method of its own, which does not say what it rests on."

    @abstractmethod
    def bounds(self, values: Array, alpha: float) -> Interval:
        """An interval whose ends each miss the mean with probability at most alpha.

        Args:
            values: independent replicates, shape (replicates,).
            alpha: in (0, 1).
        """

    def within(self, values: Array) -> Array:
        """Return the values, without rounding beyond the range that the method declares."""
        return values

    def of_mean(self, maps: Sequence[Callable[[float], float]]) -> Method:
        """The method for the average of as many observables, each sent through an affine map."""
        return self

    def of_difference(self) -> Method:
        """The method for the difference of two observables."""
        return self


@dataclass(frozen=True)
class Betting(Method):
    """Test by betting for an observable in [low, high], exact at every look.

    Scale X to [0, 1]. If the mean is at most m, then the wealth prod_i (1 + c (X_i/m - 1)) of a
    bettor on more is a nonnegative supermartingale for every stake c in [0, 1]. So is an average,
    of which a quarter has c = 1 and equal parts have 12 stakes from 0.01 to 0.9. That it ever
    reaches 1/alpha has probability at most alpha (Ville's inequality). The lower bound is the
    largest m that loses so; the upper one is the lower one of 1 - X (I. Waudby-Smith and A. Ramdas,
    "Estimating means of bounded random variables by betting", J. R. Statist. Soc. B 86, 1, 2024).
    The wealth does not depend on the order of the data.

    Of more than 2^14 values, values that agree to 2^-10 are counted together. The wealth loses what
    that could gain, so the test stays exact; a bound loses some 1e-7 of itself.

    At mean mu no exact test rejects m before ln(1/alpha) / ln(mu/m) replicates, whatever the
    variance: that is the price of exactness.

    Raises:
        ClaimError: the range is empty, or an observation leaves it.
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
        """Log wealths of bets that the mean is above this value, and below it.

        The mean is shown to be above it at the level alpha when the first reaches log(1/alpha).
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
        slack = max(1e-9, rounding(values) * max(abs(self.low), abs(self.high)) / span)
        if scaled.size and not (scaled.min() >= -slack and scaled.max() <= 1 + slack):
            raise ClaimError(
                f"an observation leaves the declared range [{self.low:.15g}, {self.high:.15g}] (it "
                f"is between {values.min():.15g} and {values.max():.15g}); declare its range, or "
                "use method=Student()"
            )
        return np.clip(scaled, 0.0, 1.0)


@dataclass(frozen=True)
class Student(Method):
    """The union of Student's t interval and Hall's, at a part of the nominal level.

    `spent` is that part; where values are few and skewed, it has to be smaller for the interval to
    err as rarely as stated.

    On skewed data a t interval misses on one side far more often than a small alpha says. For 128
    values of chi-squared data of 1 degree of freedom and alpha = 1e-5 it is 60 times as often.
    Hall's transformation T + c T^2/3 + c^2 T^3/27 + c/6 of the t statistic, c = skewness / sqrt(n),
    removes the skewness to second order and is invertible (P. Hall, "On the removal of skewness by
    transformation", J. R. Statist. Soc. B 54, 221, 1992). The join of the two is never narrower
    than the t interval.

    Fewer than two values, or values that do not vary, show nothing: the interval is the whole line.
    Nor do values of which one outweighs the others, as where a variance is infinite: none may have
    more than `heaviest` of the sum of squared deviations. Of 20,000 samples of 256 exponential
    values 8 had one that did, of 1,024 squared normal ones 25, of 1,024 Cauchy ones 97 per cent.

    Raises:
        ClaimError: the cubes of the values' differences are too small or too large to be added.
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
        if math.isnan(spread):  # a function of means that is not defined where they are
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
    """Largest share of the squared deviations that one of `count` values may have under t."""
    return max(0.2, 6.4 / math.sqrt(count))


def student_quantiles(count: int, skewness: Any, level: float) -> tuple[Any, Any]:
    """Standard errors from the mean to either end of a t interval.

    Args:
        count: of the values.
        skewness: of the values; one number or an array of any shape, as are the results.
        level: of each end, as it is used.
    """
    quantile = -float(special.stdtrit(count - 1, level))
    c = np.asarray(skewness) / math.sqrt(count)
    return (
        np.maximum(quantile, _undo_hall(quantile, c)),
        np.maximum(quantile, -_undo_hall(-quantile, c)),
    )


@dataclass(frozen=True)
class Deterministic(Method):
    """Bounds of a simulation without chance: the least and the largest value computed."""

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
    """Logarithm of the wealth of bets that a mean exceeds `mean` in (0, 1), rounded down.

    Args:
        values: distinct observations in [0, 1], or means of such that agree to 2^-10.
        mean: the mean that is bet against.
        counts: how often each was seen, at least once.
        spread: of each mean's values, the sum of squares about it over its own square.
    """
    logs = np.zeros(STAKES.size)
    for i in range(0, values.size, MANY):
        some = slice(i, i + MANY)
        gains = STAKES[:, None] * (values[some] / mean - 1)
        with np.errstate(divide="ignore"):  # a whole stake is lost where a value is 0
            logs += np.log1p(gains) @ counts[some]
        if spread is not None:
            # By Taylor's theorem a mean earns more than its values by no more than half the square
            # of (c x/m) / (1 - c + c x/m), at the least x, times the spread: 0.501 at their mean.
            left = np.divide(1 - STAKES[:, None], 1 + gains, np.ones(gains.shape), where=gains > -1)
            logs -= 0.501 * (1 - left) ** 2 @ spread[some]
    top = float(logs.max())  # scipy's logsumexp takes six times as long
    return top + math.log(float(PARTS @ np.exp(logs - top)))


def kept(work: Callable[[Array, float], T]) -> Callable[[Array, float], T]:
    """Remember up to 65,536 results by a digest of the data, without keeping the data.

    Looks ask again for cells that drew no more, and controls for all that the claim asked for.
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
    """The largest mean that these values in [0, 1] show to be too small, to 1e-6 of it."""
    return math.exp(_log_lower(scaled, math.log(1 / alpha)))


def _log_lower(scaled: Array, needed: float) -> float:
    values, counts, spread = _grouped(scaled)
    mean = float(values @ counts / counts.sum()) if counts.size else 0.0
    if mean < 1e-300:  # close to where a mean has no reciprocal; 0 is always a bound
        return -math.inf

    @cache
    def excess(log_mean: float) -> float:
        return log_wealth(values, math.exp(log_mean), counts, spread) - needed

    high = math.log(mean)
    low = high - 1
    while excess(low) < 0:
        low -= 2 * (high - low)
        if low < -700:
            return -math.inf
    root = optimize.brentq(excess, low, high, xtol=5e-7)
    while excess(root) < 0:  # on the side that is rejected, whatever the rounding
        root -= 1e-6
    return float(root)


def _grouped(scaled: Array) -> tuple[Array, Array, Array | None]:
    """Values, counts and spread for `log_wealth`: of so few values that each has its own, or of
    many, which are not sorted for it."""
    if scaled.size <= MANY:
        values, times = np.unique(scaled, return_counts=True)
        return values, times.astype(np.float64), None
    places = (scaled + 0.0).view(np.int64) >> 42  # of exponent and 10 bits; -0 has a sign
    places -= places.min()
    counts = np.bincount(places).astype(np.float64)
    means = np.bincount(places, scaled) / np.maximum(counts, 1)
    off = np.maximum(means, 1e-300)[places]
    np.divide(scaled, off, out=off)  # 0 where the mean is: nothing is staked on it
    off -= 1
    off *= off
    held = counts > 0
    spread = np.bincount(places, off).astype(np.float64)
    means[means < 1e-300] = 0.0  # which may replace zeros
    return means[held], counts[held], spread[held]


def _undo_hall(value: float, c: Array) -> Array:
    """Inverse of Hall's transformation; the identity where there is no skewness."""
    safe = np.where(np.abs(c) < 1e-6, 1.0, c)
    undone = 3 / safe * (np.cbrt(1 + safe * (value - safe / 6)) - 1)
    return np.where(np.abs(c) < 1e-6, value, undone)
