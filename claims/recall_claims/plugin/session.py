"""What the claims of one pytest process share."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from recall_claims.declare.claim import Claim
from recall_claims.evidence import executors
from recall_claims.evidence.run import Outcome, Settings
from recall_claims.evidence.store import EvidenceStore
from recall_claims.plugin import baseline, options, record
from recall_claims.plugin.baseline import Baseline
from recall_claims.plugin.changes import Changes
from recall_claims.plugin.progress import ProgressLine
from recall_claims.plugin.report import RunReport
from recall_reports.record import Claim as ClaimRecord

SESSION = pytest.StashKey["ClaimSession"]()


class ClaimSession:
    """Settings, evidence, baseline and report of one pytest process, as its options say.

    Raises:
        ValueError: an option makes no sense, or the baseline is asked for and cannot be read.
    """

    def __init__(self, config: pytest.Config) -> None:
        option, root = config.getoption, config.rootpath
        worker = getattr(config, "workerinput", None)
        self.is_worker = worker is not None
        self.dry_run: bool = option("--dry-run")
        self.inconclusive: str = option("--inconclusive")
        local = executors.is_local(option("--executor"))
        self.settings = Settings(
            tier=option("--tier"),
            seed=(worker or {}).get("claims_seed", options.seed(option("--seed"))),
            device=options.device(option("--device"), local=local),
            budget=options.budget(option("--error-budget")),
            reuse_evidence=option("--reuse-evidence"),
        )
        spread = self.is_worker or bool(getattr(config.option, "numprocesses", None))
        if self.dry_run and spread:
            raise ValueError("--dry-run simulates nothing that could be spread: leave out -n")
        self.hunt = options.duration(option("--hunt")) if option("--hunt") else 0.0
        self.hunt_error = ""
        self.keep: bool = option("--keep")
        if self.keep and not self.hunt:
            raise ValueError("--keep keeps what a hunt has found: give --hunt TIME as well")
        if self.hunt and (self.dry_run or spread):
            raise ValueError(
                "--hunt spreads its own searches over all cores: leave out -n and --dry-run"
            )
        executor = executors.resolve(option("--executor"), self.settings.device, nested=spread)
        self.store = EvidenceStore(root / Path(option("--ledger")), executor)
        revision = option("--changed-since")
        changes = Changes.since(revision, root) if revision else None
        earlier = baseline.file(option("--baseline"), root)
        self.baseline = Baseline(earlier, self.settings, changes, root)
        if revision or self.dry_run:
            # One that cannot be read, or is of nobody knows what code, ends the run here.
            self.baseline.records, self.baseline.since  # noqa: B018
        self.report = RunReport(root / Path(option("--report-dir")), root, self.settings, executor)
        self.progress: ProgressLine | None = None

    def record_without_run(self, claim: Claim, file: str) -> ClaimRecord | None:
        """The record of a claim that has nothing to run here, or need not; None if it runs."""
        reason = claim.why_not_run(self.settings.tier, self.settings.device)
        if reason is None:
            return self.baseline.inherited_record(claim)
        return self.undecided(claim, file, "NOT RUN", reason, "skipped")

    def left_out(self, claim: Claim) -> None:
        """Take note that a claim need not run."""
        if self.progress is not None:
            self.progress.finish(claim.id, 0.0)

    def undecided(
        self,
        claim: Claim,
        file: str,
        state: Literal["NOT RUN", "ERROR"],
        reason: str,
        outcome: Literal["failed", "skipped"],
    ) -> ClaimRecord:
        """The record of a claim without a verdict."""
        return record.undecided(
            claim, self.settings, file, state=state, reason=reason, outcome=outcome
        )

    def run(self, claim: Claim, following: Callable[[], Claim | None]) -> Outcome:
        """Run a claim to its verdict; raises what `EvidenceStore.run` does."""
        simulated = 0.0
        try:
            outcome = self.store.run(claim, self.settings, self.progress, following)
            simulated = 1 - outcome.reused / outcome.blocks
        finally:
            if self.progress is not None:
                self.progress.finish(claim.id, simulated)
        return outcome

    def close(self) -> None:
        """Stop workers, close ledger and terminal."""
        if self.progress is not None:
            self.progress.close()
        self.store.close()
