"""Options of `pytest claims/`, and how their values are read."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall_claims.declare.claim import TIERS
from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from recall_claims.model.budget import DEFAULT
from recall_claims.model.errors import LedgerError
from recall_claims.plugin import baseline
from recall_reports.record import files
from recall_reports.record.errors import ReportError

ABOUT = """claims, theory verified by experiment
  SUPPORTED     passed: the bounds are inside the region, and every control is refuted
  REFUTED       failed: the bounds are outside the region (passed if the claim expects that)
  INCONCLUSIVE  failed: neither, and all replicates are used; see --inconclusive
  NOT RUN (skipped) and ERROR (failed) are not verdicts. SURVIVES and BREAKS (exploratory) pass.
  exit status   0 all as expected, 1 a claim failed, 2 interrupted, or a claim is written wrongly
                (1 if only its predictions show that),
                3 the report could not be written, or a hunt broke off, 4 wrong usage,
                5 no claim was selected, 6 a time limit cut claims short, and none failed
options of claims"""


CUT = 6
"""Exit status of a run whose time limit cut claims short; pytest's own end at 5."""
LATEST, PART = "reports/latest", "reports/part"
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
        f"where the report goes (default {LATEST}, or {PART} if the report in {LATEST} has claims "
        "that this run left out)",
    ),
    "--ledger": (
        ".recall-claims/ledger.sqlite",
        "FILE",
        "evidence kept between runs (default .recall-claims/ledger.sqlite)",
    ),
    "--time-limit": (
        None,
        "TIME",
        "start no block that is not expected to end within this time: 9m, 2h; claims that the "
        "limit cuts short are NOT RUN, and the next run continues from the ledger",
    ),
    "--executor": ("auto", "EXECUTOR", f"where blocks run: {executors.FORMS}"),
    "--inconclusive": (
        "fail",
        ("fail", "skip"),
        "whether an INCONCLUSIVE claim fails (default) or is skipped",
    ),
    "--baseline": (
        None,
        "FILE",
        "earlier report, for --dry-run, the live line and the count of evidence sets (default "
        f"{baseline.DEFAULT}, if there is one)",
    ),
    "--hunt": (
        None,
        "TIME",
        "after the verdicts, spend this time searching the claims' regimes for violations: 90s, "
        "10m, 1h (on all cores, whatever -n is)",
    ),
}
"""Options with a value: its default, its kind or all that it may be, and what it does."""
FLAGS = {
    "--no-plots": "write the page without its plots",
    "--dry-run": "simulate nothing; print for each claim its cells, replicates, blocks in the "
    "ledger and to draw, and the seconds that these are expected to take",
    "--pilot": "with --dry-run: simulate 128 replicates of claims that the baseline lacks, or "
    "their first look, on draws that no verdict uses, to say how many decide them",
}
PATHS = tuple(name for name, (_, kind, _) in VALUED.items() if kind in ("FILE", "DIR"))


def add(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("claims", ABOUT)
    for name, (default, kind, text) in VALUED.items():
        values = {"metavar": kind} if isinstance(kind, str) else {"choices": kind}
        group.addoption(name, default=default, help=text, **values)
    for name, text in FLAGS.items():
        group.addoption(name, action="store_true", help=text)


def check_values(option: Callable[[str], Any], root: Path, *, spread: bool) -> None:
    """Refuse options without a value, paths that no system could have, and what goes not together.

    Raises:
        ValueError: names the option.
    """
    for name in VALUED:
        # Of "--", argparse makes an empty list before Python 3.13, and nothing from then on.
        if option(name) in ("", [], "--"):
            raise ValueError(f"{name} needs a value; leave the option out for its default")
    for name in filter(option, PATHS):
        try:
            (root / option(name)).exists()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", error)
            raise ValueError(f"{name} {option(name)[:100]!r}: {why}; name another one") from error
    if option("--dry-run") and spread:
        raise ValueError("--dry-run simulates nothing that could be spread: leave out -n")
    if option("--pilot") and not option("--dry-run"):
        raise ValueError("--pilot is a part of --dry-run: add that")
    if option("--hunt") and option("--dry-run"):
        raise ValueError("--hunt simulates, and --dry-run does not: leave out one of them")


def places(ledger: Path, reports: Path) -> None:
    """Refuse, before anything is simulated, a ledger or a report folder that cannot be used.

    Raises:
        ValueError: the ledger's file would be one of the report's, or is no ledger, the report's
            folder cannot be written to, or a file of the report is somebody else's.
    """
    if ledger.resolve() in {(reports / name).resolve() for name in files.MARKS}:
        raise ValueError(
            f"--ledger {ledger}: a report in {reports} would replace that file; give the ledger "
            "another name, or the report another folder with --report-dir"
        )
    there = next(path for path in (reports, *reports.absolute().parents) if path.exists())
    try:
        tempfile.TemporaryFile(dir=there).close()  # as root, permissions alone do not tell
    except OSError as error:
        raise ValueError(
            f"--report-dir {reports}: nothing can be written to {there} ({error.strerror}); name "
            "another folder"
        ) from error
    try:
        files.refuse_foreign(reports)
        if ledger.is_symlink() or ledger.exists():
            Ledger(ledger).close()
    except (LedgerError, ReportError) as error:
        raise ValueError(str(error)) from error
