"""Quantiles, such as a median, bounded by order statistics: exact, whatever the distribution."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar

import numpy as np

from recall_claims.judge.methods import Array, Method, log_wealth
from recall_claims.judge.rules.base import Components, Evidence, Part, Predict, Rule, Sample, number
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import EVERYTHING, Interval, Region, Scale


@dataclass(frozen=True)
class OrderStatistics(Method):
    """Ordered values between which a quantile lies, exact at every look.

    Let q be the quantile of this level. A value is at most q with probability at least the level,
    and below q with probability at most the level. So q is at least v if too few values are below
    v, and at most v if too few are above v. Bets as in `Betting` show how many are too few.
    """

    level: float = 0.5
    exact: ClassVar[bool] = True
    guarantee: ClassVar[str] = (
        "Betting e-processes on how many values are below: each end of an interval is missed with "
        "probability at most its level, at any number of replicates and all looks together."
    )

    def bounds(self, values: Array, alpha: float) -> Interval:
        ordered, count = np.sort(values), values.size
        few, many = _too_few(count, self.level, alpha), _too_few(count, 1 - self.level, alpha)
        low = float(ordered[few]) if few >= 0 else -math.inf
        high = float(ordered[count - 1 - many]) if many >= 0 else math.inf
        # After a rare error, or with dependent replicates, nothing is known.
        return Interval(low, high) if low <= high else EVERYTHING


@cache
def _too_few(count: int, rate: float, alpha: float) -> int:
    """Find the largest number of ones in `count` values that shows a rate below `rate`, or -1."""

    def open_still(ones: int) -> bool:
        counts = np.array([ones, count - ones], dtype=float)
        seen = counts > 0
        wealth = log_wealth(np.array([0.0, 1.0])[seen], 1 - rate, counts[seen])
        return wealth < math.log(1 / alpha)

    return bisect_left(range(count), True, key=open_still) - 1


@dataclass(frozen=True)
class Quantile(Rule):
    """A quantile of the observable divided by its prediction, one component per cell.

    `Quantile(Region(0.95, 1.05), level=0.5)`: in each cell the median is within 5% of its
    prediction. The distribution needs no moments.
    """

    region: Region
    level: float = 0.5
    observable: str = "value"
    scale: ClassVar[Scale] = "ratio"
    estimand: ClassVar[str] = "Observed quantile over prediction, between order statistics."

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ClaimError(f"the level of a quantile is in (0, 1), not {self.level}")

    @property
    def method(self) -> OrderStatistics:
        """The method that bounds the quantile."""
        return OrderStatistics(self.level)

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        for cell in cells:
            if number(predict, cell) <= 0:
                raise ClaimError(
                    f"the quantile predicted at {cell.id} is not positive, so that a ratio to it "
                    "means nothing; add the same constant to observable and prediction"
                )

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        def part(sample: Sample) -> Part:
            cell, values = sample.cell, sample[self.observable] / number(predict, sample.cell)
            estimate = float(np.quantile(values, self.level))
            return Part(cell.id, estimate, partial(self.method.bounds, values), (cell.id,), cell)

        return self.joint(map(part, evidence), alpha)

    def observed(self, sample: Sample) -> float:
        """Return the quantile."""
        return float(np.quantile(sample[self.observable], self.level))

    def observed_error(self, sample: Sample) -> None:
        """Return None: the standard error of a mean says nothing about a quantile."""
