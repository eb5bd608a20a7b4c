"""What the claims of one pytest process share."""

import math
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recall_claims import parse, recording
from recall_claims.declare.claim import Claim
from recall_claims.evidence import executors
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.run import Outcome, Prepared, Running, Settings, set_of
from recall_claims.evidence.scheduler import Scheduler
from recall_claims.plugin import options
from recall_claims.plugin.baseline import DEFAULT, Baseline
from recall_claims.plugin.forecast import Forecast, ProgressLine
from recall_claims.plugin.report import LIMIT, RunReport
from recall_reports import phrases
from recall_reports.record import ClaimRow, certificates

SESSION = pytest.StashKey["ClaimSession"]()


class ClaimSession:
    """Settings, evidence, baseline and report of one pytest process, as its options say.

    Raises:
        ValueError: an option makes no sense, or the baseline that it names cannot be read.
    """

    def __init__(self, config: pytest.Config) -> None:
        option, root = config.getoption, config.rootpath
        worker = getattr(config, "workerinput", None)
        self.is_worker = worker is not None
        self.dry_run: bool = option("--dry-run")
        self.inconclusive: str = option("--inconclusive")
        asked, spec = config.option, option("--executor")
        xdist = getattr(asked, "numprocesses", None)
        spread = self.is_worker or bool(xdist)
        options.check_values(option, root, spread=spread)
        hunts = option("--hunt") and not self.is_worker  # the controller does, for all workers
        self.hunt = parse.duration(option("--hunt"), "--hunt") if hunts else 0.0
        self.hunt_error = ""
        self.limit: str | None = option("--time-limit")
        limit = parse.duration(self.limit, "--time-limit") if self.limit else math.inf
        seconds_left = limit if worker is None else worker["claims_seconds_left"]
        device = parse.device(option("--device"), local=executors.is_local(spec))
        executor = executors.resolve(spec, device, nested=spread)
        self.store = Scheduler(root / Path(option("--ledger")), executor)
        reports = root / Path(option("--report-dir") or options.LATEST)
        if not self.is_worker:
            options.places(self.store.path, reports)
        # xdist's workers have ended when a hunt begins: all cores are its own.
        everywhere = executors.resolve(spec, device, nested=False)
        self.hunting = Scheduler(self.store.path, everywhere) if spread else self.store
        processes = executor.partition(":")[2] if executor.startswith("processes:") else 1
        self.workers = int(xdist or processes)
        self.costs = Costs(
            lambda: self.store.ledger if self.store.path.exists() else None,
            device.partition(":")[0],
            lambda: self.baseline.took,
        )
        self.settings = Settings(
            tier=option("--tier"),
            seed=(worker or {}).get("claims_seed", parse.seed(option("--seed"))),
            device=device,
            budget=parse.budget(option("--error-budget")),
            limit=None if self.limit is None else time.monotonic() + seconds_left,
            costs=self.costs,
        )
        named, earlier = option("--baseline"), root / (option("--baseline") or DEFAULT)
        required = bool(named) or (self.dry_run and earlier.exists())
        self.baseline = Baseline(earlier, self.settings.tier, required=required)
        self.certificates = certificates.load(earlier.with_name(certificates.FILE))
        self.forecast = Forecast(self.costs, self.settings, self.baseline)
        narrowed = asked.keyword or asked.deselect or any("::" in name for name in config.args)
        beside = root / options.PART if option("--report-dir") is None else None
        self.report = RunReport(reports, root, self.settings, executor, beside, bool(narrowed))
        self.progress: ProgressLine | None = None
        self._prepared: dict[str, Prepared] = {}
        self._papers: set[str] = set()

    def record_without_run(self, claim: Claim, file: str) -> ClaimRow | None:
        """The record of a claim that has nothing to run here; None if it runs."""
        if self.store.decided(claim.id):
            return None
        if self.left < 0:
            return self.cut(claim, file)  # without its predictions, which take time
        reason = claim.why_not_run(self.settings.tier, self.settings.device)
        return None if reason is None else self._not_run(claim, file, reason)

    @property
    def left(self) -> float:
        """Seconds until the time limit; negative when it has passed."""
        limit = self.settings.limit
        return math.inf if limit is None else limit - time.monotonic()

    def cut(self, claim: Claim, file: str) -> ClaimRow:
        """The record of a claim that the time limit has cut: it has no verdict."""
        reason = f"{LIMIT}{self.limit} did not suffice"
        tier = self.settings.tier
        if claim.cells_known(tier) and tier in claim.cells:  # no grid is worked out for it
            seconds = self.forecast.seconds(claim, self.forecast.blocks(claim))
            if seconds is not None:  # to one digit: more is not known, and many share the words
                takes = phrases.seconds(float(f"{seconds:.1g}"))
                reason += f"; it takes about {takes} of one core"
        return self._not_run(claim, file, reason)

    def _not_run(self, claim: Claim, file: str, reason: str) -> ClaimRow:
        return recording.undecided(
            claim, self.settings, file, state="NOT RUN", reason=reason, outcome="skipped"
        )

    def judged(self, claim: Claim) -> Outcome:
        """Run a claim to its verdict; raises what `Scheduler.run` does."""
        return self.store.run(claim.id, partial(self._running, claim), self.progress)

    def expect(self, claims: Iterable[tuple[Claim, str]]) -> None:
        """Tell of the claims that will be asked for, each with its file."""
        tier, expected = self.settings.tier, []
        for claim, file in claims:
            if tier in claim.replicates:
                path = self.costs.path(claim.id, claim.block_size(tier), len(claim.steps(tier)))
                expected.append((claim.id, path, partial(self._early, claim, file)))
        self.store.expect(expected)

    def _early(self, claim: Claim, file: str) -> Running | None:
        """A claim before its turn; None if it has nothing to run."""
        if self.left < 0 or self.record_without_run(claim, file) is not None:
            return None
        return self._running(claim)

    def _running(self, claim: Claim) -> Running:
        ready, earlier = self._ready(claim), self.baseline.records.get(claim.id)
        if earlier is not None:
            drawn = set_of(ready, self.settings)
            again = (earlier.registration, str(earlier.seed)) == (drawn.registration, drawn.seed)
            self.store.ledger.recall(drawn, earlier.draws - again)
        return Running(ready, self.settings, self.store.ledger)

    def _ready(self, claim: Claim) -> Prepared:
        """The claim, checked, with its predictions kept."""
        if claim.id not in self._prepared:
            ready = Prepared.of(claim, self.settings.tier, checked=True)
            self._prepared[claim.id] = ready
        return self._prepared[claim.id]

    def finish(self, claim: Claim) -> None:
        """The claim is done, or has come to no verdict: take the live line away."""
        self._prepared.pop(claim.id, None)
        if self.progress is not None:
            self.progress.finish(claim.id)

    def paper(self, claim: Claim) -> Any:
        """The record of a claim's paper in plain types; None if this process has given it."""
        if claim.source.paper in self._papers:
            return None
        self._papers.add(claim.source.paper)
        return msgspec.to_builtins(recording.paper(claim, self.settings.budget))

    def close(self) -> None:
        """Stop workers, close ledger and terminal."""
        if self.progress is not None:
            self.progress.close()
        self.hunting.close()
        self.store.close()
