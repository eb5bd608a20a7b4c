"""Where a process finds and makes its evidence: ledger, executor, and the blocks prefetched."""

from concurrent.futures import BrokenExecutor, Executor
from functools import cached_property
from pathlib import Path

from recall_claims.declare.claim import Claim
from recall_claims.errors import ExecutorError
from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Outcome, Prefetched, Progress, Settings, prefetch, run


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
        self, claim: Claim, settings: Settings, progress: Progress | None, following: Claim | None
    ) -> Outcome:
        """Run a claim to its verdict, while the workers go on with the one that follows.

        Raises:
            SimulationError, BrokenExecutor, LedgerError: as of `evidence.run.run`.
            ExecutorError: there is no executor.
        """
        try:
            for ahead in filter(None, (claim, following)):
                if ahead.id not in self._prefetched:
                    blocks = prefetch(ahead, settings, self.ledger, self.executor)
                    self._prefetched[ahead.id] = blocks
            blocks = self._prefetched.pop(claim.id)
            return run(claim, settings, self.ledger, self.executor, progress, blocks)
        except BrokenExecutor:  # a worker died: the next claim gets a fresh executor
            self._prefetched.clear()
            if self._executor is not None:
                self._executor.shutdown(wait=False, cancel_futures=True)
                self._executor = None
            raise

    def close(self) -> None:
        """Stop workers, cancel what they have not begun, close the ledger."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
        if "ledger" in self.__dict__:
            self.ledger.close()
