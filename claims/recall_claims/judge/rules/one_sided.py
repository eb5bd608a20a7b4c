"""One-sided statements: bounds, orderings, and identities up to rounding."""

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from recall_claims.judge.methods import STUDENT, Array, Betting, Deterministic, Method, Student
from recall_claims.judge.rules.base import Components, Evidence, Part, Predict, Rule, Sample
from recall_claims.judge.rules.means import Map, Means
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import Interval, Region, Scale


@dataclass(frozen=True)
class OneSided(Means):
    """mean(observable), less the prediction if there is one, has a bound on one side.

    Give exactly one of the bounds. `OneSided(upper=0.0)`: in every cell the mean is at most the
    prediction.
    """

    upper: float | None = None
    lower: float | None = None
    observable: str = "value"
    by: str | tuple[str, ...] | None = None
    method: Method = STUDENT
    scale: ClassVar[Scale] = "difference"
    needs_prediction: ClassVar[bool] = False
    estimand: ClassVar[str] = "The mean, less the prediction if there is one; a half line."

    def __post_init__(self) -> None:
        if (self.upper is None) == (self.lower is None):
            raise ClaimError("a one-sided rule needs exactly one of upper= and lower=")

    @property
    def region(self) -> Region:  # type: ignore[override]  # no field here
        """The half line."""
        low, high = self.lower, self.upper
        return Region(-math.inf if low is None else low, math.inf if high is None else high)

    def _map(self, predict: Predict | None, cell: Cell) -> Map:
        return super()._map(predict or (lambda _: 0.0), cell)


@dataclass(frozen=True)
class Ordering(Rule):
    """mean(larger) - mean(smaller) >= margin in every cell, paired by replicate.

    `method` bounds each of the two observables: `Betting(low, high)` if both have that range.
    """

    smaller: str
    larger: str
    margin: float = 0.0
    method: Method = STUDENT
    methods: ClassVar[tuple[type[Method], ...]] = (Betting, Student, Deterministic)
    scale: ClassVar[Scale] = "difference"
    needs_prediction: ClassVar[bool] = False
    estimand: ClassVar[str] = "Paired difference of means; a half line."

    @property
    def region(self) -> Region:
        """All values from the margin on."""
        return Region(self.margin, math.inf)

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        within = self.method.within

        def part(sample: Sample) -> Part:
            cell, values = sample.cell, within(sample[self.larger]) - within(sample[self.smaller])
            bounds = partial(self.method.of_difference().bounds, values)
            return Part(cell.id, float(values.mean()), bounds, (cell.id,), cell)

        return self.joint(map(part, evidence), alpha)

    def _shown(self, sample: Sample) -> Array | None:
        return sample[self.larger]


@dataclass(frozen=True)
class Identity(Rule):
    """max(|observable|) over all replicates and cells is at most `tolerance`.

    An identity has no sampling error: one counterexample refutes it, and the tolerance is the
    rounding error of the arithmetic.
    """

    tolerance: float
    observable: str = "error"
    scale: ClassVar[Scale] = "error"
    needs_prediction: ClassVar[bool] = False
    estimand: ClassVar[str] = "The largest violation over everything simulated."
    method: ClassVar[Method] = Deterministic()

    @property
    def region(self) -> Region:
        """All errors up to the tolerance."""
        return Region(-math.inf, self.tolerance)

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        def part(sample: Sample) -> Part:
            cell, error = sample.cell, float(abs(sample[self.observable]).max())
            return Part(cell.id, error, lambda _: Interval(error, error), (cell.id,), cell)

        return self.joint(map(part, evidence), alpha)
