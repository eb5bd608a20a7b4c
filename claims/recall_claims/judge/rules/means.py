"""Means against predictions: as a ratio, as a difference, as a probability."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from statsmodels.stats.proportion import proportion_confint

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
class _Mean(Rule):
    """Shared grouping: a component per cell, or per group of cells averaged replicate-wise."""

    region: Region
    observable: str = "value"
    by: str | tuple[str, ...] | None = None

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        groups(cells, self.by)

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        found = groups([sample.cell for sample in evidence], self.by)
        each = alpha / len(found)
        result = []
        for name, members in found.items():
            # Cells have equally many independent replicates, so the average over cells of the
            # r-th replicates is again an independent sample, and one t interval serves.
            values = np.mean([self._compare(evidence[i], predict) for i in members], axis=0)
            interval = self._interval(values, [evidence[i] for i in members], predict, each)
            params = told_apart(evidence[members[0]].cell, self.by)
            mean = float(values.mean())
            result.append(Component(name, mean, interval, self.region, self.scale, params))
        return tuple(result)

    @abstractmethod
    def _compare(self, sample: Sample, predict: Predict | None) -> Array:
        """The sample's values relative to the prediction, shape (replicates,)."""

    def _interval(
        self, values: Array, samples: Evidence, predict: Predict | None, alpha: float
    ) -> Interval:
        return t_interval(values, alpha)


@dataclass(frozen=True)
class MeanRatio(_Mean):
    """mean(observable) / prediction, per cell or averaged over groups of cells.

    `MeanRatio(Region(0.95, 1.05), by=("dim",))`: for every dim, the ratio's average over the cells
    of that dim is within 5 per cent of 1. Without `by`, every cell's own is.
    """

    scale: ClassVar[Scale] = "ratio"
    guarantee: ClassVar[str] = (
        "Skewness-corrected t intervals for observed mean over prediction, jointly valid over all "
        "components; replicates are independent."
    )

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        for cell in cells:
            if number(predict, cell) == 0:
                raise ClaimError(f"prediction is 0 at {cell.id}: a ratio to it means nothing")

    def _compare(self, sample: Sample, predict: Predict | None) -> Array:
        return sample[self.observable] / number(predict, sample.cell)


@dataclass(frozen=True)
class MeanDifference(_Mean):
    """mean(observable) - prediction, per cell or averaged over groups of cells.

    `MeanDifference(Region(-0.02, 0.02), observable="loss")`: each cell's mean of "loss" is within
    0.02 of its prediction.
    """

    scale: ClassVar[Scale] = "difference"
    guarantee: ClassVar[str] = (
        "Skewness-corrected t intervals for observed mean minus prediction, jointly valid over all "
        "components; replicates are independent."
    )

    def _compare(self, sample: Sample, predict: Predict | None) -> Array:
        return sample[self.observable] - number(predict, sample.cell)


@dataclass(frozen=True)
class ProportionDifference(MeanDifference):
    """mean(observable) - prediction for an observable in [0, 1].

    Near 0 and 1 a sample may show no variation at all and a t interval would shrink to a point.
    Where fewer than 2 log(2 / alpha) replicates' worth of successes, or of failures, were seen,
    the interval is widened to contain the exact binomial (Clopper-Pearson) one, whose variance
    is the largest that observations in [0, 1] with this mean can have.
    """

    scale: ClassVar[Scale] = "probability"
    guarantee: ClassVar[str] = (
        "Skewness-corrected t intervals for observed minus predicted probability, widened to "
        "exact binomial ones near 0 and 1, jointly valid over all components."
    )

    def _interval(
        self, values: Array, samples: Evidence, predict: Predict | None, alpha: float
    ) -> Interval:
        student = t_interval(values, alpha)
        rates = np.mean([sample[self.observable] for sample in samples], axis=0)
        if rates.min() < 0 or rates.max() > 1:
            raise ClaimError(f"observable {self.observable!r} leaves [0, 1]; use MeanDifference")
        count, trials = float(rates.sum()), rates.size
        if min(count, trials - count) >= 2 * math.log(2 / alpha):
            return student
        exact_low, exact_high = proportion_confint(count, trials, alpha=alpha, method="beta")
        shift = float(values.mean() - rates.mean())
        return Interval(min(student.low, exact_low + shift), max(student.high, exact_high + shift))
