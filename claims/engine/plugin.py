"""How pytest collects, runs and reports claims.

`claims/conftest.py` takes these hooks over. A module-level `Claim` is collected as a test item
named by its id; the item runs the claim, and its record travels with the test report, so that
pytest-xdist loses none.
"""

from __future__ import annotations

import json
import secrets
import shlex
import sys
import time
from collections.abc import Generator
from concurrent.futures import BrokenExecutor, Executor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from claims.engine import executors, record
from claims.engine.budget import DEFAULT, SLOTS, Budget
from claims.engine.changes import Changes
from claims.engine.claim import TIERS, Claim, check
from claims.engine.errors import ClaimError, ExecutorError, LedgerError, SimulationError
from claims.engine.ledger import Ledger
from claims.engine.plan import print_plan
from claims.engine.region import Verdict
from claims.engine.run import Begun, Settings, begin, run
from reports import terminal
from reports.errors import ReportError
from reports.record import load
from reports.write import write

SESSION = pytest.StashKey["ClaimSession"]()


class ClaimFailed(Exception):
    """The verdict is not the expected one."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of `pytest claims/`."""
    group = parser.getgroup("claims", "theory verified by experiment")
    group.addoption("--tier", choices=TIERS, default="standard", help="how much to simulate")
    group.addoption("--device", default="cpu", help="torch device: cpu (default), cuda, cuda:1")
    group.addoption(
        "--seed", default="0", metavar="N|fresh", help="suite seed (default 0), or a fresh one"
    )
    group.addoption(
        "--error-budget",
        default=str(DEFAULT),
        metavar="P",
        help=f"probability of refuting any true claim (default {DEFAULT})",
    )
    group.addoption(
        "--report-dir", default="reports/latest", metavar="DIR", help="default: reports/latest"
    )
    group.addoption(
        "--ledger",
        default=".recall-claims/ledger.sqlite",
        metavar="FILE",
        help="evidence kept between runs (default .recall-claims/ledger.sqlite)",
    )
    group.addoption("--executor", default="auto", help=f"where blocks run: {executors.FORMS}")
    group.addoption(
        "--inconclusive",
        choices=("fail", "skip"),
        default="fail",
        help="what pytest makes of an INCONCLUSIVE claim",
    )
    group.addoption(
        "--changed-since",
        metavar="REV",
        help="run only claims that depend on code that changed since this git revision; the "
        "others keep their record of the baseline",
    )
    group.addoption(
        "--baseline",
        default="reports/baseline.json",
        metavar="FILE",
        help="earlier report for --changed-since and --dry-run (default reports/baseline.json)",
    )
    group.addoption(
        "--dry-run",
        action="store_true",
        help="print cells, replicates, looks and expected seconds of each claim; simulate nothing",
    )


class ClaimSession:
    """Settings, ledger and executor of one pytest process, opened when first needed."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.getoption
        worker = getattr(config, "workerinput", None)
        self.is_worker = worker is not None
        self.settings = Settings(
            tier=option("--tier"),
            seed=worker["claims_seed"] if worker else _seed(option("--seed")),
            device=_device(option("--device")),
            budget=_budget(option("--error-budget")),
        )
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
        self.baseline = self._earlier() if revision or self.dry_run else {}
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self.clock = time.monotonic()
        self.records: list[record.Record] = []
        self.written: dict[str, Path] = {}
        self.trouble = ""
        self.line: ProgressLine | None = None
        self._ledger: Ledger | None = None
        self._executor: Executor | None = None
        self._begun: dict[str, Begun] = {}

    @property
    def ledger(self) -> Ledger:
        """The ledger, opened at first use."""
        if self._ledger is None:
            self._ledger = Ledger(self.ledger_path)
        return self._ledger

    @property
    def executor(self) -> Executor:
        """The executor, started at first use."""
        if self._executor is None:
            self._executor = executors.make(self.executor_spec)
        return self._executor

    def _earlier(self) -> dict[str, record.Record]:
        """Records of the baseline by claim, if it is of the tier that this run will be."""
        if not self.baseline_path.exists():
            return {}
        try:
            earlier = load(self.baseline_path)
        except ReportError as error:
            raise ValueError(f"--baseline: {error}") from error
        if earlier["suite"]["tier"] != self.settings.tier:
            return {}
        return {entry["id"]: entry for entry in earlier["claims"] if entry["state"] == "DECIDED"}

    def untouched(self, claim: Claim, file: str) -> record.Record | None:
        """The record of a claim that need not run: no module it depends on has changed."""
        if self.changes is None or self.changes.touched(claim.module):
            return None
        why = f"nothing that the claim depends on changed since {self.changes.revision}"
        earlier = self.baseline.get(claim.id)
        settings = self.settings
        looks = claim.looks.get(settings.tier, 1)
        if (
            earlier is not None
            and earlier["seed"] == settings.seed
            and earlier["alpha"] == settings.budget.per_look(looks)
        ):
            note = f"record of {self.baseline_path.name}: {why}"
            return {**earlier, "blocks": {**earlier["blocks"], "why": note}}
        reason = (
            f"{why}, and {self.baseline_path.name} has no record of it in tier {settings.tier} "
            f"under seed {settings.seed} and this error budget"
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
        """Stop workers, cancel what they have not begun, close the ledger."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
        if self._ledger is not None:
            self._ledger.__exit__(None, None, None)

    def report(self) -> record.Record:
        """The whole report, claims ordered by paper, file and id."""

        def place(entry: record.Record) -> tuple[str, str, str]:
            return entry["source"]["paper"], entry["file"], entry["id"]

        ordered = sorted(self.records, key=place)
        return record.suite(
            self.settings,
            ordered,
            executor=self.executor_spec,
            started=self.started,
            wall_seconds=time.monotonic() - self.clock,
            command=shlex.join(["pytest", *sys.argv[1:]]),
        )


