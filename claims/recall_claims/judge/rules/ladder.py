"""Test sizes: values of one parameter at which a success rate is tested.

No curve is fitted. A size shown to be above the target bounds the critical value on one side, a
size shown to be below it on the other. The rate is assumed to cross its target once, as a monotone
one does. Two sizes on the wrong sides of each other contradict that, and leave no verdict.

Sizes are tested in their order, from the one just inside the region's edge on, until the first
failure. The hypotheses are nested, so the first true one that is met decides. The bracket misses
the critical value on either side with probability at most the level of one test, however many sizes
there are. All sizes and regions, a control's too, were fixed beforehand.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Literal

import numpy as np
from scipy import optimize

from recall_claims.judge.methods import COIN
from recall_claims.judge.rules.base import Sample
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import HAIR, Interval, Region

FOLD = 1e-3
"""Level of the test of each of two sizes that contradict a single crossing."""
EVERYWHERE = Region(0.0, math.inf)


@dataclass(frozen=True)
class Ladder:
    """Test sizes of one series with their replicates, from the lowest.

    >>> rungs = [Sample(Cell(dim=d), {"value": np.full(64, d / 30)}) for d in (10, 15, 20)]
    >>> Ladder(rungs, "dim", target=0.5, observable="value", rising=True).bracket(1e-3)
    Interval(low=10.0, high=20.0)

    Attributes:
        samples: one per size.
        scan: the parameter that the sizes differ in.
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

    def bracket(
        self, alpha: float, region: Region = EVERYWHERE, *, together: bool = False
    ) -> Interval:
        """Sizes between which the crossing lies; each misses it with probability <= alpha.

        The search for each starts just inside the region's edge, and ends at the first failure.
        """
        low, high = 0.0, math.inf
        needed = math.log(1 / alpha)
        for i in self._within(region.low, math.inf):
            if self._shown(i, "above", together) < needed:
                break
            low = self.rungs[i]
        for i in reversed(self._within(0.0, region.high)):
            if self._shown(i, "below", together) < needed:
                break
            high = self.rungs[i]
        # Both ends past each other: the rate is not monotone, or a rare error. Nothing is known.
        return Interval(low, high) if low <= high else Interval(0.0, math.inf)

    def sides(self, alpha: float) -> list[Literal["above", "below", "open"]]:
        """Say for each size whether the crossing is shown to be above or below it."""
        needed = math.log(1 / alpha)
        shown = [(above >= needed, below >= needed) for above, below in self._wealths]
        return ["above" if above else "below" if below else "open" for above, below in shown]

    def undecided(self, alpha: float) -> list[int]:
        """List the sizes on neither side of the crossing so far."""
        return [i for i, side in enumerate(self.sides(alpha)) if side == "open"]

    def fold(self) -> tuple[str, str] | None:
        """Return the ids of two sizes whose rates are in the wrong order around the target."""
        sides, ids = self.sides(FOLD), [sample.cell.id for sample in self.samples]
        for lower, upper in itertools.combinations(range(len(ids)), 2):
            if sides[lower] == "below" and sides[upper] == "above":
                return (ids[lower], ids[upper]) if self.rising else (ids[upper], ids[lower])
        return None

    @cached_property
    def estimate(self) -> float:
        """Interpolate where monotone rates cross the target, in the parameter's logarithm.

        It is NaN where the rates are all on one side. For display: no verdict rests on it.
        """
        return self._located if 0 < self._located < math.inf else math.nan

    @cached_property
    def _located(self) -> float:
        """Return the estimate; 0 or infinity where the rates show on which side of all sizes it
        is."""
        drawn = [i for i, sample in enumerate(self.samples) if sample.replicates]
        means = [float(self.samples[i][self.observable].mean()) for i in drawn]
        weights = [self.samples[i].replicates for i in drawn]
        rates = optimize.isotonic_regression(means, weights=weights, increasing=self.rising).x
        if not rates.min() <= self.target <= rates.max():
            return math.inf if (rates.max() < self.target) == self.rising else 0.0
        reached = rates >= self.target if self.rising else rates <= self.target
        after = max(1, int(np.argmax(reached)))  # the first size at the crossing or beyond
        first, last = rates[after - 1 : after + 1]
        share = 0.5 if first == last else (self.target - first) / (last - first)
        start, end = np.log([self.rungs[i] for i in drawn[after - 1 : after + 1]])
        return float(math.exp(start + share * (end - start)))

    def open_rungs(self, region: Region, alpha: float, strict: float) -> tuple[str, ...]:
        """List the sizes whose further replicates may decide about a region for the crossing.

        It is supported at the level `alpha`, and refuted at the level `strict`.
        """
        wanted = self._supporting(region, alpha).intersection(self.undecided(alpha))
        wanted |= self._refuting(region, strict)
        return tuple(self.samples[i].cell.id for i in sorted(wanted))

    def nearest_rungs(self, region: Region, alpha: float, strict: float) -> tuple[str, ...]:
        """List the sizes whose further replicates may refute a region. These are the sizes next to
        its edges, farthest from the crossing, among those drawn."""
        drawn = [i for i, sample in enumerate(self.samples) if sample.replicates]
        over = [i for i in self._within(region.high, math.inf) if i in drawn]
        under = [i for i in self._within(0.0, region.low) if i in drawn]
        found = over[:1] if self._located >= region.low else []
        found += under[-1:] if self._located <= region.high else []
        return tuple(self.samples[i].cell.id for i in found)

    def _supporting(self, region: Region, alpha: float) -> set[int]:
        """Return the sizes just inside the region's edges, if they may still support it."""
        inside, sides = self._within(region.low, region.high), self.sides(alpha)
        if not inside or sides[inside[0]] == "below" or sides[inside[-1]] == "above":
            return set()
        return {inside[0], inside[-1]}

    def _refuting(self, region: Region, level: float) -> set[int]:
        """Return the sizes inside if the estimate is past an edge; once they refute, the first size
        past it.
        """
        over, under = self._within(region.high, math.inf), self._within(0.0, region.low)
        needed = math.log(1 / level)
        if over and self._located > region.high:
            inside = range(self._within(region.low, math.inf)[0], over[0])
            return {i for i in inside if self._shown(i, "above", True) < needed} or {over[0]}
        if under and self._located < region.low:
            inside = range(under[-1] + 1, self._within(0.0, region.high)[-1] + 1)
            return {i for i in inside if self._shown(i, "below", True) < needed} or {under[-1]}
        return set()

    def _shown(self, rung: int, side: Literal["above", "below"], together: bool) -> float:
        """Log wealth of bets that the crossing is on this side of a size.

        The bet is on this size alone, or on it and all sizes `together` that are farther on this
        side: if the crossing is not beyond the first, it is not beyond the others either. Then the
        wealth is carried from one to the next, and an equal part of it stops after each.
        """
        if side == "above":
            logs = [above for above, _ in self._wealths[rung:]]
        else:
            logs = [below for _, below in self._wealths[rung::-1]]
        if not together:
            return logs[0]
        sums = [*itertools.accumulate(logs)]
        top = max(sums)
        return top + math.log(fmean(math.exp(each - top) for each in sums))

    @cached_property
    def _wealths(self) -> list[tuple[float, float]]:
        """Log wealths, for each size, of bets on a crossing above it and on one below it."""
        rates = [COIN.log_wealths(s[self.observable], self.target) for s in self.samples]
        # Where a rate that rises is below its target, the crossing is above.
        return [(less, more) if self.rising else (more, less) for more, less in rates]

    def _within(self, low: float, high: float) -> range:
        """Return the sizes between two edges, or on one of them."""
        return within(self.rungs, low, high)


def within(rungs: Sequence[float], low: float, high: float) -> range:
    """Return the indices of the sizes between two edges, or on one of them."""
    first = bisect.bisect_left(rungs, low * (1 - HAIR))
    return range(first, bisect.bisect_right(rungs, high * (1 + HAIR)))


def ladders(cells: Sequence[Cell], scan: str) -> list[list[int]]:
    """Return the indices of each series of test sizes, ascending: cells equal in everything but
    `scan`.

    Raises:
        ClaimError: a cell has no positive `scan`, or a series has a single size.
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
                f"{scan} has a single test size at {cells[members[0]].id}; a "
                "crossing is bracketed between two"
            )
    return list(found.values())
