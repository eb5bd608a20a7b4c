"""Critical values: values of a scanned parameter at which a success rate crosses a target."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from recall_claims.judge.methods import COIN, Array, Method
from recall_claims.judge.rules.base import Components, Evidence, Part, Predict, Rule, number
from recall_claims.judge.rules.exponents import ExponentRule, functional
from recall_claims.judge.rules.ladder import Ladder, ladders, within
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import HAIR, Interval, Region, Scale


class _LadderRule(Rule):
    """Common part of rules about critical values; subclasses declare the fields."""

    scan: str
    target: float | str
    observable: str
    rising: bool
    predicts_location: ClassVar[bool] = True
    method: ClassVar[Method] = COIN

    def target_of(self, cell: Cell) -> float:
        """Return the target of the success rate: `target`, or the cell's parameter of that name."""
        return cell.number(self.target) if isinstance(self.target, str) else self.target

    def ladders(self, evidence: Evidence) -> Iterator[Ladder]:
        """Split the evidence into series of test sizes, in the order of the cells."""
        for members in ladders([sample.cell for sample in evidence], self.scan):
            samples = [evidence[i] for i in members]
            target = self.target_of(samples[0].cell)
            yield Ladder(samples, self.scan, target, self.observable, self.rising)

    def doubt(self, evidence: Evidence) -> str:
        for ladder in self.ladders(evidence):
            if fold := ladder.fold():
                return (
                    f"{self.observable!r} is shown to be above its target at {fold[0]} and below "
                    f"it at {fold[1]}, so it {'falls' if self.rising else 'rises'} through the "
                    f"target as {self.scan} grows, and no critical value is defined. Scan where "
                    f"the rate is monotone, declare rising={not self.rising}, or judge rates"
                )
        return ""

    def _rungs(self, cells: Sequence[Cell]) -> list[list[Cell]]:
        """Return the cells of each series of test sizes, from the lowest."""
        return [[cells[i] for i in members] for members in ladders(cells, self.scan)]


