"""What the claims of one pytest process share: settings, ledger, executor, baseline, records."""

from __future__ import annotations

import shlex
import sys
import time
from concurrent.futures import BrokenExecutor, Executor
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import pytest
from msgspec.structs import replace

from recall_claims.declare.claim import Claim
from recall_claims.errors import ExecutorError
from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Begun, Settings, begin
from recall_claims.plugin import options, record
from recall_claims.plugin.changes import Changes, commit
from recall_claims.plugin.progress import ProgressLine
from recall_reports import phrases
from recall_reports.errors import ReportError
from recall_reports.files import load
from recall_reports.record import Claim as ClaimRecord
from recall_reports.record import Kept, Record

SESSION = pytest.StashKey["ClaimSession"]()


class ClaimSession:
    """Settings, ledger and executor of one pytest process, opened when first needed."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.getoption
        worker = getattr(config, "workerinput", None)
        self.is_worker = worker is not None
        local = executors.is_local(option("--executor"))
        self.settings = Settings(
            tier=option("--tier"),
            seed=(worker or {}).get("claims_seed", options.seed(option("--seed"))),
            device=options.device(option("--device"), local=local),
            budget=options.budget(option("--error-budget")),
        )
        self.root = config.rootpath
        self.inconclusive: str = option("--inconclusive")
        self.report_dir = config.rootpath / Path(option("--report-dir"))
        self.ledger_path = config.rootpath / Path(option("--ledger"))
        nested = self.is_worker or bool(getattr(config.option, "numprocesses", None))
        self.executor_spec = executors.resolve(
            option("--executor"), self.settings.device, nested=nested
        )
        executors.factory(self.executor_spec)  # a senseless value ends the run before it begins
        revision = option("--changed-since")
        self.changes = Changes.since(revision, config.rootpath) if revision else None
        self.baseline_path = config.rootpath / Path(option("--baseline"))
        self.dry_run: bool = option("--dry-run")
        if self.dry_run and nested:
            raise ValueError("--dry-run simulates nothing that could be spread: leave out -n")
        if revision or self.dry_run:
            self.baseline  # noqa: B018  (one that cannot be read ends the run here)
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self.clock = time.monotonic()
        self.records: list[ClaimRecord] = []
        self.written: dict[str, Path] = {}
        self.trouble = ""
        self.line: ProgressLine | None = None
        self._ledger: Ledger | None = None
        self._executor: Executor | None = None
        self._refused: ExecutorError | None = None
        self._begun: dict[str, Begun] = {}

    @property
    def ledger(self) -> Ledger:
        """The ledger, opened at first use."""
        if self._ledger is None:
            self._ledger = Ledger(self.ledger_path)
        return self._ledger

    @property
    def executor(self) -> Executor:
        """The executor, started at first use.

        Raises:
            ExecutorError: it cannot be had; told again to every claim, without another wait.
        """
        if self._refused is not None:
            raise self._refused
        if self._executor is None:
            try:
                self._executor = executors.make(self.executor_spec)
            except ExecutorError as error:
                self._refused = error
                raise
        return self._executor

    @cached_property
    def baseline(self) -> dict[str, ClaimRecord]:
        """Records of the baseline by claim, if it is of the tier that this run will be.

        Raises:
            ValueError: it cannot be read.
        """
        if not self.baseline_path.exists():
            return {}
        try:
            earlier = load(self.baseline_path)
        except ReportError as error:
            raise ValueError(f"--baseline: {error}") from error
        if earlier.suite.tier != self.settings.tier:
            return {}
        return {entry.id: entry for entry in earlier.claims if entry.state == "DECIDED"}

    def untouched(self, claim: Claim, file: str) -> ClaimRecord | None:
        """The record of a claim that need not run: no module it depends on has changed."""
        if self.changes is None or self.changes.touched(claim.module):
            return None
        revision = self.changes.revision
        earlier = self.baseline.get(claim.id)
        settings = self.settings
        looks = claim.looks.get(settings.tier, 1)
        if (
            earlier is not None
            and earlier.seed == settings.seed
            and earlier.alpha == settings.budget.per_look(looks)
        ):
            kept = Kept(file=self.baseline_path.name, revision=revision)
            return replace(earlier, blocks=replace(earlier.blocks, kept=kept, peak_memory_mib=None))
        reason = (
            f"{phrases.unchanged(revision)}, and {self.baseline_path.name} has no record of it in "
            f"tier {settings.tier} under seed {settings.seed} and this error budget"
        )
        return record.undecided(
            claim, settings, file, state="NOT RUN", reason=reason, outcome="skipped"
        )

    def begin(self, claim: Claim) -> Begun:
        """Blocks of the claim that are on their way: already, or from now on."""
        begun = self._begun.pop(claim.id, None)
        if begun is None:
            begun = begin(claim, self.settings, self.ledger, self.executor)
        return begun

    def begin_ahead(self, claim: Claim) -> None:
        """Have the workers go on with this claim while another is judged."""
        self._begun[claim.id] = begin(claim, self.settings, self.ledger, self.executor)

    def discard_broken_executor(self, error: BaseException) -> None:
        """After a worker died, give the next claim a fresh executor."""
        if isinstance(error, BrokenExecutor) and self._executor is not None:
            self._begun.clear()
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None

    def close(self) -> None:
        """Stop workers, cancel what they have not begun, close ledger and terminal."""
        if self.line is not None:
            self.line.close()
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
        if self._ledger is not None:
            self._ledger.__exit__(None, None, None)

    def report(self) -> Record:
        """The whole report, claims ordered by paper, file and id."""

        def place(entry: ClaimRecord) -> tuple[str, str, str]:
            return entry.source.paper, entry.file, entry.id

        ordered = sorted(self.records, key=place)
        return record.suite(
            self.settings,
            ordered,
            executor=self.executor_spec,
            started=self.started,
            wall_seconds=time.monotonic() - self.clock,
            command=shlex.join(["pytest", *sys.argv[1:]]),
            commit=commit(self.root),
        )
