"""How long blocks take, expected from earlier ones.

The seconds of a replicate in a cell are the first of these that is known: those of the cell in
this run; in the ledger; those of the claim's other cells, scaled by a power law; those of the
baseline, scaled by the same law and by how much slower this machine is. All but the first are
scaled by how this run compares with them so far. A block that was given up at a time limit is
expected to take as much again.

The power law is in the cell's numbers. Its exponents fit the claim's own cells and, for numbers of
the same name, all claims of the ledger; where neither says anything, they are 1, as if the work
were the product of the numbers (ridge regression of logarithms).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

import numpy as np

from recall_claims.evidence.ledger import BlockKey, Ledger

RIDGE = 0.5
"""Weight of an exponent's distance from 1, in squared logarithms of seconds."""
SENSIBLE = "replicates BETWEEN 1 AND 1e9 AND seconds BETWEEN 0 AND 1e9"
"""In SQL: rows of a ledger that somebody has written otherwise do not count."""
SPENT = (
    "SELECT claim, cell, sum(replicates), sum(seconds) FROM blocks "
    f"WHERE device = ? AND {SENSIBLE} GROUP BY claim, cell"
)
GIVEN_UP = (
    "SELECT claim, cell, replicates, 2 * seconds FROM given_up "  # as much time again
    f"WHERE device = ? AND {SENSIBLE}"
)
STEADY = 1.0
"""Seconds of work that a comparison of machines needs before it counts as much as none at all."""


@dataclass(frozen=True)
class Spent:
    """What replicates in a cell have taken.

    Attributes:
        seconds: of all of them; 0 where only the sum over a claim's cells is known.
        bound: whether they may take longer, for they were given up.
    """

    cell: str
    replicates: int
    seconds: float = 0.0
    bound: bool = False

    @property
    def each(self) -> float:
        """Seconds of one."""
        return self.seconds / self.replicates


@dataclass(frozen=True)
class Total:
    """What a claim has taken in an earlier run: seconds over all of its cells, and looks."""

    seconds: float
    cells: tuple[Spent, ...]
    looks: int = 1


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


Prior = Mapping[str, float]
"""An exponent for each name of a number; 1 where there is none."""


def _each(spent: Spent) -> float:
    """Logarithm of the seconds of a replicate."""
    return math.log(max(spent.seconds, 1e-6) / spent.replicates)


def _centre(known: Sequence[Spent]) -> Prior:
    """The mean of each of their cells' numbers, where they have it."""
    found = defaultdict[str, list[float]](list)
    for spent in known:
        for name, value in numbers(spent.cell).items():
            found[name].append(value)
    return {name: fmean(values) for name, values in found.items()}


def exponents(claims: Iterable[Sequence[Spent]], prior: Prior) -> Prior:
    """The exponents that fit best where each claim has a constant factor of its own.

    By least squares of centred logarithms, drawn to the prior's.
    """
    rows: list[tuple[dict[str, float], float]] = []
    for known in claims:
        centre, mean = _centre(known), fmean(map(_each, known))
        for spent in known:
            point = numbers(spent.cell)
            off = {name: point.get(name, c) - c for name, c in centre.items()}
            rows.append((off, _each(spent) - mean))
    names = sorted(set().union(*(off for off, _ in rows)))
    if not names:
        return {}
    x = np.array([[off.get(name, 0.0) for name in names] for off, _ in rows])
    y, before = np.array([y for _, y in rows]), np.array([prior.get(name, 1.0) for name in names])
    matrix = x.T @ x + RIDGE * np.eye(len(names))
    found = before + np.linalg.solve(matrix, x.T @ (y - x @ before))
    return dict(zip(names, found.tolist(), strict=True))


