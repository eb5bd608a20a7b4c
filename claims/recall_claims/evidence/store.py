"""Where a process finds and makes its evidence: ledger, executor, and the blocks prefetched."""

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from functools import cached_property
from pathlib import Path

from recall_claims.declare.check import check
from recall_claims.declare.claim import Claim
from recall_claims.errors import ExecutorError
from recall_claims.evidence import executors
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import (
    Outcome,
    Prefetched,
    Progress,
    Settings,
    prefetch,
    remembering,
    run,
)


class EvidenceStore:
    """Ledger and executor, opened when first needed, and the blocks under way.

    Args:
        path: the ledger's file.
        executor: an option value, as of `executors.factory`.

    Raises:
        ExecutorError: the value names no executor.
    """

    def __init__(self, path: Path, executor: str) -> None:
        executors.factory(executor)
        self.path = path
        self.executor_name = executor
        self._executor: Executor | None = None
        self._refused: ExecutorError | None = None
        self._prefetched: dict[str, Prefetched] = {}

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger, opened at first use."""
        return Ledger(self.path)

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
                self._executor = executors.make(self.executor_name)
            except ExecutorError as error:
                self._refused = error
                raise
        return self._executor

    def run(
        self,
        claim: Claim,
        settings: Settings,
        progress: Progress | None,
        following: Callable[[], Claim | None],
    ) -> Outcome:
        """Run a claim to its verdict, while the workers go on with the one that follows.

        Predictions are worked out here, and what is written wrongly in their light is found before
        a block of the claim is submitted.

        Raises:
            ClaimError: the claim is written wrongly.
            SimulationError, BrokenExecutor, LedgerError: as of `evidence.run.run`.
            ExecutorError: there is no executor.
        """
        try:
            ready = self._prefetched.pop(claim.id, None) or self._ready(claim, settings)
            if not isinstance(self.executor, SerialExecutor):
                self._go_on(following, settings)
            return run(claim, settings, self.ledger, self.executor, progress, ready)
        except BrokenExecutor:  # a worker died: the next claim gets a fresh executor
            self._prefetched.clear()
            if self._executor is not None:
                self._executor.shutdown(wait=False, cancel_futures=True)
                self._executor = None
            raise

    def _ready(self, claim: Claim, settings: Settings) -> Prefetched:
        kept = remembering(claim)
        check(kept, [settings.tier])
        return prefetch(kept, settings, self.ledger, self.executor)

    def _go_on(self, following: Callable[[], Claim | None], settings: Settings) -> None:
        """Keep the workers busy with the claim that follows; what is wrong with it is told then."""
        try:
            ahead = following()
            if ahead is not None and ahead.id not in self._prefetched:
                self._prefetched[ahead.id] = self._ready(ahead, settings)
        except BrokenExecutor:
            raise
        except Exception:  # its formulas may do anything; its own turn comes to the same
            return

    def close(self) -> None:
        """Stop workers, cancel what they have not begun, close the ledger."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
        if "ledger" in self.__dict__:
            self.ledger.close()
