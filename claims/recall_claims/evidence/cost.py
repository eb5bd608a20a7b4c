"""Expected duration of blocks: a replicate takes as long as earlier replicates took.

We take replicates of the same cell, in the ledger and in this run. If there are none, we take the
claim's other cells, and if there are none, the claim in an earlier record.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from recall_claims.evidence.ledger import BlockKey, Ledger


@dataclass
class Spent:
    """Number of simulated replicates, and the seconds that they took."""

    replicates: int = 0
    seconds: float = 0.0


class Earlier(NamedTuple):
    """Cost of a claim in an earlier record: seconds per replicate, and looks."""

    each: float
    looks: int


class Costs:
    """Expected seconds of blocks in one run.

    >>> costs = Costs(lambda: None, "cpu", {"claim": Earlier(0.5, looks=3)})
    >>> costs.seconds("claim", "dim=8", replicates=10)
    5.0

    Args:
        ledger: function that returns the ledger, or None; called at first need.
        device: a kind of device, such as "cpu".
        earlier: cost of each claim in an earlier record.
    """

    def __init__(
        self,
        ledger: Callable[[], Ledger | None],
        device: str,
        earlier: Mapping[str, Earlier],
    ) -> None:
        self.ledger, self.device, self.earlier = ledger, device, earlier

    def seconds(self, claim: str, cell: str, replicates: int) -> float | None:
        """Estimate the seconds of this many replicates in a cell; None if nothing is known."""
        cells = self._spent[claim]
        if cells:
            known = [cells[cell]] if cell in cells else cells.values()
            each = sum(s.seconds for s in known) / sum(s.replicates for s in known)
        elif claim in self.earlier:
            each = self.earlier[claim].each
        else:
            return None
        return each * replicates

    def path(self, claim: str, replicates: int, looks: int) -> float:
        """Estimate the seconds of a claim's longest chain of blocks, one per look.

        The result is infinite if nothing is known.

        Args:
            replicates: replicates per block.
            looks: largest number of looks.
        """
        cells = self._spent[claim] or {"": Spent()}
        known = [self.seconds(claim, cell, replicates) for cell in cells]
        longest = max(math.inf if seconds is None else seconds for seconds in known)
        return longest * self.looks(claim, looks)

    def looks(self, claim: str, planned: int) -> int:
        """Return the number of a claim's looks in an earlier record, or else the planned number."""
        earlier = self.earlier.get(claim)
        return planned if earlier is None else earlier.looks

    def learn(self, key: BlockKey, seconds: float) -> None:
        """Add the cost of a simulated block."""
        spent = self._spent[key.claim].setdefault(key.cell, Spent())
        spent.replicates += key.replicates
        spent.seconds += seconds

    @cached_property
    def _spent(self) -> defaultdict[str, dict[str, Spent]]:
        """Costs that the ledger and this run show, by claim and cell."""
        ledger, found = self.ledger(), defaultdict[str, dict[str, Spent]](dict)
        for claim, cell, replicates, seconds in ledger.spent(self.device) if ledger else ():
            found[claim][cell] = Spent(replicates, seconds)
        return found
