"""Critical values: where a success rate crosses a target as one parameter is scanned.

A ladder tests the rate at several values of the parameter, its rungs. No curve is fitted: a rung
shown to be above the target bounds the critical value on one side, one shown to be below it on the
other. The rate is assumed to cross its target once, as a monotone one does; two rungs on the wrong
sides of each other contradict that, and leave no verdict.

Rungs are tested in their order, from the one just inside the region's edge on, until the first
failure: the hypotheses are nested, so the first true one that is met decides, and the bracket
misses the critical value on either side with probability at most the level of one test, however
many rungs there are. All rungs and regions, a control's too, were fixed beforehand.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, Literal

import numpy as np
from scipy import optimize

from recall_claims.declare.cell import Cell
from recall_claims.errors import ClaimError
from recall_claims.judge.methods import COIN, Array, Method
from recall_claims.judge.region import Interval, Region, Scale
from recall_claims.judge.rules.base import Components, Evidence, Part, Predict, Rule, Sample, number
from recall_claims.judge.rules.exponents import ExponentRule, functional

HAIR = 1e-12
"""How far from an edge, relative to it, a rung still counts as on it: rounding makes less."""
FOLD = 1e-3
"""Level at which each of two rungs that contradict a single crossing is shown on its side."""
EVERYWHERE = Region(0.0, math.inf)


class _LadderRule(Rule):
    """What rules about critical values share; their fields are their own."""

    scan: str
    target: float | str
    observable: str
    rising: bool
    predicts_location: ClassVar[bool] = True
    method: ClassVar[Method] = COIN

    def target_of(self, cell: Cell) -> float:
        """The target of a cell's ladder."""
        return cell.number(self.target) if isinstance(self.target, str) else self.target

    def ladders(self, evidence: Evidence) -> Iterator[Ladder]:
        """The ladders with their replicates, in the order of the cells."""
        for members in ladders([sample.cell for sample in evidence], self.scan):
            samples = [evidence[i] for i in members]
            target = self.target_of(samples[0].cell)
            yield Ladder(samples, self.scan, target, self.observable, self.rising)

    def doubt(self, evidence: Evidence) -> str:
        for ladder in self.ladders(evidence):
            if fold := ladder.fold():
                return (
                    f"{self.observable!r} is shown to be above its target at {fold[0]} and below "
                    f"it at {fold[1]}, so it crosses the target more than once as {self.scan} "
                    "grows, and no critical value is defined; scan where the rate is monotone, or "
                    "judge rates"
                )
        return ""

    def _rungs(self, cells: Sequence[Cell]) -> list[list[Cell]]:
        """The cells of each ladder, from its lowest rung."""
        return [[cells[i] for i in members] for members in ladders(cells, self.scan)]


@dataclass(frozen=True)
class CriticalLocation(_LadderRule):
    """Bracketed critical value of `scan` over its prediction, one component per ladder.

    `CriticalLocation(Region(0.9, 1.1), scan="dim")`: at fixed other parameters, the success rate
    rises through one half at a dim within 10 per cent of the predicted one. `rising=False` if it
    falls. `target="level"`: through the parameter `level` of each ladder.

    `predict` gives the critical value and must not depend on `scan`. A ladder of whole numbers
    gets the two next to each edge of its region as rungs: the inner one supports, the outer one
    refutes, and a crossing between them stays inconclusive. Another one gets the edges themselves.
    """

    region: Region
    scan: str = "samples"
    target: float | str = 0.5
    observable: str = "value"
    rising: bool = True
    scale: ClassVar[Scale] = "ratio"
    estimand: ClassVar[str] = (
        "Rungs between which a monotone success rate crosses the target, over the predicted "
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
                    f"predict must give one positive critical {self.scan} for the whole ladder "
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
                    f"the ladder of {self.scan} through {rungs[0].id} has {len(inside)} "
                    f"rungs in its region, {low:g} to {high:g} (it has {values}), so nothing could "
                    "support the claim; give it rungs at the region's edges, or just inside"
                )

    def alone(self, point: Cell, predict: Predict | None) -> tuple[Cell, ...]:
        """Rungs just outside the region's edges; of a single edge, one on either side or beyond."""
        values = self._whole_numbers(number(predict, point))
        if not values:
            raise ClaimError(f"no whole number of {self.scan} lies below the region at {point.id}")
        last = values[-1] if values[-1] > values[0] else 2 * values[0]
        return tuple(point.replace(**{self.scan: value}) for value in (values[0], last))

    def discrepancy(self, evidence: Evidence, predict: Predict | None, alpha: float) -> float:
        """By how much a rung's rate is shown on the wrong side of the target, over the target.

        The rates tell more than the bracket, which is open until a rung is decided.
        """
        worst = -math.inf
        for ladder in self.ladders(evidence):
            region = self._region_of(number(predict, ladder.samples[0].cell))
            for sample, rung in zip(ladder.samples, ladder.rungs, strict=True):
                rate = self.method.bounds(sample[self.observable], alpha)
                too_high, too_low = rate.low / ladder.target - 1, 1 - rate.high / ladder.target
                if rung <= region.low:  # the crossing is to be above
                    worst = max(worst, too_high if self.rising else too_low)
                elif rung >= region.high:
                    worst = max(worst, too_low if self.rising else too_high)
        return worst

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        found = list(self.ladders(evidence))

        def part(ladder: Ladder) -> Part:
            cell = ladder.samples[0].cell
            critical, params = number(predict, cell), cell.without(self.scan)
            region = self._region_of(critical)
            name = ",".join(f"{k}={v}" for k, v in sorted(params.items()))
            bounds = partial(_bracket_over, critical, ladder, region)
            open_cells = ladder.open_rungs(region, alpha, alpha / (2 * len(found)))
            return Part(name, ladder.estimate / critical, bounds, open_cells, params)

        return self.joint(map(part, found), alpha)

    def _region_of(self, critical: float) -> Region:
        """The region of the critical value itself, where this one is predicted."""
        return Region(self.region.low * critical, self.region.high * critical)

    def _edges(self, critical: float) -> list[float]:
        """Edges of that region at which there may be a crossing."""
        region = self._region_of(critical)
        return [edge for edge in (region.low, region.high) if 0 < edge < math.inf]

    def _whole_numbers(self, critical: float) -> list[int]:
        """The two next to each edge from 1 on; where an edge is one itself, this one twice."""
        edges = [edge for edge in self._edges(critical) if edge * (1 + HAIR) >= 1]
        pairs = [(math.floor(edge * (1 + HAIR)), math.ceil(edge * (1 - HAIR))) for edge in edges]
        return [value for pair in pairs for value in pair]


