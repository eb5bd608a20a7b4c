"""One-sided statements: bounds, orderings, and identities up to rounding."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recall_claims.declare.cell import Cell
from recall_claims.errors import ClaimError
from recall_claims.judge.region import Component, Interval, Region, Scale
from recall_claims.judge.rules.base import (
    Array,
    Evidence,
    Predict,
    Rule,
    Sample,
    groups,
    number,
    t_interval,
    told_apart,
)


@dataclass(frozen=True)
class OneSided(Rule):
    """mean(observable), less the prediction if there is one, has a bound on one side.

    Give exactly one of the bounds. `OneSided(upper=0.0)`: in every cell the mean is at most what
    `predict` says.
    """

    upper: float | None = None
    lower: float | None = None
    observable: str = "value"
    by: str | tuple[str, ...] | None = None
    scale: ClassVar[Scale] = "difference"
    needs_prediction: ClassVar[bool] = False
    guarantee: ClassVar[str] = (
        "Skewness-corrected t intervals for the mean, jointly valid over all components; the "
        "region is a half line."
    )

    def __post_init__(self) -> None:
        if (self.upper is None) == (self.lower is None):
            raise ClaimError("a one-sided rule needs exactly one of upper= and lower=")

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        groups(cells, self.by)

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        region = Region(
            -math.inf if self.lower is None else self.lower,
            math.inf if self.upper is None else self.upper,
        )
        found = groups([sample.cell for sample in evidence], self.by)
        result = []
        for name, members in found.items():
            values = np.mean([self._compare(evidence[i], predict) for i in members], axis=0)
            interval = t_interval(values, alpha / len(found))
            params = told_apart(evidence[members[0]].cell, self.by)
            mean = float(values.mean())
            result.append(Component(name, mean, interval, region, self.scale, params))
        return tuple(result)

    def _compare(self, sample: Sample, predict: Predict | None) -> Array:
        values = sample[self.observable]
        return values if predict is None else values - number(predict, sample.cell)


@dataclass(frozen=True)
class Ordering(Rule):
    """mean(larger) - mean(smaller) > margin in every cell, paired by replicate."""

    smaller: str
    larger: str
    margin: float = 0.0
    scale: ClassVar[Scale] = "difference"
    needs_prediction: ClassVar[bool] = False
    guarantee: ClassVar[str] = (
        "Skewness-corrected t intervals for paired differences of means, jointly valid over all "
        "cells."
    )

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        region = Region(self.margin, math.inf)
        result = []
        for sample in evidence:
            values = sample[self.larger] - sample[self.smaller]
            interval = t_interval(values, alpha / len(evidence))
            mean, cell = float(values.mean()), sample.cell
            result.append(Component(cell.id, mean, interval, region, self.scale, cell))
        return tuple(result)

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
    guarantee: ClassVar[str] = (
        "The largest violation over everything simulated; deterministic, spends no error budget."
    )

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        region = Region(-math.inf, self.tolerance)
        worst = [float(abs(sample[self.observable]).max()) for sample in evidence]
        return tuple(
            Component(
                sample.cell.id, error, Interval(error, error), region, self.scale, sample.cell
            )
            for sample, error in zip(evidence, worst, strict=True)
        )
