"""Options of `pytest claims/`: declared in a table, and read once."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall_claims import parse
from recall_claims.declare.claim import TIERS
from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.ledger_file import refuse_old
from recall_claims.evidence.run import Settings
from recall_claims.model.budget import DEFAULT
from recall_claims.model.errors import LedgerError
from recall_reports.record import files, spelling
from recall_reports.record.files import ReportError

ABOUT = """claims, theory verified by experiment
  SUPPORTED     passed: the bounds are inside the region, and every control is refuted
  REFUTED       failed: the bounds are outside the region (passed if the claim expects that)
  INCONCLUSIVE  failed: neither, and all replicates are used
  NOT RUN (skipped) and ERROR (failed) are not verdicts. SURVIVES and BREAKS (exploratory) pass.
  exit status   0 all as expected
                1 a claim failed, the report could not be written, or a hunt broke off
                2 interrupted, by a key or by --time-limit, or a claim is written wrongly
                  (1 if only its predictions show that)
                4 wrong usage
                5 no claim was selected
options of claims"""
PLACES = {
    "--report-dir": "reports/latest",
    "--ledger": ".recall-claims/ledger.sqlite",
    "--baseline": "reports/baseline.json",
}
"""Default paths, in pytest's rootdir."""
PART = "reports/part"
VALUED = {
    "--tier": ("standard", TIERS, "how much to simulate"),
    "--device": ("cpu", "DEVICE", "torch device: cpu (default), cuda, cuda:1"),
    "--seed": ("0", "N|fresh", "suite seed (default 0), or a fresh one"),
    "--error-budget": (
        str(DEFAULT),
        "P",
        f"probability of refuting any true claim (default {DEFAULT})",
    ),
    "--report-dir": (
        None,
        "DIR",
        f"where the report goes (default {PLACES['--report-dir']} in pytest's rootdir, or {PART} "
        "if the report there has claims that this run left out)",
    ),
    "--ledger": (
        None,
        "FILE",
        f"evidence kept between runs (default {PLACES['--ledger']} in pytest's rootdir)",
    ),
    "--time-limit": (
        None,
        "TIME",
        "start no block that is not expected to end within this time: 9m, 2h; claims that the "
        "limit cuts short are NOT RUN, and the next run continues from the ledger",
    ),
    "--executor": ("auto", "EXECUTOR", f"where blocks run: {executors.FORMS}"),
    "--baseline": (
        None,
        "FILE",
        "earlier report, for --dry-run, the live line of progress and the count of attempts "
        f"(default {PLACES['--baseline']}, if there is one)",
    ),
    "--hunt": (
        None,
        "TIME",
        "after the verdicts, use this time to search the claims' regimes for violations: 90s, "
        "10m, 1h (on all workers)",
    ),
}
"""Options with a value: the default, a kind or the allowed values, and the effect."""
DRY_RUN = (
    "simulate nothing; print for each claim its cells, replicates, blocks in the ledger, blocks to "
    "draw and the expected seconds"
)


def add(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("claims", ABOUT)
    for name, (default, kind, text) in VALUED.items():
        metavar = kind if isinstance(kind, str) else "|".join(kind)
        group.addoption(name, default=default, help=text, metavar=metavar)
    group.addoption("--dry-run", action="store_true", help=DRY_RUN)
    _correct(parser)


def _correct(parser: pytest.Parser) -> None:
    """Make pytest answer an unknown option in one sentence with the nearest known option."""
    parse = parser.parse

    def corrected(*given: Any, **more: Any) -> Any:
        try:
            return parse(*given, **more)
        except pytest.UsageError as error:
            if not spelling.UNKNOWN.search(str(error)):
                raise
            said = spelling.corrected(str(error), parser.optparser.format_help())
            raise pytest.UsageError(f"{said}; `pytest --help` lists all") from None

    setattr(parser, "parse", corrected)  # noqa: B010  (no hook of pytest sees this error)


def read(config: pytest.Config) -> Settings:
    """Read the settings of a run.

    Raises:
        ValueError: names a senseless value, or two options that exclude each other.
    """
    option = config.getoption
    _refuse_empty_and_impossible(option, config.invocation_params.dir)
    if option("--hunt") and option("--dry-run"):
        raise ValueError("--hunt simulates, and --dry-run does not: leave out one of them")
    limit = option("--time-limit")
    settings = Settings(
        tier=option("--tier"),
        seed=parse.seed(option("--seed")),
        device=parse.device(option("--device"), local=executors.is_local(option("--executor"))),
        budget=parse.budget(option("--error-budget")),
        limit=time.monotonic() + parse.duration(limit, "--time-limit") if limit else None,
    )
    _refuse_places(place(config, "--ledger"), place(config, "--report-dir"))
    return settings


def place(config: pytest.Config, name: str) -> Path:
    """Return the path that an option gives, or else its default in pytest's rootdir."""
    given = config.getoption(name)
    return config.invocation_params.dir / given if given else config.rootpath / PLACES[name]


def _refuse_empty_and_impossible(option: Callable[[str], Any], here: Path) -> None:
    """Refuse options without a value, unknown tiers, and impossible paths."""
    for name in VALUED:
        # Before Python 3.13, argparse turns the value "--" into an empty list.
        if option(name) in ("", [], "--"):
            raise ValueError(f"{name} needs a value; leave the option out for its default")
    tier = option("--tier")
    if tier not in TIERS:
        meant = spelling.meant(tier, TIERS)
        raise ValueError(f"--tier {tier[:100]!r}: it is one of {', '.join(TIERS)}{meant}")
    for name in filter(option, PLACES):
        try:
            (here / option(name)).exists()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", error)
            raise ValueError(f"{name} {option(name)[:100]!r}: {why}; name another one") from error


def _refuse_places(ledger: Path, reports: Path) -> None:
    """Refuse, before anything is simulated, a ledger or a report folder that cannot be used.

    The ledger's file may belong to a report, or be no ledger. The report's folder may be read-only,
    or have foreign files.
    """
    if ledger.resolve() in {(reports / name).resolve() for name in files.MARKS}:
        raise ValueError(
            f"--ledger {ledger}: a report in {reports} would replace that file; give the ledger "
            "another name, or the report another folder with --report-dir"
        )
    there = next(path for path in (reports, *reports.absolute().parents) if path.exists())
    try:
        tempfile.TemporaryFile(dir=there).close()  # as root, permissions do not show it
    except OSError as error:
        raise ValueError(
            f"--report-dir {reports}: nothing can be written to {there} ({error.strerror}); name "
            "another folder"
        ) from error
    try:
        files.refuse_foreign(reports)
        refuse_old()
        if ledger.is_symlink() or ledger.exists():
            Ledger(ledger).close()
    except (LedgerError, ReportError) as error:
        raise ValueError(str(error)) from error
