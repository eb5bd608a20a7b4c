"""Means against predictions: as a ratio, as a difference, as a probability."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np

from recall_claims.declare.cell import Cell
from recall_claims.errors import ClaimError
from recall_claims.judge.methods import COIN, STUDENT, Array, Betting, Method
from recall_claims.judge.region import Component, Region, Scale
from recall_claims.judge.rules.base import (
    Evidence,
    Predict,
    Rule,
    Sample,
    component,
    groups,
    number,
    told_apart,
)

Map = Callable[[Any], Any]
"""An affine map of an observation, or of an array of them."""


class Grouped(Protocol):
    """What a rule about means of one observable says of it."""

    scale: ClassVar[Scale]

    @property
    def by(self) -> str | tuple[str, ...] | None: ...
    @property
    def method(self) -> Method: ...
    def values(self, sample: Sample, count: int) -> Array: ...


@dataclass(frozen=True)
class _Mean(Rule):
    """Shared grouping: a component per cell, or per group of cells averaged replicate-wise.

    `method` bounds the observable's mean: `Betting(low, high)` if it has a range.
    """

    region: Region
    observable: str = "value"
    by: str | tuple[str, ...] | None = None
    method: Method = STUDENT

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        refuse_vacuous(self, self.region, cells, partial(self._map, predict))

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        return compared_means(self, self.region, evidence, partial(self._map, predict), alpha)

    def _map(self, predict: Predict | None, cell: Cell) -> Map:
        expected = number(predict, cell)
        return lambda observed: self._compare(observed, expected)

    @staticmethod
    @abstractmethod
    def _compare(observed: Any, expected: float) -> Any:
        """An observation relative to its prediction."""


def compared_means(
    rule: Grouped,
    region: Region,
    evidence: Evidence,
    map_of: Callable[[Cell], Map],
    alpha: float,
) -> tuple[Component, ...]:
    """A component per cell, or per group of cells: the mean of the observable sent through a map.

    Cells have independent replicates, so the average over cells of the r-th replicates is again an
    independent sample. A control may have sent some cells further than others.
    """
    found = groups([sample.cell for sample in evidence], rule.by)
    result = []
    for name, members in found.items():
        samples = [evidence[i] for i in members]
        maps = [map_of(sample.cell) for sample in samples]
        count = min(sample.replicates for sample in samples)
        compared = [
            through(rule.method.within(rule.values(sample, count)))
            for through, sample in zip(maps, samples, strict=True)
        ]
        result.append(
            component(
                name,
                np.mean(compared, axis=0),
                rule.method.of_mean(maps),
                region,
                rule.scale,
                alpha,
                of=len(found),
                params=told_apart(samples[0].cell, rule.by),
                open_cells=tuple(sample.cell.id for sample in samples),
            )
        )
    return tuple(result)


def refuse_vacuous(
    rule: Grouped, region: Region, cells: Sequence[Cell], map_of: Callable[[Cell], Map]
) -> None:
    """Refuse a region that holds all that the observable can be: nothing could refute it.

    Raises:
        ClaimError: names the component, the range and the remedy.
    """
    for name, members in groups(cells, rule.by).items():
        method = rule.method.of_mean([map_of(cells[i]) for i in members])
        if isinstance(method, Betting) and region.low <= method.low and method.high <= region.high:
            raise ClaimError(
                f"{name}: the region holds everything from {method.low:g} to {method.high:g} that "
                "the observable can be, so nothing could refute it; narrow it"
            )


@dataclass(frozen=True)
class MeanRatio(_Mean):
    """mean(observable) / prediction, per cell or averaged over groups of cells.

    `MeanRatio(Region(0.95, 1.05), by=("dim",))`: for every dim, the ratio's average over the cells
    of that dim is within 5 per cent of 1. Without `by`, every cell's own is.
    """

    scale: ClassVar[Scale] = "ratio"
    estimand: ClassVar[str] = "Observed mean over prediction."

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        for cell in cells:
            if predict is not None and number(predict, cell) == 0:
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

    @staticmethod
    def _compare(observed: Any, expected: float) -> Any:
        return observed - expected


@dataclass(frozen=True)
class ProportionDifference(MeanDifference):
    """mean(observable) - prediction for a probability, a rate or another observable in [0, 1]."""

    method: Method = COIN
    scale: ClassVar[Scale] = "probability"
    estimand: ClassVar[str] = "Observed minus predicted probability."
