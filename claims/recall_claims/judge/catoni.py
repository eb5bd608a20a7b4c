"""Means of observables without a range, exactly, where their standard deviation has a bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import optimize, special

from recall_claims.errors import ClaimError
from recall_claims.judge.methods import Array, Method, kept
from recall_claims.judge.region import EVERYTHING, Interval

SLOPES = np.geomspace(0.003, 3.0, 24)
"""By how much a standard deviation more changes a factor of the wealth, in Catoni's mixture."""


@dataclass(frozen=True)
class Catoni(Method):
    """For an observable whose standard deviation is at most `sd`: exact at every look.

    It needs no range, and no higher moment: a single far value moves the bounds little. Let psi(y)
    be log(1 + y + y^2/2) for y >= 0, and -psi(-y) below. If the mean is m, then the wealth
    prod_i exp(psi(c (X_i - m) / sd) - c^2/2) is a nonnegative supermartingale for every c, and so
    is its average over 24 of them. It falls as m grows, so that the lower bound is where it is
    1/alpha; the upper one is that of -X (O. Catoni, Ann. Inst. H. Poincare 48, 1148, 2012;
    H. Wang and A. Ramdas, Stoch. Proc. Appl. 163, 168, 2023).
    """

    sd: float
    exact: ClassVar[bool] = True
    guarantee: ClassVar[str] = (
        "Catoni's e-processes for means: if the declared bound on the standard deviation is true, "
        "each end of an interval is missed with probability at most its level, at any number of "
        "replicates and all looks together."
    )

    def __post_init__(self) -> None:
        if not 0 < self.sd < math.inf:
            raise ClaimError(f"the bound on a standard deviation is positive, not {self.sd}")

    def bounds(self, values: Array, alpha: float) -> Interval:
        units = values / self.sd
        low, high = _lower(units, alpha), -_lower(-units, alpha)
        # Past each other: the declared bound is wrong, or a rare error. Nothing is known.
        return Interval(self.sd * low, self.sd * high) if low <= high else EVERYTHING

    def of_mean(self, maps: Sequence[Callable[[float], float]]) -> Catoni:
        slopes = [one(1.0) - one(0.0) for one in maps]
        return Catoni(self.sd * math.hypot(*slopes) / len(slopes))

    def of_difference(self) -> Catoni:
        return Catoni(2 * self.sd)


@kept
def _lower(units: Array, alpha: float) -> float:
    """The largest mean that these values, of standard deviation 1 or less, reject from below."""

    def excess(mean: float) -> float:
        return log_wealth(units, mean) + math.log(alpha)

    low = high = float(np.median(units))
    step = 1.0
    while excess(low) < 0:
        low, step = low - step, 2 * step
    while excess(high) >= 0:
        high, step = high + step, 2 * step
    root = optimize.brentq(excess, low, high, xtol=1e-7)
    while excess(root) < 0:  # on the side that is rejected, whatever the rounding
        root -= 1e-7 * max(1.0, abs(root))
    return float(root)


def log_wealth(units: Array, mean: float) -> float:
    """Logarithm of the wealth of who bets that the mean of values of sd <= 1 exceeds `mean`."""
    off = SLOPES[:, None] * (units - mean)
    size = np.abs(off)
    logs = np.copysign(np.log1p(size + size**2 / 2), off).sum(axis=1) - units.size * SLOPES**2 / 2
    return float(special.logsumexp(logs)) - math.log(SLOPES.size)
