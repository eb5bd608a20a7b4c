"""State that the claims of one pytest process share."""

import math
import os
import shlex
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, partial

import pytest
from msgspec import structs

from recall_claims import parse, recording
from recall_claims.declare.claim import Claim
from recall_claims.evidence import executors
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.ledger import EvidenceSet
from recall_claims.evidence.run import Outcome, Prepared, Running, set_of
from recall_claims.evidence.scheduler import Scheduler
from recall_claims.plugin import options
from recall_claims.plugin.edited import Edits
from recall_claims.plugin.forecast import Baseline, Forecast, ProgressLine
from recall_claims.plugin.report import LIMIT, RunReport
from recall_claims.plugin.verdicts import Verdicts
from recall_reports import figures, phrases
from recall_reports.record import ClaimRow, ComponentRow, certificates

SESSION = pytest.StashKey["ClaimSession"]()


class ClaimSession:
    """Settings, evidence, baseline and report of one pytest process, as its options say.

    Raises:
        ValueError: an option makes no sense, or a baseline that is needed cannot be read.
        ReportError: the certificates cannot be read.
    """

    def __init__(self, config: pytest.Config) -> None:
        settings, root, given = options.read(config), config.rootpath, config.option
        self.hunt = parse.duration(given.hunt, "--hunt") if given.hunt else 0.0
        self.started, self.hunt_error = False, ""
        executor = executors.resolve(given.executor, settings.device)
        self.store = Scheduler(options.place(config, "--ledger"), executor)
        processes = executor.partition(":")[2] if executor.startswith("processes:") else 1
        self.workers = int(processes)
        baseline = options.place(config, "--baseline")
        required = bool(given.baseline) or (given.dry_run and baseline.exists())
        self.baseline = Baseline(baseline, settings.tier, required=required)
        self.certificates = certificates.load(baseline.with_name(certificates.FILE))
        self.costs = Costs(
            lambda: self.store.ledger if self.store.path.exists() else None,
            settings.device.partition(":")[0],
            self.baseline.took,
        )
        self.settings = replace(settings, costs=self.costs)
        self.forecast = Forecast(self.costs, self.settings, self.baseline)
        self.verdicts = Verdicts(lambda: self.store.ledger, self.settings)
        self.kept: dict[str, ClaimRow | None] = {}
        """Rows by claim's id; None if the claim is judged again."""
        # --lf comes with pytest's cache, which a run may do without.
        narrowed = getattr(given, "lf", False) or any("::" in name for name in config.args)
        self.report = RunReport(
            options.place(config, "--report-dir"),
            root,
            self.settings,
            executor,
            beside=None if given.report_dir else root / options.PART,
            narrowed=narrowed,
        )
        self.progress: ProgressLine | None = None
        self.store.told = self._decided
        self._root, self._called_from = root, config.invocation_params.dir
        self._limit = given.time_limit

    def record_without_run(self, claim: Claim, file: str) -> ClaimRow | None:
        """Return the record of a claim with nothing to run here; None if the claim runs."""
        if self.store.decided(claim.id):
            return None
        if self.left < 0:
            return self.cut(claim, file)  # needs no prediction, which takes time
        reason = claim.why_not_run(self.settings.tier, self.settings.device)
        if reason is not None:
            return self._not_run(claim, file, reason)
        if claim.id not in self.kept:
            row = self.kept[claim.id] = self._as_before(claim, file)
            if row is not None and row.head is not None:
                self._show(row.id, row.verdict, row.head, passes=row.outcome == "passed")
        return self.kept[claim.id]

    def _as_before(self, claim: Claim, file: str) -> ClaimRow | None:
        """Return the row of a claim that need not be judged again; None if it is to be judged."""
        row = self.verdicts.find(claim, file)
        if row is not None:
            name = row.registration or ""
            drawn = self._counted(Prepared(claim, name))
            row.draws, row.draw = self.store.ledger.register(drawn)
            row.certificate = recording.certified(claim, self.settings, name, self.certificates)
        return row

    def known(self, claim: Claim) -> bool:
        """Whether a claim's verdict is known, and so was printed."""
        return self.store.decided(claim.id) or self.kept.get(claim.id) is not None

    @property
    def left(self) -> float:
        """Seconds until the time limit; negative after it."""
        limit = self.settings.limit
        return math.inf if limit is None else limit - time.monotonic()

    def cut(self, claim: Claim, file: str) -> ClaimRow:
        """Make the record of a claim that the time limit stopped, without a verdict."""
        reason = f"{LIMIT}{self._limit} did not suffice"
        tier = self.settings.tier
        if claim.cells_known(tier) and tier in claim.cells:  # works out no grid
            seconds = self.forecast.seconds(claim, self.forecast.blocks(claim))
            if seconds is not None:  # one digit, as an estimate, and so that claims share a reason
                takes = phrases.seconds(float(f"{seconds:.1g}"))
                reason += f"; it takes about {takes} of one core"
        return self._not_run(claim, file, reason)

    def _not_run(self, claim: Claim, file: str, reason: str) -> ClaimRow:
        return recording.undecided(
            claim, self.settings, file, state="NOT RUN", reason=reason, outcome="skipped"
        )

    def judged(self, claim: Claim) -> Outcome:
        """Run a claim to its verdict; raises the errors of `Scheduler.run`."""
        return self.store.run(claim.id, partial(self._running, claim), self.progress)

    def expect(self, claims: Iterable[tuple[Claim, str]]) -> dict[str, float]:
        """Announce the claims of this run, each with its file, to the scheduler.

        Returns:
            seconds of one core that each claim is expected to take, if known.
        """
        tier, expected, claims = self.settings.tier, [], [*claims]
        ahead = self.forecast.ahead(claim for claim, _ in claims)
        for claim, file in claims:
            if tier in claim.replicates:
                path = self.costs.path(claim.id, claim.block_size(tier), len(claim.steps(tier)))
                work = ahead.get(claim.id, path)  # path knows seconds per block from any tier
                expected.append((claim.id, path, work, partial(self._early, claim, file)))
        self.store.expect(expected, last={claim.id for claim, _ in claims if claim.exploratory})
        return ahead

    def _early(self, claim: Claim, file: str) -> Running | None:
        """Begin a claim before its turn; None if it has nothing to run."""
        idle = self.left < 0 or self.record_without_run(claim, file) is not None
        return None if idle else self._running(claim)

    def _running(self, claim: Claim) -> Running:
        """Check a claim, count the baseline's attempts at it, and begin its looks."""
        ready = Prepared.of(claim, self.settings.tier, checked=True)
        self._counted(ready)
        return Running(ready, self.settings, self.store.ledger)

    def _counted(self, ready: Prepared) -> EvidenceSet:
        """Add the baseline's attempts at a claim to the ledger; return the present attempt."""
        drawn, earlier = set_of(ready, self.settings), self.baseline.records.get(ready.claim.id)
        if earlier is not None:
            again = (earlier.registration, str(earlier.seed)) == (drawn.registration, drawn.seed)
            self.store.ledger.recall(drawn, earlier.draws - again)
        return drawn

    def _decided(self, running: Running) -> None:
        claim, decision = running.claim, running.round.look.decision
        if decision is not None:
            self._show(
                claim.id,
                recording.said(decision.verdict, exploratory=claim.exploratory),
                recording.component(decision.headline),
                passes=recording.passes(claim, decision.verdict),
            )

    def _show(
        self, claim: str, verdict: str | None, headline: ComponentRow, *, passes: bool
    ) -> None:
        if self.progress is not None:
            word = phrases.AS_EXPECTED if passes and verdict == "REFUTED" else verdict
            told = f"{word} {claim} {figures.finding(headline)}"
            self.progress.decided(claim, told, passes=passes)

    @cached_property
    def edits(self) -> Edits:
        """The edits since the baseline."""
        return Edits(self._root, self.baseline.commit, self.report.collected)

    def since(self, claim: Claim) -> str:
        """Say whether a claim was edited; "" if unedited and not passed before."""
        earlier = self.baseline.decided.get(claim.id)
        passed = earlier is not None and earlier.outcome == "passed"
        told = passed or self.edits.of(claim.predict, claim.observe)
        return self.edits.since(claim) if told else ""

    def replayed(self, entry: ClaimRow) -> ClaimRow:
        """Return a claim's record, whose replay line names this ledger and works in the folder
        where pytest was called."""
        file = os.path.relpath(self._root / entry.file, self._called_from)
        text = entry.replay.replace(entry.file, shlex.quote(file), 1)
        if self.store.path != self._root / options.PLACES["--ledger"]:
            text += f" --ledger {shlex.quote(str(self.store.path))}"
        return structs.replace(entry, replay=text)

    def finish(self, claim: Claim) -> None:
        """Remove the live line when a claim ends, with or without a verdict."""
        if self.progress is not None:
            self.progress.finish(claim.id)

    def close(self) -> None:
        """Stop workers; close ledger and terminal."""
        if self.progress is not None:
            self.progress.close()
            self.progress = None  # so that pytest's summary has its own words again
        self.store.close()