def _bracket_over(critical: float, ladder: Ladder, region: Region, level: float) -> Interval:
    """The bracket in units of the prediction, by a hair inside: the crossing is at neither end."""
    bracket = ladder.bracket(level, region)
    return Interval(bracket.low * (1 + HAIR) / critical, bracket.high * (1 - HAIR) / critical)


@dataclass(frozen=True)
class CriticalExponents(_LadderRule, ExponentRule):
    """Exponents of the critical value of `scan` in the other parameters, jointly.

    Each ladder brackets its critical value, and the brackets bound the least-squares exponents of
    the critical values: two ladders a parameter, brackets within 10 per cent either way and a lever
    of 8 give an exponent to 0.1. `reference` is as for `Exponents`.
    """

    scan: str = "samples"
    target: float | str = 0.5
    rising: bool = True
    estimand: ClassVar[str] = (
        "Least-squares exponents of critical values, bounded by the rungs between which monotone "
        "success rates cross the target."
    )

    def alone(self, point: Cell, predict: Predict | None) -> tuple[Cell, ...]:
        raise ClaimError("an exponent of critical values takes several ladders")

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
    """An interval for a weighted sum of log critical values, whose ladders share the level."""
    brackets = [ladder.bracket(level / len(ladders)) for ladder in ladders]
    used = np.abs(weights) > 1e-12  # 0 times an open end's infinite logarithm is no number
    with np.errstate(divide="ignore"):
        logs = np.log([[bracket.low, bracket.high] for bracket in brackets])[used]
    ends = weights[used, None] * logs
    return Interval(float(ends.min(axis=1).sum()), float(ends.max(axis=1).sum()))


