"""Critical values: where a success rate crosses a target as one parameter is scanned.

No curve is fitted. The success rate is assumed to cross its target once, as a monotone one does: a
rung shown to be above the target bounds the critical value on one side, one shown to be below it on
the other. Two rungs on the wrong sides of each other contradict that, and leave no verdict. Rungs
are tested in their order, from the one just inside the region's edge on, until the first failure:
the hypotheses are nested, so the first true one that is met decides, and the bracket misses the
critical value on either side with probability at most the level of one test, however many rungs
there are. Rungs and regions, be it a control's or a falsified theory's, were fixed beforehand.

Where the parameter is a whole number, the last one inside an edge supports and the first one
outside refutes; a crossing between the two stays inconclusive. The rule puts both on every ladder.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from scipy import optimize

from recall_claims.declare.cell import Cell
from recall_claims.errors import ClaimError
from recall_claims.judge.methods import Array, Betting, Method
from recall_claims.judge.region import Interval, Region, Scale
from recall_claims.judge.rules.base import Components, Evidence, Part, Predict, Rule, Sample, number
from recall_claims.judge.rules.exponents import ExponentRule, functional

HAIR = 1e-12
"""Relative; more than rounding makes of the quotient of a rung and a prediction."""

EVERYWHERE = Region(0.0, math.inf)
FOLD = 1e-3
"""Level at which each of two rungs that contradict a single crossing is shown on its side."""


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


@dataclass(frozen=True)
class Ladder:
    """The rungs of one ladder with their replicates, from the lowest.

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
    method: ClassVar[Betting] = Betting(0.0, 1.0)

    @cached_property
    def rungs(self) -> list[float]:
        """Values of the parameter."""
        return [sample.cell.number(self.scan) for sample in self.samples]

    @cached_property
    def _wealths(self) -> list[tuple[float, float]]:
        """For each rung, what bets on a rate above and below the target have come to."""
        return [self.method.log_wealths(s[self.observable], self.target) for s in self.samples]

    def shown_above(self, alpha: float) -> list[bool]:
        """For each rung, whether the crossing is shown to lie above it."""
        return [wealth[self.rising] >= math.log(1 / alpha) for wealth in self._wealths]

    def shown_below(self, alpha: float) -> list[bool]:
        """For each rung, whether the crossing is shown to lie below it."""
        return [wealth[not self.rising] >= math.log(1 / alpha) for wealth in self._wealths]

    def bracket(self, alpha: float, region: Region = EVERYWHERE) -> Interval:
        """Rungs between which the crossing lies; each misses it with probability <= alpha.

        The search for either starts just inside the region's edge on its side, and is without
        result if that rung is not decided.
        """
        low, high = 0.0, math.inf
        above, below = self.shown_above(alpha), self.shown_below(alpha)
        for i in self._from(region.low):
            if not above[i]:
                break
            low = self.rungs[i]
        for i in reversed(self._to(region.high)):
            if not below[i]:
                break
            high = self.rungs[i]
        # Both ends past each other: the rate is not monotone, or a rare error. Nothing is known.
        return Interval(low, high) if low <= high else Interval(0.0, math.inf)

    def fold(self) -> tuple[str, ...]:
        """Ids of two rungs, the lower shown beyond the crossing, the upper short of it, if any."""
        above, below = self.shown_above(FOLD), self.shown_below(FOLD)
        ids = [sample.cell.id for sample in self.samples]
        first = below.index(True) if True in below else len(ids)
        return next(((ids[first], ids[i]) for i in range(first, len(ids)) if above[i]), ())

    @cached_property
    def estimate(self) -> float:
        """Where monotone rates, interpolated in the parameter's logarithm, cross the target.

        NaN where the rates are all on one side of it. For display: no verdict rests on it.
        """
        rates = [float(sample[self.observable].mean()) for sample in self.samples]
        weights = [sample.replicates for sample in self.samples]
        rates = optimize.isotonic_regression(rates, weights=weights, increasing=self.rising).x
        logs, sign = np.log(self.rungs), 1 if self.rising else -1
        if not sign * rates[0] <= sign * self.target <= sign * rates[-1]:
            return math.nan
        after = max(1, int(np.argmax(sign * rates >= sign * self.target)))
        first, last = rates[after - 1], rates[after]
        share = 0.5 if first == last else (self.target - first) / (last - first)
        return float(math.exp(logs[after - 1] + share * (logs[after] - logs[after - 1])))

    def undecided(self, alpha: float) -> list[int]:
        """Rungs on neither side of the crossing so far."""
        sides = zip(self.shown_above(alpha), self.shown_below(alpha), strict=True)
        return [rung for rung, shown in enumerate(sides) if not any(shown)]

    def open_rungs(self, region: Region, alpha: float, strict: float) -> tuple[str, ...]:
        """Ids of the rungs of which more replicates may decide about a region for the crossing.

        To support, these are the rungs just inside its edges. To refute, where the estimate is
        outside, these are the rungs from inside the one edge to the first outside the other.

        Args:
            region: of the crossing itself.
            alpha: level at which it is supported.
            strict: level at which it is refuted.
        """
        rungs, above, below = self._from(region.low), self._from(region.high), self._to(region.low)
        wanted: set[int] = set()
        inside = [i for i in rungs if i in self._to(region.high)]
        if inside and not (
            self.shown_below(alpha)[inside[0]] or self.shown_above(alpha)[inside[-1]]
        ):
            wanted |= {inside[0], inside[-1]}.intersection(self.undecided(alpha))
        estimate = self.estimate
        refute: set[int] = set()
        if above and not estimate <= region.high:  # or unknown
            refute |= set(range(rungs[0], above[0] + 1))
        if below and not estimate >= region.low:
            refute |= set(range(below[-1], self._to(region.high)[-1] + 1))
        wanted |= refute.intersection(self.undecided(strict))
        return tuple(self.samples[i].cell.id for i in sorted(wanted))

    def _from(self, edge: float) -> range:
        """Rungs at the edge or above."""
        return range(bisect.bisect_left(self.rungs, edge * (1 - HAIR)), len(self.rungs))

    def _to(self, edge: float) -> range:
        """Rungs at the edge or below."""
        return range(bisect.bisect_right(self.rungs, edge * (1 + HAIR)))


