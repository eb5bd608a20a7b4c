"""The pytest hooks that collect, run and report claims.

A folder's conftest.py or `-p recall_claims.plugin` loads the hooks. A module-level `Claim` is
collected as a test item named by its id, which runs the claim. Processes of pytest-xdist collect no
claims: each run has its own workers.
"""

import gc
import os
from collections import Counter
from collections.abc import Generator, Iterable
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest
from rich.console import Console

from recall_claims.declare.claim import Claim
from recall_claims.evidence.fingerprints import replaced, uncounted
from recall_claims.evidence.precheck import check_text
from recall_claims.model.errors import ClaimError
from recall_claims.model.papers import papers
from recall_claims.plugin import options
from recall_claims.plugin.forecast import ProgressLine, folded, print_plan, write
from recall_claims.plugin.hunting import run_hunt
from recall_claims.plugin.item import PLAIN, ClaimFailed, ClaimItem, claim_at
from recall_claims.plugin.report import put_aside
from recall_claims.plugin.session import SESSION, ClaimSession
from recall_reports import phrases, summary, terminal
from recall_reports.record import ClaimRow
from recall_reports.record.files import ReportError
from recall_reports.record.spelling import meant_in
from recall_reports.record.text import clean, cleaned, line

LATE = (
    "pytest found claims too late to read their options and to report them. Name their folder "
    "(`pytest {}`), or load the plugin in every run: `addopts = -p recall_claims.plugin` in "
    "pytest.ini"
)

AS_BEFORE = "{} as judged before: code, settings and evidence are the same"
NO_XDIST = "claims share all cores without pytest-xdist: leave out -n"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `pytest claims/`."""
    options.add(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the options; end the run if one makes no sense."""
    if not hasattr(config.option, "dry_run"):  # before pytest 9.2, late options have no values
        raise pytest.UsageError(LATE.format("FOLDER"))
    if config.getoption("dist", "no") != "no":
        raise pytest.UsageError(NO_XDIST)
    try:
        config.stash[SESSION] = ClaimSession(config)
    except (ValueError, ReportError) as error:
        raise pytest.UsageError(str(error)) from error


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main() -> Generator[None, object, object]:
    """Collect garbage rarely, and never the objects made so far: most are modules in use."""
    gc.freeze()
    youngest, young, old = gc.get_threshold()
    gc.set_threshold(10 * youngest, young, 100 * old)
    try:
        return (yield)
    finally:
        gc.set_threshold(youngest, young, old)
        gc.unfreeze()


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> ClaimItem | None:
    """Collect a module-level claim, and refuse one that is written wrongly."""
    if not isinstance(obj, Claim) or obj.module != collector.obj.__name__:
        return None
    state = collector.config.stash.get(SESSION, None)
    if state is None or not state.started:
        raise collector.CollectError(LATE.format(collector.nodeid.rpartition("/")[0]))
    if hasattr(collector.config, "workerinput"):
        raise collector.CollectError(NO_XDIST)
    try:
        check_text(obj)
    except ClaimError as error:
        raise collector.CollectError(line(str(error))) from error
    item: ClaimItem = ClaimItem.from_parent(collector, name=obj.id, claim=obj)
    return item


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Name the claim if its arguments raise an error at collection: the error does not name it."""
    report = yield
    error = report.__dict__["call"].excinfo
    lines = [e.lineno + 1 for e in error.traceback if e.path == collector.path] if error else []
    if lines and (name := claim_at(collector.path, lines[0])):
        report.sections.append(("claim", f"in claim {name}"))
    return report


@pytest.hookimpl(tryfirst=True)  # before -k leaves claims out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Check that ids are unique, and that the error budget has a slot for every claim."""
    found = [item for item in items if isinstance(item, ClaimItem)]
    claims = config.stash[SESSION].report.collected = [item.claim for item in found]
    _refuse_uncounted(config, {claim.module for claim in claims})
    same = summary.grouped(found, lambda item: item.claim.id)
    for name, sharing in sorted(same.items()):
        if len(sharing) > 1:
            files = " and ".join(item.location[0] for item in sharing[:2])
            raise pytest.UsageError(f"two claims share the id {name}, in {files}; rename one")
    for key, count in Counter(claim.source.paper for claim in claims).items():
        paper = papers()[key]
        if count > paper.slots:
            raise pytest.UsageError(
                f"paper {key} has {count} claims, but its share of the error budget is divided "
                f"into {paper.slots} slots; raise `slots` in {paper.file} (every claim of the "
                "paper then has a smaller alpha)"
            )


