"""How long blocks will take, expected from how long earlier ones took.

The seconds of a replicate in a cell are the first of these that is known:
1. what it took in this run;
2. what it took in the ledger; a block that was given up at a time limit takes as much time again;
3. what the claim's other cells took, in the ledger or else in this run, by a power law;
4. what the claim took in the baseline, by a power law and by how much slower this machine is.
What is not from this run is scaled by how this run compares with it so far.

The power law is in the cell's numbers, such as `dim`. Its exponents fit the claim's own cells and,
for numbers of the same name, all claims of the ledger; where neither says anything, they are 1, as
if the work were the product of the numbers.
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

SENSIBLE = "replicates BETWEEN 1 AND 1e9 AND seconds BETWEEN 0 AND 1e9"
"""The rows of a ledger that count, in SQL: anybody may have written the others."""
SPENT = (
    "SELECT claim, cell, sum(replicates), sum(seconds) FROM blocks "
    f"WHERE device = ? AND {SENSIBLE} GROUP BY claim, cell"
)
GIVEN_UP = (
    "SELECT claim, cell, replicates, 2 * seconds FROM given_up "  # as much time again
    f"WHERE device = ? AND {SENSIBLE}"
)
STEADY = 1.0
"""Seconds of expected work up to which a comparison with what was expected says little."""


@dataclass(frozen=True)
class Spent:
    """What replicates in a cell have taken."""

    cell: str
    replicates: int
    seconds: float = 0.0
    """Of all of them; 0 where only the sum over a claim's cells is known."""
    bound: bool = False
    """Whether they may take longer, for they were given up."""

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


class Costs:
    """Expected seconds of blocks in one run, on a kind of device such as "cpu".

    >>> earlier = Total(3.0, (Spent("dim=8", 10), Spent("dim=16", 10)))
    >>> costs = Costs(lambda: None, "cpu", lambda: {"claim": earlier})
    >>> round(costs.seconds("claim", "dim=16", replicates=10), 3)
    2.0

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
        self._seen: dict[str, dict[str, Spent]] = defaultdict(dict)  # in this run, as in `_told`
        self._observed = self.measured = 0.0
        """Seconds that this run's blocks took, and those that were expected of them unscaled."""
        self._ahead: dict[str, float] = {}  # seconds that each claim is expected to take yet
        self._left = 0.0  # their sum
        self.machine: float | None = None
        """Seconds here to a second of the baseline's machine, where the ledger tells."""

    def seconds(self, claim: str, cell: str, replicates: int) -> float | None:
        """Expected seconds of so many replicates in a cell, or None if nothing is known."""
        seen = self._seen[claim].get(cell)
        if seen is not None:
            return seen.each * replicates
        each = self._unscaled(claim, cell)
        return None if each is None else each * replicates * self.factor

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
        each = self._unscaled(key.claim, key.cell)
        if each is not None:
            expected = each * key.replicates
            self._observed += seconds
            self.measured += expected
            self.over(key.claim, expected)
        cells = self._seen[key.claim]
        new, old = key.cell not in cells, cells.get(key.cell, Spent(key.cell, 0))
        cells[key.cell] = Spent(key.cell, old.replicates + key.replicates, old.seconds + seconds)
        # A fit reads all of the claim's cells: it is made anew when there are 1, 2, 4, 8 of them.
        if new and len(cells).bit_count() == 1:
            self._laws.pop(key.claim, None)

    @property
    def factor(self) -> float:
        """Seconds here to a second of what was expected, by the blocks of this run."""
        return (self._observed + STEADY) / (self.measured + STEADY)

    def give_up(self, key: BlockKey, seconds: float) -> None:
        """Keep that a block had taken so long when it was given up."""
        ledger = self.ledger()
        if ledger is not None:
            values = (key.claim, key.cell, self.device, key.replicates, seconds)
            ledger.ask("INSERT OR REPLACE INTO given_up VALUES (?, ?, ?, ?, ?)", values)
        cells = self._told.setdefault(key.claim, {})
        if key.cell not in cells or cells[key.cell].bound:
            cells[key.cell] = Spent(key.cell, key.replicates, 2 * seconds, bound=True)
        self._laws.pop(key.claim, None)

    def bounded(self, claim: str) -> bool:
        """Whether a block of the claim was given up, so that it takes more than is expected."""
        return any(spent.bound for spent in self._told.get(claim, {}).values())

    def known(self, claim: str) -> list[Spent]:
        """The claim's cells in the ledger, with what their blocks have taken."""
        return [spent for spent in self._told.get(claim, {}).values() if not spent.bound]

    def compare(self, claims: Iterable[str]) -> None:
        """Compare this machine with the baseline's by these claims of the ledger."""
        here = there = 0.0
        for claim in filter(self._totals.__contains__, claims):
            law, known = self._totals[claim], self.known(claim)
            here += sum(spent.seconds for spent in known)
            there += sum(spent.replicates * law(spent.cell) for spent in known)
        if there > STEADY:
            self.machine = here / there

    def expect(self, ahead: Mapping[str, float]) -> None:
        """Take note of what claims are expected to take in this run."""
        self._ahead, self._left = dict(ahead), math.fsum(ahead.values())

    def over(self, claim: str, seconds: float = math.inf) -> None:
        """So much of what was expected of a claim is done; if no seconds are given, all of it."""
        if claim in self._ahead:
            part = min(seconds, self._ahead[claim])
            self._ahead[claim] -= part
            self._left -= part

    @property
    def left(self) -> float | None:
        """Seconds of one core that are left of what is expected; None if nothing is known."""
        return max(self._left, 0.0) * self.factor if self._ahead else None

    def _unscaled(self, claim: str, cell: str) -> float | None:
        """Seconds of a replicate for `factor` to scale; by this run if the ledger has no cell."""
        told = self._told.get(claim, {})
        if cell in told:
            return told[cell].each
        cells = told or self._seen[claim]
        if not cells:
            total = self._totals.get(claim)
            return None if total is None else total(cell) * (self.machine or 1.0)
        if claim not in self._laws:
            self._laws[claim] = PowerLaw([*cells.values()], self._prior)
        each = self._laws[claim](cell)
        return each if told else each / self.factor  # this run's seconds are not to be scaled

    @cached_property
    def _told(self) -> dict[str, dict[str, Spent]]:
        """What the ledger tells, and what this run gave up since, by claim and cell."""
        ledger, found = self.ledger(), defaultdict[str, dict[str, Spent]](dict)
        for sql, bound in ((GIVEN_UP, True), (SPENT, False)):  # the second takes the first's place
            rows = [] if ledger is None else ledger.ask(sql, (self.device,))
            for claim, cell, replicates, seconds in rows:
                found[claim][cell] = Spent(cell, replicates, seconds, bound)
        return found

    @cached_property
    def _prior(self) -> Prior:
        return exponents(filter(None, map(self.known, self._told)), {})

    @cached_property
    def _totals(self) -> dict[str, PowerLaw]:
        """A law for each claim of the baseline, whose cells add up to the claim's seconds."""
        return {
            claim: PowerLaw(_spread(total), {})
            for claim, total in self._baseline().items()
            if total.cells and total.seconds > 0
        }