class PowerLaw:
    """Seconds of a replicate as a power law in the numbers of its cell.

    Args:
        known: cells with what they have taken; at least one.
        prior: exponents, as far as these cells do not tell otherwise.
    """

    def __init__(self, known: Sequence[Spent], prior: Prior) -> None:
        self._centre, self._mean = _centre(known), fmean(map(_each, known))
        self._exponents = exponents([known], prior)

    def __call__(self, cell: str) -> float:
        """Seconds of one replicate."""
        point = numbers(cell)
        # A number that the cell lacks is what it was on the average.
        off = (
            p * (point.get(n, self._centre[n]) - self._centre[n])
            for n, p in self._exponents.items()
        )
        return math.exp(min(self._mean + math.fsum(off), 500.0))


class Costs:
    """Expected seconds of blocks in one run, on a kind of device such as "cpu".

    `ledger` and `baseline` give what is there when it is needed: a ledger, if there is one, and
    earlier totals by claim, maybe from another machine.
    """

    def __init__(
        self,
        ledger: Callable[[], Ledger | None],
        device: str,
        baseline: Callable[[], Mapping[str, Total]],
    ) -> None:
        self.ledger, self.device, self._baseline = ledger, device, baseline
        self._laws: dict[str, PowerLaw] = {}
        self._seen: dict[str, dict[str, Spent]] = defaultdict(dict)
        self._observed = self.measured = 0.0
        """What this run's blocks took, and what was expected of them when it began, in seconds."""
        self._ahead: dict[str, float] = {}
        self._left = 0.0
        self.machine: float | None = None
        """Seconds here to a second of the baseline's machine, where the ledger tells."""

    @cached_property
    def _told(self) -> dict[str, dict[str, Spent]]:
        """What the ledger tells, by claim and cell."""
        ledger, found = self.ledger(), defaultdict[str, dict[str, Spent]](dict)
        for sql, bound in ((GIVEN_UP, True), (SPENT, False)):  # a block tells more
            rows = [] if ledger is None else ledger.ask(sql, (self.device,))
            for claim, cell, replicates, seconds in rows:
                found[claim][cell] = Spent(cell, replicates, seconds, bound)
        return found

    def known(self, claim: str) -> list[Spent]:
        """The claim's cells in the ledger, with what their blocks have taken."""
        return [spent for spent in self._told.get(claim, {}).values() if not spent.bound]

    @cached_property
    def _prior(self) -> Prior:
        return exponents(filter(None, map(self.known, self._told)), {})

    def compare(self, claims: Iterable[str]) -> None:
        """Compare this machine with the baseline's by these claims of the ledger."""
        here = there = 0.0
        for claim in filter(self._totals.__contains__, claims):
            law, known = self._totals[claim], self.known(claim)
            here += sum(spent.seconds for spent in known)
            there += sum(spent.replicates * law(spent.cell) for spent in known)
        if there > STEADY:
            self.machine = here / there

    @property
    def factor(self) -> float:
        """Seconds here to a second of what was expected, by the blocks of this run."""
        return (self._observed + STEADY) / (self.measured + STEADY)

    def seconds(self, claim: str, cell: str, replicates: int) -> float | None:
        """Expected seconds of so many replicates in a cell, or None if nothing is known."""
        seen = self._seen[claim].get(cell)
        if seen is not None:
            return seen.each * replicates
        before = self._before(claim, cell)
        return None if before is None else before * replicates * self.factor

    def total(self, claim: str, replicates: Mapping[str, int]) -> float | None:
        """The same of so many replicates in each cell, by its id."""
        each = [self.seconds(claim, cell, count) for cell, count in replicates.items()]
        known = [seconds for seconds in each if seconds is not None]
        return math.fsum(known) if len(known) == len(each) else None

    def looks(self, claim: str) -> int | None:
        """How many looks the claim took in an earlier run, or None if nothing is known."""
        earlier = self._baseline().get(claim)
        return None if earlier is None else earlier.looks

    def path(self, claim: str, replicates: int) -> float:
        """Seconds of a claim's longest chain of blocks, one a look; infinite where nobody knows."""
        earlier = self._baseline().get(claim)
        if earlier is None or not earlier.cells:
            return math.inf
        each = [self.seconds(claim, spent.cell, replicates) for spent in earlier.cells]
        return earlier.looks * max(math.inf if one is None else one for one in each)

    def learn(self, key: BlockKey, seconds: float) -> None:
        """Take note of a block that was simulated."""
        expected = self._before(key.claim, key.cell)
        if expected is not None:
            self._observed += seconds
            self.measured += expected * key.replicates
            self.over(key.claim, expected * key.replicates)
        cells = self._seen[key.claim]
        old = cells.get(key.cell, Spent(key.cell, 0))
        cells[key.cell] = Spent(key.cell, old.replicates + key.replicates, old.seconds + seconds)
        if not old.replicates and len(cells).bit_count() == 1:  # each law takes a look at all cells
            self._laws.pop(key.claim, None)

    def expect(self, ahead: Mapping[str, float]) -> None:
        """Take note of what claims are expected to take in this run."""
        self._ahead, self._left = dict(ahead), math.fsum(ahead.values())

    def over(self, claim: str, seconds: float = math.inf) -> None:
        """So much of what was expected of a claim is done; if no seconds are given, all of it."""
        part = min(seconds, self._ahead.get(claim, 0.0))
        self._left -= part
        if part:
            self._ahead[claim] -= part

    @property
    def left(self) -> float | None:
        """Seconds of one core that are left of what is expected; None if nothing is known."""
        return max(self._left, 0.0) * self.factor if self._ahead else None

    def give_up(self, key: BlockKey, seconds: float) -> None:
        """Keep that a block had taken so long when it was given up."""
        ledger, values = self.ledger(), (key.claim, key.cell, self.device, key.replicates, seconds)
        if ledger is not None:
            sql = "INSERT OR REPLACE INTO given_up VALUES (?, ?, ?, ?, ?)"
            ledger.ask(sql, values)
        told = self._told.setdefault(key.claim, {})
        if told.get(key.cell, Spent("", 0, bound=True)).bound:
            told[key.cell] = Spent(key.cell, key.replicates, 2 * seconds, bound=True)
        self._laws.pop(key.claim, None)

    def bounded(self, claim: str) -> bool:
        """Whether a block of the claim was given up, so that it takes more than is expected."""
        return any(spent.bound for spent in self._told.get(claim, {}).values())

    def _before(self, claim: str, cell: str) -> float | None:
        """Seconds of a replicate by what was known when the run began."""
        told = self._told.get(claim, {})
        if cell in told:
            return told[cell].each
        if told:
            return self._law(claim, told)(cell)
        if self._seen[claim]:  # of a claim that nobody has run before
            return self._law(claim, self._seen[claim])(cell) / self.factor
        law = self._totals.get(claim)
        return None if law is None else law(cell) * (self.machine or 1.0)

    def _law(self, claim: str, told: Mapping[str, Spent]) -> PowerLaw:
        if claim not in self._laws:
            self._laws[claim] = PowerLaw([*told.values()], self._prior)
        return self._laws[claim]

    @cached_property
    def _totals(self) -> dict[str, PowerLaw]:
        """A law for each claim of the baseline, whose cells add up to the claim's seconds."""
        return {
            claim: PowerLaw(_spread(total), {})
            for claim, total in self._baseline().items()
            if total.cells and total.seconds > 0
        }


def _spread(total: Total) -> list[Spent]:
    """The seconds of a claim, in proportion to the product of its cells' numbers."""
    names = set.intersection(*(set(numbers(spent.cell)) for spent in total.cells))
    work = [
        spent.replicates * math.exp(sum(numbers(spent.cell)[name] for name in names))
        for spent in total.cells
    ]
    scale = total.seconds / sum(work)
    pairs = zip(total.cells, work, strict=True)
    return [replace(spent, seconds=scale * part) for spent, part in pairs]