def _refuse_uncounted(config: pytest.Config, modules: Iterable[str]) -> None:
    """Refuse plugins that may change evidence but are not part of the evidence's key."""
    plugins = [p for _, p in config.pluginmanager.list_name_plugin() if isinstance(p, ModuleType)]
    conftests = [p for p in plugins if Path(p.__file__ or "").name == "conftest.py"]
    names = [p.__name__ for p in plugins if p not in conftests]
    for what in (text for module in modules for text in replaced(module, conftests)):
        raise pytest.UsageError(f"{what}, and evidence would not say so; judge claims apart")
    for plugin in (name for module in modules for name in uncounted(module, names)):
        raise pytest.UsageError(
            f"the plugin {plugin} is developed here, so that evidence may depend on it. To count "
            "it as code of the claims, load it by addopts in pytest's settings or by a conftest.py "
            f"in their folder. To leave it out, say `-p no:{plugin}`"
        )


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Print the plan on a dry run, instead of running."""
    state = session.config.stash[SESSION]
    if not session.config.option.dry_run or session.testsfailed:
        return None
    claims = [item.claim for item in session.items if isinstance(item, ClaimItem)]
    try:
        print_plan(claims, state.forecast, Console())
    except (ClaimError, ValueError) as error:  # a grid may raise ValueError here
        raise session.Interrupted(str(error)) from error
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the claim's record to the report of the run.

    The record's figures become properties of the test, for `--junitxml` and other readers.
    """
    if not isinstance(item, ClaimItem) or call.when != "call":
        return (yield)
    if item.record is not None:
        item.user_properties += _properties(item.record)
        item.config.stash[SESSION].report.take(item.record)
    report, config = (yield), item.config
    report.__dict__["claim"] = item.claim.id
    # All text of a claim enters here: messages of its exceptions, and its output.
    plain = config.hook.pytest_report_to_serializable(config=config, report=report)
    found = config.hook.pytest_report_from_serializable(config=config, data=cleaned(plain))
    assert isinstance(found, pytest.TestReport)
    return found


def _properties(entry: ClaimRow) -> list[tuple[str, object]]:
    """Return verdict, estimate, interval, region and resolution, if the claim has them."""
    found: list[tuple[str, object]] = [("verdict", entry.verdict or entry.state)]
    if entry.head is None:
        return found
    figures = msgspec.to_builtins(entry.head)
    found += [(name, figures[name]) for name in ("estimate", "interval", "region")]
    return [*found, ("resolution", phrases.resolution(entry))]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note that the plugin loaded before collection; print a fresh seed if no header did."""
    config, state = session.config, session.config.stash[SESSION]
    state.started = True
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or (reporter.showheader and not reporter.no_header):
        return
    if config.option.seed == "fresh":
        reporter.write_line(f"seed {state.settings.seed}")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Announce the claims to the scheduler, and show progress."""
    config = session.config
    ahead = [item for item in session.items if isinstance(item, ClaimItem)]
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    state = config.stash.get(SESSION, None)  # pytest 8 calls this even if the plugin came too LATE
    if state is None or config.option.dry_run or config.option.collectonly:
        return
    state.report.selected = len(ahead)
    seconds = state.expect((item.claim, item.location[0]) for item in ahead)
    if reporter is None:
        return
    try:
        # While a claim runs, pytest captures this descriptor, but not a copy of it.
        shown = os.fdopen(os.dup(reporter._tw._file.fileno()), "w", encoding="utf-8")
    except (AttributeError, OSError):  # pytest reports to no file
        return
    console = Console(file=shown, width=reporter._tw.fullwidth, force_terminal=reporter.isatty)
    names = reporter.verbosity == 0
    state.progress = ProgressLine(console, len(ahead), seconds, state.workers, names=names)
    if names:
        reporter.showfspath = False


