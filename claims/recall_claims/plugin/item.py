"""A claim as a pytest item, which runs the claim and passes, fails or skips by the verdict."""

import ast
import contextlib
import importlib
import io
import re
import tempfile
from concurrent.futures import BrokenExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recall_claims import recording
from recall_claims.declare.claim import Claim
from recall_claims.model.errors import (
    ClaimError,
    ExecutorError,
    LedgerError,
    OutOfTime,
    SimulationError,
)
from recall_claims.model.papers import papers
from recall_claims.plugin.session import SESSION
from recall_reports import failure
from recall_reports.record import ID, ClaimRow

PLAIN = (ClaimError, ExecutorError, LedgerError, SimulationError)
"""Errors of this library, shown without a traceback."""


class ClaimFailed(Exception):
    """The verdict is not the expected one."""


class ClaimItem(pytest.Item):
    """A claim as a test."""

    def __init__(self, *, claim: Claim, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim = claim
        self.record: ClaimRow | None = None

    def runtest(self) -> None:
        """Run the claim if it has anything to run; pass, fail or skip by its verdict."""
        session, claim, file = self.config.stash[SESSION], self.claim, self.location[0]
        try:
            self.record = session.record_without_run(claim, file)
            if self.record is None:
                outcome = session.judged(claim)
                self.record = recording.decided(outcome, file, session.certificates)
                session.verdicts.keep(claim, self.record)
        except OutOfTime:
            self.record = session.cut(claim, file)
        # Any error goes to the claim's record and to pytest; other plugins may fail tests, too.
        except (Exception, pytest.fail.Exception) as error:
            reason = f"{type(error).__name__}: {error}"
            self.record = recording.undecided(
                claim, session.settings, file, state="ERROR", reason=reason, outcome="failed"
            )
            if isinstance(error, ExecutorError):  # every other claim would fail too
                self.session.shouldfail = "no executor takes the blocks of this run"
            raise
        finally:
            session.finish(claim)
        if self.record.state == "NOT RUN":
            pytest.skip(f"NOT RUN: {self.record.reason}")
        if self.record.outcome == "passed":
            return
        budget = session.settings.budget
        share = budget.per_claim(papers()[claim.source.paper])
        shown, since = session.replayed(self.record), session.since(claim)
        raise ClaimFailed(failure.message(shown, share, budget.probability, since))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Omit the traceback of errors that explain themselves."""
        if isinstance(excinfo.value, (ClaimFailed, BrokenExecutor, *PLAIN)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the claim's file and id, for pytest's headings."""
        return self.path, None, self.claim.id


def collected(folder: Path) -> list[Claim]:
    """Return the claims that pytest collects in a folder; write nothing.

    Raises:
        ClaimError: pytest cannot collect them, or there are none.
    """
    claims: list[Claim] = []

    def finish(session: pytest.Session) -> None:
        claims.extend(item.claim for item in session.items if isinstance(item, ClaimItem))

    found = SimpleNamespace(pytest_collection_finish=finish)
    hooks = importlib.import_module("recall_claims.plugin")  # -p would warn about a second loading
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        tempfile.TemporaryDirectory() as nothing,  # no ledger is opened, and no report written
    ):
        arguments = ["--collect-only", "-p", "no:cacheprovider", "--ledger", f"{nothing}/none"]
        arguments += ["-k", "", "-m", ""]  # settings may have these
        arguments += ["--report-dir", f"{nothing}/reports"]
        status = pytest.main([str(folder), *arguments], plugins=[found, hooks])
    if status != pytest.ExitCode.OK or not claims:
        raise ClaimError(f"no claims could be collected in {folder}:\n{printed.getvalue()}")
    return claims


def claim_at(file: Path, line: int) -> str:
    """Return the id of the claim made by a call that spans this line of a file, or "".

    Only calls of functions with "claim" in their names count: `rc.claim` and `batch_claim` do,
    `slowly` does not.
    """
    for call in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(call, ast.Call) and call.lineno <= line <= (call.end_lineno or 0):
            named = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "id")]
            for name in (str(getattr(part, "value", "")) for part in named):
                if "claim" in ast.unparse(call.func) and re.fullmatch(ID, name):
                    return name
    return ""
