"""How long blocks take, expected from earlier ones.

The seconds of a replicate in a cell are, the first that is known: those of the cell in this run;
in the ledger; those of the claim's other cells, scaled by a power law; those of the baseline, by
the same law, times the ratio of this machine's seconds to the baseline's where both are known. All
but the first are scaled by how this run compares with them so far.

The power law is in the cell's numbers. Its exponents are 1 each, as if the work were their product,
as far as the known cells do not tell otherwise (ridge regression of the logarithms towards 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np

from recall_claims.evidence.ledger import BlockKey, Ledger

RIDGE = 0.5
"""Weight of an exponent's distance from 1, in squared logarithms of seconds."""
STEADY = 1.0
"""Seconds of work that a comparison of machines needs before it counts as much as none at all."""


@dataclass(frozen=True)
class Spent:
    """What replicates in a cell have taken.

    Attributes:
        cell: the cell's id.
        replicates: how many.
        seconds: of all of them; None where only the sum over a claim's cells is known.
    """

    cell: str
    replicates: int
    seconds: float | None = None


@dataclass(frozen=True)
class Total:
    """What a claim has taken in an earlier run: seconds over all of its cells."""

    seconds: float
    cells: tuple[Spent, ...]


def numbers(cell: str) -> dict[str, float]:
    """Logarithms of the positive numbers of a cell, from its id.

    >>> numbers("dim=1,embeddings=sphere,noise=0.0,trigger=True")
    {'dim': 0.0}
    """
    found = {}
    for name, _, text in (part.partition("=") for part in cell.split(",")):
        try:
            value = float(text)
        except ValueError:
            continue
        if 0 < value < math.inf:
            found[name] = math.log(value)
    return found


class PowerLaw:
    """Seconds of a replicate as a power law in the numbers of its cell.

    Args:
        known: cells with what they have taken; at least one.
    """

    def __init__(self, known: Sequence[Spent]) -> None:
        points = [numbers(spent.cell) for spent in known]
        self._names = sorted(set.intersection(*map(set, points)))
        x = np.array([[point[name] for name in self._names] for point in points])
        y = np.log([max(spent.seconds or 0.0, 1e-6) / spent.replicates for spent in known])
        self._centre, self._mean = x.mean(axis=0), float(y.mean())
        x, y = x - self._centre, y - self._mean
        matrix = x.T @ x + RIDGE * np.eye(len(self._names))
        self.exponents = 1 + np.linalg.solve(matrix, x.T @ (y - x.sum(axis=1)))

    def __call__(self, cell: str) -> float:
        """Seconds of one replicate."""
        point = numbers(cell)
        # A number that the cell lacks is what it was on the average.
        off = [point.get(name, c) - c for name, c in zip(self._names, self._centre, strict=True)]
        return math.exp(min(self._mean + float(np.dot(off, self.exponents)), 500.0))


def misses(known: Sequence[Spent]) -> list[float]:
    """By which factor, at least 1, the law is off at each cell, told only of the others."""
    if len(known) < 2:
        return []
    found = []
    for i, spent in enumerate(known):
        law = PowerLaw([*known[:i], *known[i + 1 :]])
        true = max(spent.seconds or 0.0, 1e-6) / spent.replicates
        found.append(math.exp(abs(math.log(law(spent.cell) / true))))
    return found