def _spread(total: Total) -> list[Spent]:
    """The seconds of a claim, in proportion to the product of the numbers that all cells have."""
    names = set.intersection(*(set(numbers(spent.cell)) for spent in total.cells))

    def work(spent: Spent) -> float:
        point = numbers(spent.cell)
        return spent.replicates * math.exp(sum(point[name] for name in names))

    scale = total.seconds / sum(map(work, total.cells))
    return [replace(spent, seconds=scale * work(spent)) for spent in total.cells]


Prior = Mapping[str, float]
"""An exponent for each name of a number; 1 where there is none."""
RIDGE = 0.5
"""Weight of an exponent's distance from the prior's, in squared logarithms of seconds."""


class PowerLaw:
    """Seconds of a replicate as a power law in the numbers of its cell.

    `known`: cells with what they have taken; at least one. `prior`: exponents, as far as these
    cells do not tell otherwise.
    """

    def __init__(self, known: Sequence[Spent], prior: Prior) -> None:
        self._centre, self._exponents = _Centre(known), exponents([known], prior)

    def __call__(self, cell: str) -> float:
        """Seconds of one replicate."""
        offsets = self._centre.offsets(cell).items()
        power = math.fsum(self._exponents[name] * offset for name, offset in offsets)
        return math.exp(min(self._centre.seconds + power, 500.0))


def exponents(claims: Iterable[Sequence[Spent]], prior: Prior) -> Prior:
    """Exponents by ridge regression of logarithms, where each claim has a factor of its own."""
    groups = [(known, _Centre(known)) for known in claims]
    offsets = [centre.offsets(spent.cell) for known, centre in groups for spent in known]
    names = sorted(set().union(*offsets))
    if not names:
        return {}
    x = np.array([[found.get(name, 0.0) for name in names] for found in offsets])
    y = np.array([_log_each(spent) - centre.seconds for known, centre in groups for spent in known])
    before = np.array([prior.get(name, 1.0) for name in names])
    matrix = x.T @ x + RIDGE * np.eye(len(names))
    fitted = before + np.linalg.solve(matrix, x.T @ (y - x @ before))
    return dict(zip(names, fitted.tolist(), strict=True))


class _Centre:
    """The mean of cells, in logarithms: of each of their numbers, and of a replicate's seconds."""

    def __init__(self, known: Sequence[Spent]) -> None:
        points = [numbers(spent.cell) for spent in known]
        self.numbers = {
            name: fmean(point[name] for point in points if name in point)
            for name in set().union(*points)
        }
        self.seconds = fmean(map(_log_each, known))

    def offsets(self, cell: str) -> dict[str, float]:
        """How far a cell's numbers are from it; one that the cell lacks is taken to be there."""
        point = numbers(cell)
        return {name: point.get(name, mean) - mean for name, mean in self.numbers.items()}


def _log_each(spent: Spent) -> float:
    """Logarithm of the seconds of a replicate."""
    return math.log(max(spent.seconds, 1e-6) / spent.replicates)


def numbers(cell: str) -> dict[str, float]:
    """Logarithms of the positive numbers of a cell, from its id.

    >>> numbers("dim=1,embeddings=sphere,noise=0.0,trigger=True")
    {'dim': 0.0}
    """
    found = {}
    for part in cell.split(","):
        name, _, text = part.partition("=")
        try:
            value = float(text)
        except ValueError:
            continue
        if 0 < value < math.inf:
            found[name] = math.log(value)
    return found
