"""A claim as a pytest item: it runs the claim, and its verdict passes, fails or skips."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

import pytest

from recall_claims.declare.claim import Claim
from recall_claims.errors import ClaimError, ExecutorError, LedgerError, SimulationError
from recall_claims.evidence.run import run
from recall_claims.judge.region import Verdict
from recall_claims.plugin import record
from recall_claims.plugin.session import SESSION
from recall_reports import phrases
from recall_reports.record import Claim as ClaimRecord


class ClaimFailed(Exception):
    """The verdict is not the expected one."""


class ClaimItem(pytest.Item):
    """A claim as a test."""

    def __init__(self, *, claim: Claim, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim = claim
        self.record: ClaimRecord | None = None

    def runtest(self) -> None:
        """Run the claim; pass, fail or skip by its verdict."""
        session = self.config.stash[SESSION]
        claim, settings, file = self.claim, session.settings, self.location[0]
        earlier = session.untouched(claim, file)
        if earlier is not None:
            self.record = earlier
            if earlier.state == "NOT RUN":
                pytest.skip(f"NOT RUN: {earlier.reason}")
            pytest.skip(f"{earlier.verdict}, {phrases.evidence(earlier)}")
        reason = claim.why_not_run(settings.tier, settings.device)
        if reason is not None:
            self.record = record.undecided(
                claim, settings, file, state="NOT RUN", reason=reason, outcome="skipped"
            )
            pytest.skip(f"NOT RUN: {reason}")
        effort = 0.0, 0.0
        try:
            begun = session.begin(claim)
            following = self._following()
            if following is not None:
                session.begin_ahead(following)
            outcome = run(claim, settings, session.ledger, session.executor, session.line, begun)
            effort = outcome.seconds, 1 - outcome.reused / outcome.blocks
        except Exception as error:  # whatever broke is the claim's record, and pytest's to show
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
                session.line.finish(claim.id, *effort)
        self.record = record.decided(outcome, file)
        verdict = outcome.decision.verdict
        if record.passes(claim, verdict):
            return
        message = f"{verdict} (expected {claim.expected}): {phrases.reason(self.record)}"
        if verdict is Verdict.INCONCLUSIVE and session.inconclusive == "skip":
            self.record.outcome = "skipped"
            pytest.skip(message)
        raise ClaimFailed(f"{message}\nreplay: {self.record.replay}")

    def will_run(self) -> bool:
        """Whether the claim can run in this tier and on this device, and has to be judged anew."""
        session = self.config.stash[SESSION]
        if self.claim.why_not_run(session.settings.tier, session.settings.device) is not None:
            return False
        return session.untouched(self.claim, self.location[0]) is None

    def _following(self) -> Claim | None:
        """The next claim that will be run."""
        items = self.session.items
        for item in items[items.index(self) + 1 :]:
            if isinstance(item, ClaimItem) and item.will_run():
                return item.claim
        return None

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Errors that explain themselves are shown without a traceback."""
        plain = (
            ClaimFailed,
            LedgerError,
            SimulationError,
            ExecutorError,
            BrokenExecutor,
            ClaimError,
        )
        if isinstance(excinfo.value, plain):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the claim stands, for pytest's headings."""
        return self.path, None, self.claim.id
