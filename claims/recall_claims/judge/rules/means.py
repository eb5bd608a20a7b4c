"""Means against predictions: as a ratio, as a difference, as a probability."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any, ClassVar

import numpy as np

from recall_claims.judge.methods import COIN, STUDENT, Betting, Deterministic, Method, Student
from recall_claims.judge.rules.base import (
    Components,
    Evidence,
    Part,
    Predict,
    Rule,
    groups,
    number,
    told_apart,
)
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import Region, Scale

Map = Callable[[Any], Any]
"""An affine map of observations."""


class Means(Rule):
    """A rule about the mean of an observable, per cell or averaged over groups of cells.

    Subclasses declare the fields.
    """

    region: Region
    by: str | tuple[str, ...] | None
    methods: ClassVar[tuple[type[Method], ...]] = (Betting, Student, Deterministic)

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        """Refuse an impossible grid, and a region of every possible value: no data refute it."""
        super().check(cells, predict)
        for name, members in groups(cells, self.by).items():
            method = self.method.of_mean([self._map(predict, cells[i]) for i in members])
            if not isinstance(method, Betting):
                continue
            if self.region.low <= method.low and method.high <= self.region.high:
                raise ClaimError(
                    f"{name}: the region holds everything from {method.low:g} to {method.high:g} "
                    "that the observable can be, so nothing could refute it; narrow it"
                )

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        """Estimate, for each group, the mean of the observable relative to its prediction.

        We average the cells' first replicates, then their second ones, and so on. Cells have
        independent replicates, so these averages are independent too. If controls asked for more
        replicates of some cells, the smallest number of replicates counts.
        """

        def part(name: str, members: Sequence[int]) -> Part:
            samples = [evidence[i] for i in members]
            maps = [self._map(predict, sample.cell) for sample in samples]
            count = min(sample.replicates for sample in samples)
            compared = [
                through(self.method.within(self.values(sample, count)))
                for through, sample in zip(maps, samples, strict=True)
            ]
            values = np.mean(compared, axis=0)
            bounds = partial(self.method.of_mean(maps).bounds, values)
            ids = [sample.cell.id for sample in samples]
            params = told_apart(samples[0].cell, self.by)
            return Part(name, float(values.mean()), bounds, ids, params)

        found = groups([sample.cell for sample in evidence], self.by)
        return self.joint(starmap(part, found.items()), alpha)

    def _map(self, predict: Predict | None, cell: Cell) -> Map:
        expected = number(predict, cell)
        return lambda observed: self._compare(observed, expected)

    @staticmethod
    def _compare(observed: Any, expected: float) -> Any:
        """Express an observation relative to its prediction."""
        return observed - expected


@dataclass(frozen=True)
class _Mean(Means):
    """The fields that most of these rules have.

    `method` bounds the observable's mean: `Betting(low, high)` if the observable has a range.
    """

    region: Region
    observable: str = "value"
    by: str | tuple[str, ...] | None = None
    method: Method = STUDENT


@dataclass(frozen=True)
class MeanRatio(_Mean):
    """mean(observable) / prediction, per cell or averaged over groups of cells.

    `MeanRatio(Region(0.95, 1.05), by=("dim",))`: for every dim, the ratio's average over the cells
    of that dim is within 5 per cent of 1. Without `by`, so is every cell's ratio.
    """

    scale: ClassVar[Scale] = "ratio"
    estimand: ClassVar[str] = "Observed mean over prediction."

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        for cell in cells:
            if number(predict, cell) == 0:
                raise ClaimError(f"prediction is 0 at {cell.id}: a ratio to it means nothing")
        super().check(cells, predict)

    @staticmethod
    def _compare(observed: Any, expected: float) -> Any:
        return observed / expected


@dataclass(frozen=True)
class MeanDifference(_Mean):
    """mean(observable) - prediction, per cell or averaged over groups of cells.

    `MeanDifference(Region(-0.02, 0.02), observable="loss")`: each cell's mean of "loss" is within
    0.02 of its prediction.
    """

    scale: ClassVar[Scale] = "difference"
    estimand: ClassVar[str] = "Observed mean minus prediction."


@dataclass(frozen=True)
class ProportionDifference(MeanDifference):
    """mean(observable) - prediction for a probability, a rate or another observable in [0, 1]."""

    method: Method = COIN
    scale: ClassVar[Scale] = "probability"
    estimand: ClassVar[str] = "Observed minus predicted probability."