@pytest.hookimpl(wrapper=True)
def pytest_report_teststatus(
    report: pytest.TestReport, config: pytest.Config
) -> Generator[None, tuple[str, str, str], tuple[str, str, str]]:
    """Print no dots for claims: names and verdicts are printed instead."""
    category, letter, word = yield
    progress = config.stash[SESSION].progress
    named = progress is not None and progress.names and hasattr(report, "claim")
    return (category, "", "") if named else (category, letter, word)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Describe the run's settings, in lines as wide as the terminal."""
    state = config.stash[SESSION]
    settings = state.settings
    told = (
        f"claims: tier {settings.tier}, seed {settings.seed}, device {settings.device}, "
        f"executor {state.store.executor_name}, error budget {settings.budget.probability:g}"
    )
    if not state.store.path.exists():  # attempts are counted from 1 again
        told += f", new ledger {os.path.relpath(state.store.path, config.invocation_params.dir)}"
    return folded(told, config.get_terminal_writer().fullwidth)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int | pytest.ExitCode) -> None:
    """Hunt if asked to, stop the workers and write the report."""
    gc.freeze()  # pytest collects garbage five times at its end
    state = session.config.stash[SESSION]
    seconds = min(state.hunt, state.left)
    done = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    try:
        if exitstatus == pytest.ExitCode.INTERRUPTED:  # report all printed verdicts
            for item in session.items:
                if isinstance(item, ClaimItem) and state.known(item.claim):
                    with suppress(ClaimFailed):
                        item.runtest()
                    if item.record is not None:
                        state.report.take(item.record)
        if seconds > 0 and done:
            _hunt(session, state, seconds)
    finally:
        state.close()
    if state.report.cut and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.INTERRUPTED
    if state.report.records and not state.report.write():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _hunt(session: pytest.Session, state: ClaimSession, seconds: float) -> None:
    if state.progress is not None:
        state.progress.close()
        state.progress = None
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    console = Console(quiet=reporter is None or not reporter.isatty)
    try:
        refuted = run_hunt(state, seconds, console)
        if refuted:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            if reporter is not None:  # else its last line counts only passed tests
                reporter._add_stats("refuted by the hunt", [SimpleNamespace()] * refuted)
    except KeyboardInterrupt:  # the verdicts are still reported
        session.exitstatus = pytest.ExitCode.INTERRUPTED
    except (BrokenExecutor, *PLAIN) as error:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        state.hunt_error = str(error)


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int) -> None:
    """Print the verdict table, and where the report is."""
    state = terminalreporter.config.stash[SESSION]
    report = state.report
    if not report.records:
        if exitstatus == pytest.ExitCode.INTERRUPTED and report.selected:
            write(terminalreporter, summary.early(0, report.selected))
        text, ids = terminalreporter.config.option.keyword, [c.id for c in report.collected]
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and text and ids:
            write(terminalreporter, f"no claim has {clean(text)!r} in its id{meant_in(text, ids)}")
        return
    console = Console(
        file=terminalreporter._tw._file,
        width=terminalreporter._tw.fullwidth,
        force_terminal=terminalreporter.isatty,
    )
    record = report.whole()
    record.claims = [state.replayed(claim) for claim in record.claims]
    for told in put_aside(record):
        write(terminalreporter, told, yellow=True)
    if kept := sum(row is not None for row in state.kept.values()):
        write(terminalreporter, AS_BEFORE.format(phrases.claims(kept)))
    verbosity = terminalreporter.config.get_verbosity()
    terminal.print_verdicts(record, console, verbosity)
    for told in state.edits.lines(c.id for c in record.claims if c.state == "DECIDED"):
        write(terminalreporter, clean(told), yellow=True)
    if verbosity >= 0:
        for kind, path in report.written.items():
            terminalreporter.write_line(f"{kind}: {path}")
        none = "the record names no commit, so nobody can check it"
        without = f"{none}: {clean(report.no_commit)}" if report.no_commit else ""
        for told in filter(None, (report.kept, without)):
            write(terminalreporter, told)
    if state.hunt_error:
        write(terminalreporter, f"the hunt broke off: {clean(state.hunt_error)}", red=True)
    if report.write_error:
        none = "" if report.written else "no report was written: "
        write(terminalreporter, f"{none}{clean(report.write_error)}", red=True)