@dataclass(frozen=True)
class Ladder:
    """The rungs of one ladder with their replicates, from the lowest.

    >>> rungs = [Sample(Cell(dim=d), {"value": np.full(64, d / 30)}) for d in (10, 15, 20)]
    >>> Ladder(rungs, "dim", target=0.5, observable="value", rising=True).bracket(1e-3)
    Interval(low=10.0, high=20.0)

    Attributes:
        samples: one per rung.
        scan: the parameter that the rungs differ in.
        target: the success rate whose crossing is bracketed.
        observable: a success rate in [0, 1] of each replicate.
        rising: whether the rate rises with the parameter.
    """

    samples: Sequence[Sample]
    scan: str
    target: float
    observable: str
    rising: bool

    @cached_property
    def rungs(self) -> list[float]:
        """Values of the parameter."""
        return [sample.cell.number(self.scan) for sample in self.samples]

    def bracket(self, alpha: float, region: Region = EVERYWHERE) -> Interval:
        """Rungs between which the crossing lies; each misses it with probability <= alpha.

        The search for each starts just inside the region's edge, and ends at the first failure.
        """
        low, high = 0.0, math.inf
        sides = self.sides(alpha)
        for i in self._within(region.low, math.inf):
            if sides[i] != "above":
                break
            low = self.rungs[i]
        for i in reversed(self._within(0.0, region.high)):
            if sides[i] != "below":
                break
            high = self.rungs[i]
        # Both ends past each other: the rate is not monotone, or a rare error. Nothing is known.
        return Interval(low, high) if low <= high else Interval(0.0, math.inf)

    def sides(self, alpha: float) -> list[Literal["above", "below", "open"]]:
        """For each rung, whether the crossing is shown to be above or below it."""
        needed = math.log(1 / alpha)
        shown = [(above >= needed, below >= needed) for above, below in self._wealths]
        return ["above" if above else "below" if below else "open" for above, below in shown]

    def undecided(self, alpha: float) -> list[int]:
        """Rungs on neither side of the crossing so far."""
        return [i for i, side in enumerate(self.sides(alpha)) if side == "open"]

    def fold(self) -> tuple[str, str] | None:
        """Ids of a rung above the target and of one below it, if they are in the wrong order."""
        sides, ids = self.sides(FOLD), [sample.cell.id for sample in self.samples]
        for lower, upper in itertools.combinations(range(len(ids)), 2):
            if sides[lower] == "below" and sides[upper] == "above":
                return (ids[lower], ids[upper]) if self.rising else (ids[upper], ids[lower])
        return None

    @cached_property
    def estimate(self) -> float:
        """Where monotone rates, interpolated in the parameter's logarithm, cross the target.

        NaN where the rates are all on one side of it. For display: no verdict rests on it.
        """
        means = [float(sample[self.observable].mean()) for sample in self.samples]
        weights = [sample.replicates for sample in self.samples]
        rates = optimize.isotonic_regression(means, weights=weights, increasing=self.rising).x
        if not rates.min() <= self.target <= rates.max():
            return math.nan
        reached = rates >= self.target if self.rising else rates <= self.target
        after = max(1, int(np.argmax(reached)))  # the first rung at the crossing or beyond
        first, last = rates[after - 1 : after + 1]
        share = 0.5 if first == last else (self.target - first) / (last - first)
        start, end = np.log(self.rungs)[after - 1 : after + 1]
        return float(math.exp(start + share * (end - start)))

    def open_rungs(self, region: Region, alpha: float, strict: float) -> tuple[str, ...]:
        """Ids of the rungs of which more replicates may decide about a region for the crossing.

        It is supported at the level `alpha`, and refuted at the level `strict`.
        """
        wanted = self._supporting(region, alpha).intersection(self.undecided(alpha))
        wanted |= self._refuting(region).intersection(self.undecided(strict))
        return tuple(self.samples[i].cell.id for i in sorted(wanted))

    def _supporting(self, region: Region, alpha: float) -> set[int]:
        """The rungs just inside the region's edges, if they may still support it."""
        inside, sides = self._within(region.low, region.high), self.sides(alpha)
        if not inside or sides[inside[0]] == "below" or sides[inside[-1]] == "above":
            return set()
        return {inside[0], inside[-1]}

    def _refuting(self, region: Region) -> set[int]:
        """Those from inside one edge to the first past the other, if the estimate is past it."""
        found: set[int] = set()
        over, under = self._within(region.high, math.inf), self._within(0.0, region.low)
        if over and not self.estimate <= region.high:  # or unknown
            found.update(range(self._within(region.low, math.inf)[0], over[0] + 1))
        if under and not self.estimate >= region.low:
            found.update(range(under[-1], self._within(0.0, region.high)[-1] + 1))
        return found

    @cached_property
    def _wealths(self) -> list[tuple[float, float]]:
        """For each rung, log wealths of bets on a crossing above it, and on one below it."""
        rates = [COIN.log_wealths(s[self.observable], self.target) for s in self.samples]
        # Where a rate that rises is below its target, the crossing is above.
        return [(less, more) if self.rising else (more, less) for more, less in rates]

    def _within(self, low: float, high: float) -> range:
        """Rungs between two edges, or on one of them."""
        first = bisect.bisect_left(self.rungs, low * (1 - HAIR))
        return range(first, bisect.bisect_right(self.rungs, high * (1 + HAIR)))


def ladders(cells: Sequence[Cell], scan: str) -> list[list[int]]:
    """Indices of the cells of each ladder, from its lowest rung: equal in everything but `scan`.

    Raises:
        ClaimError: a cell has no positive `scan`, or a ladder has a single rung.
    """
    found: dict[tuple[tuple[str, object], ...], list[int]] = {}
    for index, cell in enumerate(cells):
        if scan not in cell or cell.number(scan) <= 0:
            raise ClaimError(f"cell {cell.id} has no positive {scan} to scan")
        found.setdefault(tuple(sorted(cell.without(scan).items())), []).append(index)
    for members in found.values():
        members.sort(key=lambda index: cells[index].number(scan))
        if len(members) < 2:
            raise ClaimError(
                f"the ladder of {scan} through {cells[members[0]].id} has a single rung; a "
                "crossing is bracketed between two"
            )
    return list(found.values())
