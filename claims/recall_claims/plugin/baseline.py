"""An earlier report, and the records that a run may take from it."""

from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from recall_claims.declare.claim import Claim
from recall_claims.evidence.run import Settings
from recall_claims.plugin import record
from recall_claims.plugin.changes import Changes
from recall_reports import phrases
from recall_reports.errors import ReportError
from recall_reports.files import load
from recall_reports.record import Claim as ClaimRecord
from recall_reports.record import Kept


class Baseline:
    """An earlier report, as far as it is of the tier that this run will be.

    Args:
        path: its file; one that is not there has no records.
        settings: of this run.
        changes: what changed since the revision that --changed-since names.
    """

    def __init__(self, path: Path, settings: Settings, changes: Changes | None) -> None:
        self.path = path
        self.settings = settings
        self.changes = changes

    @cached_property
    def records(self) -> dict[str, ClaimRecord]:
        """The decided records by claim.

        Raises:
            ValueError: the file cannot be read.
        """
        if not self.path.exists():
            return {}
        try:
            earlier = load(self.path)
        except ReportError as error:
            raise ValueError(f"--baseline: {error}") from error
        if earlier.suite.tier != self.settings.tier:
            return {}
        return {entry.id: entry for entry in earlier.claims if entry.state == "DECIDED"}

    def inherited_record(self, claim: Claim, file: str) -> ClaimRecord | None:
        """The record of a claim that need not run: no module it depends on has changed."""
        if self.changes is None or self.changes.touched(claim.module):
            return None
        revision = self.changes.revision
        earlier, settings = self.records.get(claim.id), self.settings
        alpha = settings.budget.per_look(claim.looks.get(settings.tier, 1))
        if earlier is not None and (earlier.seed, earlier.alpha) == (settings.seed, alpha):
            kept = Kept(file=self.path.name, revision=revision)
            return replace(earlier, blocks=replace(earlier.blocks, kept=kept, peak_memory_mib=None))
        reason = (
            f"{phrases.unchanged(revision)}, and {self.path.name} has no record of it in tier "
            f"{settings.tier} under seed {settings.seed} and this error budget"
        )
        return record.undecided(
            claim, settings, file, state="NOT RUN", reason=reason, outcome="skipped"
        )