class ProgressLine:
    """One live line: claim, look, blocks done. Only on a terminal."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None

    def __call__(self, claim: str, look: int, looks: int, done: int, wanted: int) -> None:
        """Show that `done` of the look's `wanted` blocks are there."""
        if self._task is None:
            self._progress.start()
            self._task = self._progress.add_task("", count="")
        self._progress.update(
            self._task,
            description=f"{claim}  look {look} of {looks}",
            completed=done,
            total=wanted,
            count=f"{done}/{wanted} blocks",
        )

    def clear(self) -> None:
        """Take the line away, so that pytest can print."""
        if self._task is not None:
            self._progress.stop()
            self._progress.remove_task(self._task)
            self._task = None


class ClaimItem(pytest.Item):
    """A claim as a test."""

    def __init__(self, *, claim: Claim, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim = claim
        self.record: record.Record | None = None

    def runtest(self) -> None:
        """Run the claim; pass, fail or skip by its verdict."""
        session = self.config.stash[SESSION]
        claim, settings, file = self.claim, session.settings, self.location[0]
        earlier = session.untouched(claim, file)
        if earlier is not None:
            self.record = earlier
            if earlier["state"] == "NOT RUN":
                pytest.skip(f"NOT RUN: {earlier['reason']}")
            pytest.skip(f"{earlier['verdict']}, {earlier['blocks']['why']}")
        if not claim.cells.get(settings.tier):
            tiers = ", ".join(tier for tier, points in claim.cells.items() if points)
            reason = f"NOT RUN: the claim has no cells in tier {settings.tier} (only in {tiers})"
            self.record = record.undecided(
                claim, settings, file, state="NOT RUN", reason=reason, outcome="skipped"
            )
            pytest.skip(reason)
        try:
            begun = session.begin(claim)
            following = self._following()
            if following is not None:
                session.begin_ahead(following)
            outcome = run(claim, settings, session.ledger, session.executor, session.line, begun)
        except Exception as error:
            self.record = record.undecided(
                claim,
                settings,
                file,
                state="ERROR",
                reason=f"{type(error).__name__}: {error}",
                outcome="failed",
            )
            session.discard_broken_executor(error)
            raise
        finally:
            if session.line is not None:
                session.line.clear()
        self.record = record.decided(outcome, file)
        verdict = outcome.decision.verdict
        if record.passes(claim, verdict):
            return
        message = f"{verdict} (expected {claim.expected}): {self.record['reason']}"
        if verdict is Verdict.INCONCLUSIVE and session.inconclusive == "skip":
            self.record["outcome"] = "skipped"
            pytest.skip(message)
        raise ClaimFailed(f"{message}\nreplay: {self.record['replay']}")

    def _following(self) -> Claim | None:
        """The next claim that will be run."""
        session = self.config.stash[SESSION]
        items = self.session.items
        for item in items[items.index(self) + 1 :]:
            if isinstance(item, ClaimItem) and item.claim.cells.get(session.settings.tier):
                untouched = session.untouched(item.claim, item.location[0])
                return None if untouched is not None else item.claim
        return None

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Errors that explain themselves are shown without a traceback."""
        plain = (ClaimFailed, LedgerError, SimulationError, ExecutorError, ClaimError)
        if isinstance(excinfo.value, plain):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the claim stands, for pytest's headings."""
        return self.path, None, self.claim.id


def pytest_configure(config: pytest.Config) -> None:
    """Read the options; a senseless one ends the run here."""
    try:
        config.stash[SESSION] = ClaimSession(config)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give every xdist worker the controller's seed (it may be fresh)."""
    node.workerinput["claims_seed"] = node.config.stash[SESSION].settings.seed


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> ClaimItem | None:
    """Collect a module-level claim, and refuse one that is written wrongly."""
    if not isinstance(obj, Claim) or obj.module != collector.obj.__name__:
        return None
    try:
        check(obj, [collector.config.stash[SESSION].settings.tier])
    except ClaimError as error:
        raise collector.CollectError(str(error)) from error
    item: ClaimItem = ClaimItem.from_parent(collector, name=obj.id, claim=obj)
    return item


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ids are unique, and the error budget has a slot for every claim."""
    ids = [item.claim.id for item in items if isinstance(item, ClaimItem)]
    twice = sorted({claim_id for claim_id in ids if ids.count(claim_id) > 1})
    if twice:
        raise pytest.UsageError(f"two claims share the id {', '.join(twice)}; rename one")
    if len(ids) > SLOTS:
        raise pytest.UsageError(
            f"{len(ids)} claims, but the error budget is divided into {SLOTS} slots; raise SLOTS "
            "in claims/engine/budget.py (every claim's share becomes smaller)"
        )


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """On a dry run, print the plan in place of running."""
    state = session.config.stash[SESSION]
    if not state.dry_run or session.testsfailed:
        return None
    claims = [item.claim for item in session.items if isinstance(item, ClaimItem)]
    print_plan(claims, state.settings, state.baseline, Console())
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the claim's record to the report that travels to the controller."""
    report = yield
    if isinstance(item, ClaimItem) and call.when == "call":
        # Through JSON: what travels between xdist's processes must be plain types, and the
        # report must be the same with and without it.
        report.__dict__["claim_record"] = json.loads(json.dumps(item.record))
    return report


def pytest_sessionstart(session: pytest.Session) -> None:
    """Put a live line on a terminal."""
    config = session.config
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    state = config.stash[SESSION]
    if reporter is not None and reporter.isatty and not state.is_worker:
        state.line = ProgressLine(Console(file=reporter._tw._file))
    config.pluginmanager.register(_Collector(state), "claims-collector")


class _Collector:
    """Takes the records out of the reports, in the process that writes the report."""

    def __init__(self, state: ClaimSession) -> None:
        self.state = state

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        entry = getattr(report, "claim_record", None)
        if entry is not None and not self.state.is_worker:
            self.state.records.append(entry)


def pytest_report_header(config: pytest.Config) -> str:
    """One line: what this run will do."""
    state = config.stash[SESSION]
    settings = state.settings
    return (
        f"claims: tier {settings.tier}, seed {settings.seed}, device {settings.device}, "
        f"executor {state.executor_spec}, error budget {settings.budget.probability:g}"
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the workers and write the report."""
    state = session.config.stash[SESSION]
    state.close()
    if state.is_worker or not state.records:
        return
    try:
        state.written = write(state.report(), state.report_dir)
    except ReportError as error:
        state.trouble = str(error)
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The verdict table, and where the report is."""
    state = terminalreporter.config.stash[SESSION]
    if not state.records:
        return
    console = Console(
        file=terminalreporter._tw._file,
        width=terminalreporter._tw.fullwidth,
        force_terminal=terminalreporter.isatty,
    )
    terminal.print_verdicts(state.report(), console)
    for kind, path in state.written.items():
        terminalreporter.write_line(f"{kind}: {path}")
    if state.trouble:
        terminalreporter.write_line(f"no report was written: {state.trouble}", red=True)


def _seed(text: str) -> int:
    if text == "fresh":
        return secrets.randbits(32)
    if not text.isdecimal():
        raise ValueError(f"--seed takes a non-negative integer or 'fresh', got {text!r}")
    return int(text)


def _budget(text: str) -> Budget:
    try:
        return Budget(float(text))
    except ValueError as error:
        raise ValueError(f"--error-budget {text}: {error}") from error


def _device(text: str) -> str:
    try:
        device = torch.device(text)
    except RuntimeError as error:
        raise ValueError(f"--device {text!r} is no torch device; try cpu or cuda") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"--device {text}: torch sees {torch.cuda.device_count()} CUDA devices here; use "
            "--device cpu, or install a CUDA build of torch and a driver"
        )
    return text