class Costs:
    """Expected seconds of blocks in one run.

    Args:
        ledger: gives the ledger when it is first needed.
        device: kind of device of the run, such as "cpu".
        baseline: gives earlier totals by claim, maybe from another machine.
    """

    def __init__(
        self,
        ledger: Callable[[], Ledger],
        device: str,
        baseline: Callable[[], Mapping[str, Total]],
    ) -> None:
        self._ledger, self._device, self._baseline = ledger, device, baseline
        self._known: dict[str, list[Spent]] = {}
        self._laws: dict[str, PowerLaw] = {}
        self._seen: dict[tuple[str, str], Spent] = {}
        self._observed = self._expected = 0.0

    def known(self, claim: str) -> list[Spent]:
        """The claim's cells in the ledger, with what their blocks have taken."""
        if claim not in self._known:
            rows = self._ledger().ask(
                "SELECT cell, sum(replicates), sum(seconds) FROM blocks "
                "WHERE claim = ? AND device = ? GROUP BY cell",
                (claim, self._device),
            )
            self._known[claim] = [Spent(*row) for row in rows]
        return self._known[claim]

    def compare(self, claims: Iterable[str]) -> None:
        """Compare this machine with the baseline's by these claims of the ledger."""
        here = there = 0.0
        for claim in claims:
            law = self._of_baseline(claim)
            if law is not None:
                here += sum(spent.seconds or 0.0 for spent in self.known(claim))
                there += sum(spent.replicates * law(spent.cell) for spent in self.known(claim))
        self._machine = (here + STEADY) / (there + STEADY)

    _machine = 1.0

    @property
    def factor(self) -> float:
        """Seconds here to a second of what was expected, by the blocks of this run."""
        return (self._observed + STEADY) / (self._expected + STEADY)

    @property
    def machine(self) -> float:
        """Seconds here to a second of the baseline's machine, as far as that is known."""
        return self._machine * self.factor

    def seconds(self, claim: str, cell: str, replicates: int) -> float | None:
        """Expected seconds of so many replicates in a cell, or None if nothing is known."""
        seen = self._seen.get((claim, cell))
        if seen is not None and seen.seconds is not None:
            return seen.seconds / seen.replicates * replicates
        before = self._before(claim, cell)
        return None if before is None else before * replicates * self.factor

    def learn(self, key: BlockKey, seconds: float) -> None:
        """Take note of a block that was simulated."""
        expected = self._before(key.claim, key.cell)
        if expected is not None:
            self._observed += seconds
            self._expected += expected * key.replicates
        old = self._seen.get((key.claim, key.cell), Spent(key.cell, 0, 0.0))
        new = Spent(key.cell, old.replicates + key.replicates, (old.seconds or 0.0) + seconds)
        self._seen[key.claim, key.cell] = new

    def _before(self, claim: str, cell: str) -> float | None:
        """Seconds of a replicate by what was known when the run began."""
        for spent in self.known(claim):
            if spent.cell == cell and spent.seconds is not None:
                return spent.seconds / spent.replicates
        if self.known(claim):
            if claim not in self._laws:
                self._laws[claim] = PowerLaw(self.known(claim))
            return self._laws[claim](cell)
        seen = [spent for (name, _), spent in self._seen.items() if name == claim]
        if seen:  # of a claim that nobody has run before
            return PowerLaw(seen)(cell) / self.factor
        law = self._of_baseline(claim)
        return None if law is None else law(cell) * self._machine

    def _of_baseline(self, claim: str) -> Callable[[str], float] | None:
        return self._totals.get(claim)

    @cached_property
    def _totals(self) -> dict[str, Callable[[str], float]]:
        """A law for each claim of the baseline, whose cells add up to the claim's seconds."""
        return {
            claim: _spread(total)
            for claim, total in self._baseline().items()
            if total.cells and total.seconds > 0
        }

    def off(self, claims: Iterable[str]) -> tuple[float, float] | None:
        """By which factor the power law is off at cells that the ledger knows, told of the
        claim's other cells alone: the median and what nine in ten do not exceed; None if too few
        are known."""
        found = sorted(miss for claim in claims for miss in misses(self.known(claim)))
        return (median(found), found[math.ceil(0.9 * len(found)) - 1]) if found else None


def _spread(total: Total) -> Callable[[str], float]:
    """Seconds of a replicate, in proportion to the product of a cell's numbers."""
    names = sorted(set.intersection(*(set(numbers(spent.cell)) for spent in total.cells)))

    def work(cell: str) -> float:
        point = numbers(cell)
        return math.exp(sum(point.get(name, 0.0) for name in names))

    whole = sum(spent.replicates * work(spent.cell) for spent in total.cells)
    return lambda cell: total.seconds * work(cell) / whole
