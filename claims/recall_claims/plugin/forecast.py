"""How long claims will take on this machine, from the ledger, the baseline and this run."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import Claim
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.run import Settings
from recall_claims.evidence.simulate import find, versions
from recall_claims.plugin.baseline import Baseline
from recall_reports import record


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
        size = claim.block_size(self.settings.tier)
        return self.costs.total(claim.id, {cell: size * count for cell, count in blocks.items()})

    def blocks(self, claim: Claim) -> dict[str, int]:
        """Blocks of each cell that are expected until the verdict.

        As many replicates as the cell had in the baseline's verdict, in whichever tier, or as its
        cells had on the average; all that the looks allow, if the baseline has no verdict.
        """
        tier = self.settings.tier
        size, steps = claim.block_size(tier), claim.steps(tier)
        earlier = self.baseline.decided.get(claim.id)
        if earlier is None:
            return self.most(claim)
        known = {_id(cell): cell.replicates for cell in earlier.cells}
        usual = fmean(known.values())
        wanted = {cell.id: known.get(cell.id, usual) for cell in claim.cells[tier]}
        return {
            cell: next((n for n in steps if n * size >= count), steps[-1])
            for cell, count in wanted.items()
        }

    def whole(self, claim_id: str) -> float | None:
        """Seconds of one core for what the baseline's verdict in this tier took, if it has one."""
        earlier = self.baseline.records.get(claim_id)
        if earlier is None:
            return None
        found = {_id(cell): cell.replicates for cell in earlier.cells}
        return self.costs.total(claim_id, found) if earlier.seconds else 0.0

    def ahead(self, claim_id: str) -> float | None:
        """The same without the blocks that the ledger has under the baseline's registration.

        Nothing is predicted for it: a declaration or code that changed since is not seen.
        """
        whole, earlier = self.whole(claim_id), self.baseline.records.get(claim_id)
        if whole is None or earlier is None or not earlier.blocks.total:
            return whole
        there = sum(self.at_hand(claim_id, earlier.registration or "").values())
        return whole * max(0.0, 1 - there / earlier.blocks.total)

    def at_hand(self, claim_id: str, registration: str, code: str | None = None) -> dict[str, int]:
        """Blocks of each cell that the ledger has for this run."""
        settings = self.settings
        ledger = self.costs.ledger()
        if ledger is None:
            return {}
        values = [claim_id, registration, str(settings.seed), self.costs.device, versions()]
        sql = (
            "SELECT cell, count(*) FROM blocks WHERE claim = ? AND registration = ? AND seed = ? "
            "AND device = ? AND versions = ?"
        )
        if code is not None:
            sql, values = f"{sql} AND code = ?", [*values, code]
        return dict(ledger.ask(f"{sql} GROUP BY cell", values))

    def grounds(self) -> str:
        """What the forecast rests on, in words."""
        times = self.costs.machine
        pace = f", 1 s there being {times:.2g} s here by the ledger" if times is not None else ""
        return f"by {self.baseline.path.name}{pace}"

    def left(self, claim: Claim, registration: str, blocks: Mapping[str, int]) -> dict[str, int]:
        """Those of the blocks that the ledger lacks."""
        code = find(claim.module, claim.id)[1]
        there = self.at_hand(claim.id, registration, code)
        return {cell: max(0, count - there.get(cell, 0)) for cell, count in blocks.items()}

    def most(self, claim: Claim) -> dict[str, int]:
        """Blocks of each cell if all looks are taken."""
        tier = self.settings.tier
        return {cell.id: claim.steps(tier)[-1] for cell in claim.cells[tier]}

    def about(self, claim: Claim) -> str:
        """What a claim takes, to one digit: more is not known, and many claims share the words."""
        try:
            seconds = self.seconds(claim, self.blocks(claim))
        except Exception:  # of a formula: told when the claim runs
            seconds = None
        return _about(seconds, "more than" if self.costs.bounded(claim.id) else "about")

    def about_baseline(self, claim_id: str) -> str:
        """The same of what the baseline's verdict in this tier took, which needs no grid."""
        return _about(self.whole(claim_id))


def _about(seconds: float | None, how: str = "about") -> str:
    if seconds is None:
        return "an unknown time"
    if seconds < 60:
        return "less than a minute of one core"
    unit, length = ("min", 60) if seconds < 3600 else ("h", 3600)
    return f"{how} {float(f'{seconds / length:.1g}'):g} {unit} of one core"


def _id(cell: record.Cell) -> str:
    return Cell(**cell.params).id