class _LadderRule(Rule):
    """What rules about critical values share; their fields are their own."""

    scan: str
    target: float | str
    observable: str
    rising: bool
    predicts_location: ClassVar[bool] = True
    method: ClassVar[Method] = Ladder.method

    def ladders(self, evidence: Evidence) -> Iterator[Ladder]:
        """The ladders, in the order of the cells."""
        for members in ladders([sample.cell for sample in evidence], self.scan):
            rungs = [evidence[i] for i in members]
            target = self.target_of(rungs[0].cell)
            yield Ladder(rungs, self.scan, target, self.observable, self.rising)

    def doubt(self, evidence: Evidence) -> str:
        for rungs in filter(None, (ladder.fold() for ladder in self.ladders(evidence))):
            over, under = rungs if self.rising else reversed(rungs)
            return (
                f"{self.observable!r} is shown to be above its target at {over} and below it at "
                f"{under}, so it crosses the target more than once as {self.scan} grows, and no "
                "critical value is defined; scan where the rate is monotone, or judge rates"
            )
        return ""

    def target_of(self, cell: Cell) -> float:
        """The target of a cell's ladder."""
        return cell.number(self.target) if isinstance(self.target, str) else self.target


@dataclass(frozen=True)
class CriticalLocation(_LadderRule):
    """Bracketed critical value of `scan` over its prediction, one component per ladder.

    `predict` gives the critical value and must not depend on `scan`.

    `CriticalLocation(Region(0.9, 1.1), scan="dim")`: at fixed other parameters, the success rate
    rises through one half at a dim within 10 per cent of the predicted one. `rising=False` if it
    falls. `target="level"`: through the parameter `level` of each ladder. A ladder of whole numbers
    gets the two next to each edge of its region as rungs, another one the edges themselves.
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
        for members in ladders(cells, self.scan):
            target = self.target_of(cells[members[0]])
            if not 0 < target < 1:
                raise ClaimError(f"the target is a success rate in (0, 1), got {target}")
            values = [number(predict, cells[i]) for i in members]
            if min(values) <= 0 or max(values) > min(values) * (1 + 1e-9):
                raise ClaimError(
                    f"predict must give one positive critical {self.scan} for the whole ladder "
                    f"through {cells[members[0]].id}, got {min(values):g} to {max(values):g}"
                )

    def completed(self, cells: Sequence[Cell], predict: Predict | None) -> tuple[Cell, ...]:
        found = list(cells)
        for members in ladders(cells, self.scan):
            first, rungs = cells[members[0]], [cells[i][self.scan] for i in members]
            critical, more = number(predict, first), list[float]()
            if all(isinstance(rung, int) for rung in rungs):
                more = [rung for pair in self._edges(critical) for rung in pair]
            else:
                ends = self._ends(critical)
                more = [e for e in ends if not np.isclose(e, rungs, rtol=HAIR, atol=0).any()]
            found += [first.replace(**{self.scan: rung}) for rung in more]
        return tuple(dict.fromkeys(found))

    def decidable(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        for members in ladders(cells, self.scan):
            region = self._scaled(number(predict, cells[members[0]]))
            rungs = [cells[i].number(self.scan) for i in members]
            low, high = region.low * (1 - HAIR), region.high * (1 + HAIR)
            inside = [rung for rung in rungs if low <= rung <= high]
            needed = 2 if math.isfinite(high) and low > 0 else 1
            if len(inside) < needed:
                raise ClaimError(
                    f"the ladder of {self.scan} through {cells[members[0]].id} has {len(inside)} "
                    f"rungs in its region, {low:g} to {high:g} (it has {rungs}), so nothing could "
                    "support the claim; give it rungs at the region's edges, or just inside"
                )

    def alone(self, point: Cell, predict: Predict | None) -> tuple[Cell, ...]:
        """Rungs just outside the region's edges, and one beyond where there is but one edge."""
        ends = [end for pair in self._edges(number(predict, point)) for end in pair]
        if not ends:
            raise ClaimError(f"no whole number of {self.scan} lies below the region at {point.id}")
        last = ends[-1] if ends[-1] > ends[0] else 2 * ends[0]
        return tuple(point.replace(**{self.scan: rung}) for rung in (ends[0], last))

    def discrepancy(self, evidence: Evidence, predict: Predict | None, alpha: float) -> float:
        """By how much a rung's rate is shown on the wrong side of the target, over the target.

        The rates tell more than the bracket, which is open until a rung is decided.
        """
        worst = -math.inf
        for one in self.ladders(evidence):
            region = self._scaled(number(predict, one.samples[0].cell))
            for sample, rung in zip(one.samples, one.rungs, strict=True):
                rate = self.method.bounds(sample[self.observable], alpha)
                above, below = rate.low / one.target - 1, 1 - rate.high / one.target
                if rung <= region.low:  # the crossing is to be above
                    worst = max(worst, above if self.rising else below)
                elif rung >= region.high:
                    worst = max(worst, below if self.rising else above)
        return worst

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        found = list(self.ladders(evidence))

        def part(one: Ladder) -> Part:
            cell = one.samples[0].cell
            critical = number(predict, cell)
            params, region = cell.without(self.scan), self._scaled(critical)
            name = ",".join(f"{k}={v}" for k, v in sorted(params.items()))
            bounds = partial(_bracket_over, one, region, critical)
            still = one.open_rungs(region, alpha, alpha / (2 * len(found)))
            return Part(name, one.estimate / critical, bounds, still, params)

        return self.joint(map(part, found), alpha)

    def _scaled(self, critical: float) -> Region:
        """The region of the critical value itself."""
        return Region(self.region.low * critical, self.region.high * critical)

    def _ends(self, critical: float) -> list[float]:
        """Edges of the region that a crossing may have."""
        region = self._scaled(critical)
        return [edge for edge in (region.low, region.high) if 0 < edge < math.inf]

    def _edges(self, critical: float) -> list[tuple[int, int]]:
        """For each edge of the region, the whole numbers next to it, from 1; once if it is one."""
        found = [
            (math.floor(edge * (1 + HAIR)), math.ceil(edge * (1 - HAIR)))
            for edge in self._ends(critical)
        ]
        return [pair for pair in found if pair[0] > 0]


def _bracket_over(ladder: Ladder, region: Region, critical: float, level: float) -> Interval:
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
        return [cells[members[0]] for members in ladders(cells, self.scan)]

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        found, names = list(self.ladders(evidence)), list(self.exponents)
        points = [ladder.samples[0].cell for ladder in found]
        matrix = functional(points, names)
        estimates = matrix @ np.log([ladder.estimate for ladder in found])
        strict = alpha / len(found) / (2 * len(names))
        read = [ladder.samples[rung].cell for ladder in found for rung in ladder.undecided(strict)]
        bounds = [partial(_combined, found, row) for row in matrix]
        return self.compared(points, read, list(estimates), bounds, predict, alpha)


def _combined(ladders: Sequence[Ladder], row: Array, level: float) -> Interval:
    """An interval for a linear functional of the logarithms of critical values.

    Every ladder may miss on the side that matters.
    """
    brackets = [ladder.bracket(level / len(ladders)) for ladder in ladders]
    used = np.abs(row) > 1e-12
    with np.errstate(divide="ignore"):
        logs = np.log([[bracket.low, bracket.high] for bracket in brackets])[used]
    ends = row[used, None] * logs
    return Interval(float(ends.min(axis=1).sum()), float(ends.max(axis=1).sum()))
