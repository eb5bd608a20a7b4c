"""One-sided statements: bounds, orderings, and identities up to rounding."""

import math
from dataclasses import dataclass
from typing import ClassVar

from recall_claims.declare.cell import Cell
from recall_claims.errors import ClaimError
from recall_claims.judge.methods import STUDENT, Array, Deterministic, Method
from recall_claims.judge.region import Component, Interval, Region, Scale
from recall_claims.judge.rules.base import Components, Evidence, Predict, Rule, Sample, of_mean
from recall_claims.judge.rules.means import Map, Means


@dataclass(frozen=True)
class OneSided(Means):
    """mean(observable), less the prediction if there is one, has a bound on one side.

    Give exactly one of the bounds. `OneSided(upper=0.0)`: in every cell the mean is at most what
    `predict` says.
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
    """mean(larger) - mean(smaller) > margin in every cell, paired by replicate.

    `method` bounds each of the two observables: `Betting(low, high)` if both have that range.
    """

    smaller: str
    larger: str
    margin: float = 0.0
    method: Method = STUDENT
    scale: ClassVar[Scale] = "difference"
    needs_prediction: ClassVar[bool] = False
    estimand: ClassVar[str] = "Paired difference of means; a half line."

    @property
    def region(self) -> Region:
        """All that is larger than the margin."""
        return Region(self.margin, math.inf)

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        return tuple(
            of_mean(
                self,
                sample.cell.id,
                self.method.within(sample[self.larger]) - self.method.within(sample[self.smaller]),
                self.method.of_difference(),
                alpha,
                of=len(evidence),
                params=sample.cell,
                open_cells=(sample.cell.id,),
            )
            for sample in evidence
        )

    def _shown(self, sample: Sample) -> Array | None:
        return sample[self.larger]


@dataclass(frozen=True)
class Identity(Rule):
    """max(observable) over all replicates and cells is at most `tolerance`.

    An identity has no sampling error: one counterexample refutes it, and the tolerance is the
    rounding error of the arithmetic.
    """

    tolerance: float
    observable: str = "error"
    scale: ClassVar[Scale] = "error"
    needs_prediction: ClassVar[bool] = False
    estimand: ClassVar[str] = "The largest violation over everything simulated."
    method: ClassVar[Method] = Deterministic()

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        region = Region(-math.inf, self.tolerance)
        found = []
        for sample in evidence:
            cell, error = sample.cell, float(abs(sample[self.observable]).max())
            interval, open_cells = Interval(error, error), (cell.id,)
            found.append(
                Component(cell.id, error, interval, region, self.scale, cell, None, open_cells)
            )
        return tuple(found)