@dataclass(frozen=True)
class CriticalLocation(_LadderRule):
    """Bracketed critical value of `scan` divided by its prediction, one component per series of
    test sizes.

    `CriticalLocation(Region(0.9, 1.1), scan="dim")`: at fixed other parameters, the success rate
    rises through one half at a dim within 10% of the predicted dim. Give `rising=False` for
    a rate that falls. With `target="level"`, the target is the parameter `level` of each series.

    `predict` gives the critical value and must not depend on `scan`. A series of whole numbers gets
    the two numbers next to each edge of its region as test sizes. (A whole edge counts as both;
    an edge below 1 gets none.) A crossing within the inner numbers supports the claim, one outside
    the outer numbers refutes it, and any other decides nothing. Other series get the edges.
    """

    region: Region
    scan: str = "samples"
    target: float | str = 0.5
    observable: str = "value"
    rising: bool = True
    scale: ClassVar[Scale] = "ratio"
    estimand: ClassVar[str] = (
        "Test sizes between which a monotone success rate crosses the target, over the predicted "
        "crossing; tested from just inside the region's edges on, until the first failure."
    )

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        for rungs in self._rungs(cells):
            target = self.target_of(rungs[0])
            if not 0 < target < 1:
                raise ClaimError(f"the target is a success rate in (0, 1), got {target}")
            values = [number(predict, cell) for cell in rungs]
            if min(values) <= 0 or max(values) > min(values) * (1 + 1e-9):
                raise ClaimError(
                    f"predict must give one positive critical {self.scan} for all sizes "
                    f"through {rungs[0].id}, got {min(values):g} to {max(values):g}"
                )

    def completed(self, cells: Sequence[Cell], predict: Predict | None) -> tuple[Cell, ...]:
        found = list(cells)
        for rungs in self._rungs(cells):
            values = [cell[self.scan] for cell in rungs]
            critical = number(predict, rungs[0])
            if all(isinstance(value, int) for value in values):
                more: Sequence[float] = self._whole_numbers(critical)
            else:
                edges = self._edges(critical)
                more = [e for e in edges if not np.isclose(e, values, rtol=HAIR, atol=0).any()]
            found += [rungs[0].replace(**{self.scan: value}) for value in more]
        return tuple(dict.fromkeys(found))

    def decidable(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        for rungs in self._rungs(cells):
            region = self._region_of(number(predict, rungs[0]))
            values = [cell.number(self.scan) for cell in rungs]
            low, high = region.low * (1 - HAIR), region.high * (1 + HAIR)
            inside = [value for value in values if low <= value <= high]
            needed = 2 if math.isfinite(high) and low > 0 else 1
            if len(inside) < needed:
                raise ClaimError(
                    f"the test sizes {self.scan} with {rungs[0].id} have {len(inside)} "
                    f"in the region, {low:g} to {high:g} (of {values}), so nothing could "
                    "support the claim. Add sizes at the region's edges, or just inside"
                )

    def begun(self, cells: Sequence[Cell], predict: Predict | None) -> Sequence[Cell]:
        """Return the cells at sizes inside the region, which can support the claim.

        If a series has fewer than two such sizes, all of its cells are returned.
        """
        found: list[Cell] = []
        for rungs in self._rungs(cells):
            region = self._region_of(number(predict, rungs[0]))
            inside = within([rung.number(self.scan) for rung in rungs], region.low, region.high)
            found += (rungs[i] for i in (inside if len(inside) > 1 else range(len(rungs))))
        return found

    def alone(self, point: Cell, predict: Predict | None) -> tuple[Cell, ...]:
        """Return two cells at whole numbers, just outside the region's edges or on them.

        Edges below 1 do not count. If one edge is left, the whole numbers are the two next to this
        edge; if the edge is a whole number n, they are n and 2 n.

        Raises:
            ClaimError: no edge is at least 1.
        """
        values = self._whole_numbers(number(predict, point))
        if not values:
            raise ClaimError(f"no edge of the region of {self.scan} is at least 1 at {point.id}")
        last = values[-1] if values[-1] > values[0] else 2 * values[0]
        return tuple(point.replace(**{self.scan: value}) for value in (values[0], last))

    def discrepancy(self, evidence: Evidence, predict: Predict | None, alpha: float) -> float:
        """Return the most by which a rate is shown to be on the wrong side of its target.

        The distance is relative to the target, and negative if no rate is shown to be so. The
        bracket is of no use here: it is infinite until a size is decided.
        """
        worst = -math.inf
        for ladder in self.ladders(evidence):
            region = self._region_of(number(predict, ladder.samples[0].cell))
            for sample, rung in zip(ladder.samples, ladder.rungs, strict=True):
                rate = self.method.bounds(sample[self.observable], alpha)
                too_high, too_low = rate.low / ladder.target - 1, 1 - rate.high / ladder.target
                if rung <= region.low:  # the crossing should be above
                    worst = max(worst, too_high if self.rising else too_low)
                elif rung >= region.high:
                    worst = max(worst, too_low if self.rising else too_high)
        return worst

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        return self._joined(evidence, predict, alpha, Ladder.open_rungs)

    def against(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        return self._joined(evidence, predict, alpha, Ladder.nearest_rungs)

    def _joined(
        self,
        evidence: Evidence,
        predict: Predict | None,
        alpha: float,
        open_rungs: Callable[[Ladder, Region, float, float], tuple[str, ...]],
    ) -> Components:
        found = list(self.ladders(evidence))

        def part(ladder: Ladder) -> Part:
            cell = ladder.samples[0].cell
            critical, params = number(predict, cell), cell.without(self.scan)
            region = self._region_of(critical)
            name = ",".join(f"{k}={v}" for k, v in sorted(params.items()))
            alone = partial(_bracket_over, critical, ladder, region)
            together = partial(_bracket_over, critical, ladder, region, together=True)
            open_cells = open_rungs(ladder, region, alpha, alpha / (2 * len(found)))
            estimate = ladder.estimate / critical
            return Part(name, estimate, alone, open_cells, params, refuting=together)

        return self.joint(map(part, found), alpha)

    def _region_of(self, critical: float) -> Region:
        """Return the critical value's region: the declared region times this prediction."""
        return Region(self.region.low * critical, self.region.high * critical)

    def _edges(self, critical: float) -> list[float]:
        """Return the positive, finite edges of the critical value's region."""
        region = self._region_of(critical)
        return [edge for edge in (region.low, region.high) if 0 < edge < math.inf]

    def _whole_numbers(self, critical: float) -> list[int]:
        """Return the whole numbers on both sides of each edge of at least 1; a whole edge twice."""
        edges = [edge for edge in self._edges(critical) if edge * (1 + HAIR) >= 1]
        pairs = [(math.floor(edge * (1 + HAIR)), math.ceil(edge * (1 - HAIR))) for edge in edges]
        return [value for pair in pairs for value in pair]


def _bracket_over(
    critical: float, ladder: Ladder, region: Region, level: float, *, together: bool = False
) -> Interval:
    """Divide the bracket by the prediction; shrink it slightly, to exclude its ends."""
    bracket = ladder.bracket(level, region, together=together)
    inwards = 4 * HAIR  # farther than rounding reaches
    return Interval(bracket.low * (1 + inwards) / critical, bracket.high * (1 - inwards) / critical)


@dataclass(frozen=True)
class CriticalExponents(_LadderRule, ExponentRule):
    """Exponents of the critical value of `scan` in the parameters of `exponents`, jointly.

    Each series of test sizes brackets its critical value, and the brackets bound the least-squares
    exponents of the critical values. With two series per parameter, a factor 8 apart and bracketed
    to 10 per cent either way, an exponent is known to 0.1. `reference` is as for `Exponents`.
    """

    scan: str = "samples"
    target: float | str = 0.5
    rising: bool = True
    estimand: ClassVar[str] = (
        "Least-squares exponents of critical values, bounded by the test sizes between which "
        "monotone success rates cross the target."
    )

    def alone(self, point: Cell, predict: Predict | None) -> tuple[Cell, ...]:
        raise ClaimError("an exponent of critical values takes several series of test sizes")

    def points(self, cells: Sequence[Cell]) -> Sequence[Cell]:
        return [rungs[0] for rungs in self._rungs(cells)]

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        found = list(self.ladders(evidence))
        points = [ladder.samples[0].cell for ladder in found]
        matrix = functional(points, list(self.exponents))
        estimates = matrix @ np.log([ladder.estimate for ladder in found])
        strict = alpha / len(found) / (2 * len(self.exponents))
        read = [ladder.samples[i].cell for ladder in found for i in ladder.undecided(strict)]
        bounds = [partial(_exponent_bounds, found, row) for row in matrix]
        return self.compared(points, read, list(estimates), bounds, predict, alpha)


def _exponent_bounds(ladders: Sequence[Ladder], weights: Array, level: float) -> Interval:
    """Bound a weighted sum of log critical values; their series share the level."""
    brackets = [ladder.bracket(level / len(ladders)) for ladder in ladders]
    used = np.abs(weights) > 1e-12  # 0 times an open end's infinite logarithm is NaN
    with np.errstate(divide="ignore"):
        logs = np.log([[bracket.low, bracket.high] for bracket in brackets])[used]
    ends = weights[used, None] * logs
    return Interval(float(ends.min(axis=1).sum()), float(ends.max(axis=1).sum()))
