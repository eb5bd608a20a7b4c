"""A whole law: the distance of an observable's distribution from the predicted one."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from recall_claims.judge.methods import Array, Method, rounding
from recall_claims.judge.rules.base import (
    Components,
    Evidence,
    Part,
    Predict,
    Rule,
    Sample,
    predicted,
)
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import Interval, Region, Scale


@dataclass(frozen=True)
class Massart(Method):
    """Bound for the largest distance between an empirical and the true distribution function.

    For n values of any law, the empirical function is somewhere farther than e from the true one
    with probability at most 2 exp(-2 n e^2) (P. Massart, Ann. Probab. 18, 1269, 1990). Looks share
    alpha.
    """

    exact: ClassVar[bool] = True
    anytime: ClassVar[bool] = False
    guarantee: ClassVar[str] = (
        "The inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant: each interval "
        "misses with probability at most its level, which the looks share."
    )

    def bounds(self, values: Array, alpha: float) -> Interval:
        """Refuse: replicates have no distances of their own."""
        raise ClaimError("a law is bounded as a whole; judge it by the rule Law")

    def around(self, distance: float, count: int, alpha: float) -> Interval:
        """Bound the true law's distance from a prediction, given the distance of `count` values."""
        error = math.sqrt(math.log(2 / alpha) / (2 * count))
        return Interval(max(0.0, distance - error), distance + error)


@dataclass(frozen=True)
class Law(Rule):
    """Largest distance between the observable's distribution function and the predicted one.

    `Law(0.03)`, where `predict` returns a distribution function such as `scipy.stats.norm().cdf`:
    in each cell every probability P(X <= x) is within 0.03 of the prediction at x. Values on a
    lattice, such as shares k/n, are rounded, so the prediction may be taken a rounding error away
    from x. A law within 0.03 is refuted with probability at most alpha. A law farther off, by more
    than rounding, is supported with probability at most alpha.
    """

    within: float
    observable: str = "value"
    scale: ClassVar[Scale] = "probability"
    estimand: ClassVar[str] = "The largest difference of observed and predicted distribution."
    method: ClassVar[Massart] = Massart()

    @property
    def region(self) -> Region:
        """All distances up to `within`."""
        return Region(-math.inf, self.within)

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        if not 0 < self.within < 1:
            raise ClaimError(f"a distance of laws is in (0, 1), not {self.within}")
        for cell in cells:
            if not callable(predicted(predict, cell)):
                raise ClaimError(
                    f"the prediction at {cell.id} is no distribution function; return one, such as "
                    "scipy.stats.norm(0, 1).cdf"
                )

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        def part(sample: Sample) -> Part:
            cell, count = sample.cell, sample.replicates
            distance = _distance(sample[self.observable], predicted(predict, cell))
            bounds = partial(self.method.around, distance, count)
            return Part(cell.id, distance, bounds, (cell.id,), cell)

        return self.joint(map(part, evidence), alpha, edges=1)

    def _shown(self, sample: Sample) -> None:
        return None  # a law is not a number


def _distance(values: Array, law: Callable[[Array], Array]) -> float:
    """Return the largest distance between the share of values up to x and the law.

    The distance is largest at a value, where the share is a step higher, or just below it, where
    the share is a step lower. Rounding may move x by a share of its size, or of the median size
    if larger.
    """
    seen, counts = np.unique(values, return_counts=True)
    until = np.cumsum(counts) / values.size
    before = until - counts / values.size
    slack = rounding(values) * np.maximum(abs(seen), np.median(abs(values)))
    above, below = law(seen + slack), law(np.nextafter(seen - slack, -math.inf))
    return float(max((until - above).max(), (below - before).max(), 0.0))
