"""Ladders: values of one parameter, its rungs, at which a success rate is tested.

No curve is fitted: a rung shown to be above the target bounds the critical value on one side, one
shown to be below it on the other. The rate is assumed to cross its target once, as a monotone one
does; two rungs on the wrong sides of each other contradict that, and leave no verdict.

Rungs are tested in their order, from the one just inside the region's edge on, until the first
failure: the hypotheses are nested, so the first true one that is met decides, and the bracket
misses the critical value on either side with probability at most the level of one test, however
many rungs there are. All rungs and regions, a control's too, were fixed beforehand.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import optimize

from recall_claims.judge.methods import COIN
from recall_claims.judge.rules.base import Sample
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import HAIR, Interval, Region

FOLD = 1e-3
"""Level at which each of two rungs that contradict a single crossing is shown on its side."""
EVERYWHERE = Region(0.0, math.inf)


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
        unknown = math.isnan(self.estimate)
        if over and (unknown or self.estimate > region.high):
            found.update(range(self._within(region.low, math.inf)[0], over[0] + 1))
        if under and (unknown or self.estimate < region.low):
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
