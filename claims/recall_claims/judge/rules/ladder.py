"""Test sizes: values of one parameter at which a success rate is tested.

We fit no curve. A size whose rate is shown to be above the target bounds the critical value on one
side, a size whose rate is below bounds it on the other. We assume that the rate crosses its target
once, as a monotone rate does. Two sizes in the wrong order contradict this, and leave no verdict.

For the lower bound we test whether the crossing is above a size: first just inside the region's
lower edge, then at larger sizes until a test fails. For the upper bound we go down. If the crossing
is not above one size, it is above no later size. So a bound errs only if the first test that ought
to fail passes: with probability at most the level of one test, for any number of sizes. All sizes
and regions, also a control's, were fixed beforehand.
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
"""Level of each of the two tests that together contradict a single crossing."""
EVERYWHERE = Region(0.0, math.inf)


@dataclass(frozen=True)
class Ladder:
    """Test sizes of one series with their replicates, from the lowest.

    >>> rungs = [Sample(Cell(dim=d), {"value": np.full(64, d / 30)}) for d in (10, 15, 20)]
    >>> Ladder(rungs, "dim", target=0.5, observable="value", rising=True).bracket(1e-3)
    Interval(low=10.0, high=20.0)

    Attributes:
        samples: a sample per size.
        scan: the parameter whose values are the sizes.
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
        """The sizes: values of the parameter `scan`."""
        return [sample.cell.number(self.scan) for sample in self.samples]

    def bracket(
        self, alpha: float, region: Region = EVERYWHERE, *, together: bool = False
    ) -> Interval:
        """Bound the crossing by two sizes; each is wrong with probability at most alpha.

        Tests go up from the region's lower edge and down from its upper, each way until one fails.
        `together`: whether a bet is on several sizes, as `_shown` explains.
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
        # Crossed bounds mean a rate that is not monotone, or a rare error: nothing is known.
        return Interval(low, high) if low <= high else Interval(0.0, math.inf)

    def sides(self, alpha: float) -> list[Literal["above", "below", "open"]]:
        """Say for each size whether the crossing is shown to be above or below it, or is open."""
        needed = math.log(1 / alpha)
        shown = [(above >= needed, below >= needed) for above, below in self._wealths]
        return ["above" if above else "below" if below else "open" for above, below in shown]

    def undecided(self, alpha: float) -> list[int]:
        """List the indices of sizes not yet shown to be on a side of the crossing."""
        return [i for i, side in enumerate(self.sides(alpha)) if side == "open"]

    def fold(self) -> tuple[str, str] | None:
        """Return the ids of two sizes whose rates are in the wrong order around the target; None if
        there are none. The size whose rate is above the target comes first.
        """
        sides, ids = self.sides(FOLD), [sample.cell.id for sample in self.samples]
        for lower, upper in itertools.combinations(range(len(ids)), 2):
            if sides[lower] == "below" and sides[upper] == "above":
                return (ids[lower], ids[upper]) if self.rising else (ids[upper], ids[lower])
        return None

    @cached_property
    def estimate(self) -> float:
        """Crossing of monotone rates with the target, interpolated in the parameter's logarithm.

        NaN if all rates are on one side. Reports show the estimate, and it selects cells for
        more replicates; no verdict rests on it.
        """
        return self._located if 0 < self._located < math.inf else math.nan

    @cached_property
    def _located(self) -> float:
        """The estimate; 0 or infinity if the rates put the crossing below or above all sizes."""
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
        """List the cells whose further replicates may decide about a region for the crossing.

        Support needs the level `alpha`, refutation the level `strict`.
        """
        wanted = self._supporting(region, alpha).intersection(self.undecided(alpha))
        wanted |= self._refuting(region, strict)
        return tuple(self.samples[i].cell.id for i in sorted(wanted))

    def nearest_rungs(self, region: Region, alpha: float, strict: float) -> tuple[str, ...]:
        """List the cells whose further replicates may refute a region.

        These are the nearest cells with replicates above and below the region. If the estimate
        is outside the region, only the cell on that side is listed.
        """
        drawn = [i for i, sample in enumerate(self.samples) if sample.replicates]
        over = [i for i in self._within(region.high, math.inf) if i in drawn]
        under = [i for i in self._within(0.0, region.low) if i in drawn]
        found = over[:1] if self._located >= region.low else []
        found += under[-1:] if self._located <= region.high else []
        return tuple(self.samples[i].cell.id for i in found)

    def _supporting(self, region: Region, alpha: float) -> set[int]:
        """Return the sizes just inside the region's edges, if they may still support the region."""
        inside, sides = self._within(region.low, region.high), self.sides(alpha)
        if not inside or sides[inside[0]] == "below" or sides[inside[-1]] == "above":
            return set()
        return {inside[0], inside[-1]}

    def _refuting(self, region: Region, level: float) -> set[int]:
        """Return the sizes whose further replicates may refute the region.

        If the estimate is above the region, they are those sizes of the region that are not yet
        shown to be below the crossing. Without such a size, it is the first size above the
        region. The case of an estimate below the region is its mirror image.
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
        """Return the log wealth of bets that the crossing is on this side of a size.

        Bet on this size alone or, if `together`, also on all sizes on this side: a crossing not
        above one size is not above larger ones. Initial wealth then has an equal part per size; the
        j-th part is bet on the first j sizes in turn, this size first.
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
        """Log wealths, for each size, of two bets: on a crossing above it, and below it."""
        rates = [COIN.log_wealths(s[self.observable], self.target) for s in self.samples]
        # If a rising rate is below its target, the crossing is above.
        return [(less, more) if self.rising else (more, less) for more, less in rates]

    def _within(self, low: float, high: float) -> range:
        """Return the indices of sizes from one edge to another, edges included."""
        return within(self.rungs, low, high)


def within(rungs: Sequence[float], low: float, high: float) -> range:
    """Return the indices of sizes from one edge to another, edges included."""
    first = bisect.bisect_left(rungs, low * (1 - HAIR))
    return range(first, bisect.bisect_right(rungs, high * (1 + HAIR)))


def ladders(cells: Sequence[Cell], scan: str) -> list[list[int]]:
    """Group cells that differ only in `scan` into series of test sizes.

    Return the indices of each series' cells, in ascending order of `scan`.

    Raises:
        ClaimError: a cell has no positive `scan`, or a series has a single size.
    """
    found: dict[tuple[tuple[str, object], ...], list[int]] = {}
    for index, cell in enumerate(cells):
        if not isinstance(cell.get(scan), int | float) or cell[scan] <= 0:
            raise ClaimError(f"cell {cell.id} has no positive number {scan}")
        found.setdefault(tuple(sorted(cell.without(scan).items())), []).append(index)
    for members in found.values():
        members.sort(key=lambda index: cells[index].number(scan))
        if len(members) < 2:
            raise ClaimError(
                f"{scan} has a single test size at {cells[members[0]].id}; a crossing or a limit "
                "takes two"
            )
    return list(found.values())
