"""How long claims will take on this machine, from the ledger, the baseline and this run."""

from __future__ import annotations

import math
from collections.abc import Mapping

from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import Claim
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.run import Settings
from recall_claims.plugin.baseline import Baseline
from recall_reports import record

GRADES = {60: "less than a minute", 600: "1 to 10 minutes", 3600: "10 to 60 minutes"}


class Forecast:
    """What claims will take in a tier.

    Args:
        costs: of blocks.
        settings: of the run.
        baseline: says how many replicates decided a claim, in whichever tier.
    """

    def __init__(self, costs: Costs, settings: Settings, baseline: Baseline) -> None:
        self.costs, self.settings, self.baseline = costs, settings, baseline

    def seconds(self, claim: Claim, blocks: Mapping[str, int]) -> float | None:
        """Seconds of one core for so many blocks of each cell; None if nothing is known."""
        replicates = claim.replicates[self.settings.tier]
        each = [
            (count, self.costs.seconds(claim.id, cell, replicates))
            for cell, count in blocks.items()
        ]
        if any(seconds is None for _, seconds in each):
            return None
        return math.fsum(count * (seconds or 0.0) for count, seconds in each)

    def blocks(self, claim: Claim) -> dict[str, int]:
        """Blocks of each cell that are expected until the verdict.

        As many replicates as the cell had in the baseline's verdict, if it is of the same tier,
        or else as many as its largest cell; all that the looks allow, if the baseline has none.
        """
        tier = self.settings.tier
        first, steps = claim.replicates[tier], claim.rule.looks_in_blocks(claim.looks[tier])
        earlier = self.baseline.decided.get(claim.id)
        if earlier is None:
            return self.most(claim)
        same = self.baseline.records  # of the same tier
        known = {_id(cell): cell.replicates for cell in earlier.cells if claim.id in same}
        largest = max(cell.replicates for cell in earlier.cells)
        wanted = {cell.id: known.get(cell.id, largest) for cell in claim.cells[tier]}
        return {
            cell: next((n for n in steps if n * first >= count), steps[-1])
            for cell, count in wanted.items()
        }

    def most(self, claim: Claim) -> dict[str, int]:
        """Blocks of each cell if all looks are taken."""
        tier = self.settings.tier
        steps = claim.rule.looks_in_blocks(claim.looks[tier])
        return {cell.id: steps[-1] for cell in claim.cells[tier]}

    def grade(self, claim: Claim) -> str:
        """About what a claim takes, in words that many claims share."""
        try:
            seconds = self.seconds(claim, self.blocks(claim))
        except Exception:  # of a formula: told when the claim runs
            seconds = None
        if seconds is None:
            return "a time that nobody knows yet"
        words = (text for bound, text in GRADES.items() if seconds < bound)
        return f"{next(words, 'more than an hour')} of one core"


def _id(cell: record.Cell) -> str:
    return Cell(**cell.params).id
