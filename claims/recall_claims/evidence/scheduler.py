"""Keep workers busy with the blocks of many claims, and give each claim its own back."""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from recall_claims.declare.claim import Claim
from recall_claims.errors import ExecutorError, GivenUp, OutOfTime, SimulationError
from recall_claims.evidence import executors
from recall_claims.evidence.executors import SerialExecutor, one_thread
from recall_claims.evidence.ledger import BlockResult, Ledger
from recall_claims.evidence.run import Outcome, Prepared, Progress, Running, Settings
from recall_claims.evidence.simulate import Task, elsewhere, simulate_each

AHEAD = 4.0
"""Seconds of work that are queued for each worker, and one task more than it works on: the host may
be away as long, to judge."""
DEEPEST = 64
"""Tasks that are queued for each worker at most."""
BUNDLE = 0.05
"""Seconds up to which short blocks travel together: to send one costs a few milliseconds."""

Begin = Callable[[], Running | None]
Results = list[BlockResult | OutOfTime]


@dataclass(frozen=True)
class Flight:
    """Blocks of a claim that an executor has been given, and the seconds they may take there."""

    one: Running
    tasks: tuple[Task, ...]
    executor: Executor
    seconds: float


class Scheduler:
    """Blocks go to the executor, results to ledger and claims; all of it in one thread.

    The claim that is waited for comes first. What it leaves free is given to the others by their
    longest remaining path: expected seconds of a chain of blocks, one a look, that no number of
    workers shortens. The order changes no figure, for a block is what its key says.

    A worker that dies takes the executor along. Another is started, and the blocks that were in
    flight run again, one at a time: if one dies alone, its claim fails, and no other.

    Args:
        ledger: where blocks are found and kept, or its file, which is opened when first needed.
        executor: where they run, or an option value, as of `executors.factory`, of one that is
            started when first needed. None simulates nothing.

    Raises:
        ExecutorError: the option value names no executor.
    """

    def __init__(self, ledger: Ledger | Path, executor: Executor | str | None) -> None:
        self.executor_name = executor if isinstance(executor, str) else ""
        if self.executor_name:
            executors.factory(self.executor_name)
        self._ledger, self._idle = ledger, executor is None
        self._executor = executor if isinstance(executor, Executor) else None
        self._refused: ExecutorError | None = None
        self._numbers = itertools.count()
        self._queue: list[tuple[float, int, str, Begin | Running]] = []
        self._open: dict[str, Running] = {}
        self._failed: dict[str, Exception] = {}
        self._over: set[str] = set()
        self._flying: dict[Future[Results], Flight] = {}
        self._suspects: deque[tuple[Running, tuple[Task, ...]]] = deque()
        self._queued = 0.0
        self._done: SimpleQueue[Future[Results]] = SimpleQueue()

    @property
    def path(self) -> Path:
        """The ledger's file."""
        return self._ledger if isinstance(self._ledger, Path) else self._ledger.path

    @property
    def ledger(self) -> Ledger:
        """The ledger, opened at first use."""
        if isinstance(self._ledger, Path):
            self._ledger = Ledger(self._ledger)
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
                self._executor = executors.make(self.executor_name)
            except ExecutorError as error:
                self._refused = error
                raise
        return self._executor

    def expect(self, claim: str, path: float, begin: Begin) -> None:
        """Tell of a claim that will be asked for, so that workers may begin with it.

        Args:
            path: its longest path, in seconds; infinite where nothing is known.
            begin: makes it ready to run, or returns None if there is nothing to run; what is wrong
                with it is told at its turn.
        """
        heapq.heappush(self._queue, (-path, next(self._numbers), claim, begin))

    def decided(self, claim: str) -> bool:
        """Whether a claim has come to its verdict while others were waited for."""
        return claim in self._open and not self._open[claim].missing

    def outcome(
        self, claim: str, begin: Callable[[], Running], progress: Progress | None = None
    ) -> Outcome:
        """Run a claim to its verdict, while workers go on with others.

        Args:
            begin: makes it ready to run, if it is not yet under way.
            progress: told after every block of any claim.

        Raises:
            ClaimError: the claim is written wrongly.
            SimulationError: the simulation returned no numbers, the wrong shape, or NaN; a worker
                has other code; or, without an executor, the ledger lacks a block.
            OutOfTime: blocks of a look are not expected to end before the deadline, or did not; the
                others are in the ledger.
            BrokenExecutor: the executor's workers or its scheduler are gone.
            ExecutorError: there is no executor.
            LedgerError: the ledger cannot be read or written.
        """
        one_thread()
        try:
            if claim not in self._open and claim not in self._failed:
                self._open[claim] = begin()
            one = self._open.get(claim)
            while one is not None and self._waits(one):
                self._submit(one)
                if self._flying:
                    self._take(self._done.get(), progress)
            if one is None or claim in self._failed:
                raise self._failed[claim]
            return one.outcome()
        finally:
            self._over.add(claim)
            self._open.pop(claim, None)
            self._failed.pop(claim, None)

    def close(self) -> None:
        """Stop workers, cancel what they have not begun, keep what they have done."""
        try:
            if self._executor is not None and self.executor_name:
                self._executor.shutdown(wait=True, cancel_futures=True)
                for future, flight in self._flying.items():
                    if future.done() and not future.cancelled() and future.exception() is None:
                        self._keep(flight, future.result())
        finally:
            if isinstance(self._ledger, Ledger):
                self._ledger.close()

    def _waits(self, one: Running) -> bool:
        """Whether blocks are missing that this run may simulate."""
        return bool(one.missing) and self._wanted(one) and not self._idle and not one.explored

    def _wanted(self, one: Running) -> bool:
        """Whether somebody still asks for the claim: it neither failed nor was taken."""
        return self._open.get(one.claim.id) is one

    def _submit(self, first: Running) -> None:
        """Queue tasks for the workers, as far as there is room."""
        try:
            while self._room():
                found = self._next(first)
                if found is None:
                    return
                self._send(*found)
        except ExecutorError as error:  # there is none: whoever is waited for says so
            self._fail(first, error)

    def _room(self) -> bool:
        serial = isinstance(self.executor, SerialExecutor)
        if self._suspects or serial:
            return not self._flying
        workers, tasks = executors.capacity(self.executor), len(self._flying)
        return tasks < 2 * workers or (tasks < DEEPEST * workers and self._queued < AHEAD * workers)

    def _next(self, first: Running) -> tuple[Running, tuple[Task, ...]] | None:
        """The claim and the blocks of it that go next."""
        while self._suspects:
            one, tasks = self._suspects.popleft()
            if self._wanted(one):
                return one, tasks
        alone = isinstance(self.executor, SerialExecutor)
        if self._sendable(first):
            return first, self._bundle(first, alone)
        while not alone and self._queue:
            claim, ahead = self._queue[0][2:]
            if isinstance(ahead, Running) and self._sendable(ahead):
                return ahead, self._bundle(ahead, alone)
            heapq.heappop(self._queue)
            if not isinstance(ahead, Running):
                self._begin(claim, ahead)
        return None

    def _begin(self, claim: str, begin: Begin) -> None:
        if claim in self._open or claim in self._failed or claim in self._over:
            return
        try:
            one = begin()
        except Exception as error:  # its formulas may do anything; its own turn tells
            self._failed[claim] = error
            return
        if one is not None:
            self._open[claim] = one
            self._rank(one)

    def _rank(self, one: Running) -> None:
        """Give a claim its place among those that are not waited for."""
        if self._waits(one):
            heapq.heappush(self._queue, (-one.path, next(self._numbers), one.claim.id, one))

    def _sendable(self, one: Running) -> bool:
        """Whether it has a block that may be sent now.

        Where a time limit holds and nothing is known of a block, another one is waited for first.
        """
        if not one.unsent or not self._waits(one):
            return False
        flying, known = len(one.missing) > len(one.unsent), one.seconds(one.unsent[-1]) is not None
        return one.settings.limit is None or known or not flying

    def _bundle(self, one: Running, alone: bool) -> tuple[Task, ...]:
        """The longest block of a claim, with more of them where they are short."""
        tasks, total = [one.unsent.pop()], 0.0
        while one.unsent and not alone:
            seconds = one.seconds(tasks[-1])
            total += BUNDLE if seconds is None else seconds
            if total >= BUNDLE:
                break
            tasks.append(one.unsent.pop())
        return tuple(tasks)

    def _send(self, one: Running, tasks: tuple[Task, ...]) -> None:
        limit, executor = one.settings.limit, self.executor
        expected = [one.seconds(task) for task in tasks]
        timed = tasks if limit is None else tuple(map(limit.timed, tasks, expected))
        try:
            future = executor.submit(simulate_each, timed)
        except BrokenExecutor as error:
            self._broken(Flight(one, tasks, executor, 0.0), error)
            return
        seconds = sum(AHEAD if known is None else known for known in expected)
        self._flying[future] = Flight(one, tasks, executor, seconds)
        self._queued += seconds
        future.add_done_callback(self._done.put)

    def _take(self, future: Future[Results], progress: Progress | None) -> None:
        """Keep what a task has brought, and give it to its claim."""
        flight = self._flying.pop(future)
        self._queued = self._queued - flight.seconds if self._flying else 0.0
        one = flight.one
        try:
            results = future.result()
            self._keep(flight, results)
            for task, result in zip(flight.tasks, results, strict=True):
                if not self._wanted(one):
                    return
                look, looks, done, wanted = one.progress
                one.put(task.key, result)
                if progress is not None:
                    progress(one.claim.id, look, looks, done + 1, wanted)
        except (BrokenExecutor, CancelledError) as error:
            self._broken(flight, error)
        except Exception as error:
            self._fail(one, error)
        else:
            self._rank(one)

    def _keep(self, flight: Flight, results: Results) -> None:
        """Write blocks to the ledger, which refuses what is none; learn what they took.

        Raises:
            SimulationError: a worker returned no evidence.
        """
        costs = flight.one.settings.costs
        if type(results) is not list or len(results) != len(flight.tasks):
            where = f"a worker of {flight.one.claim.id}"
            raise SimulationError(f"{where} returned no list of {len(flight.tasks)} blocks")
        for task, result in zip(flight.tasks, results, strict=True):
            if not isinstance(result, OutOfTime):
                if executors.in_other_processes(flight.executor):
                    elsewhere(task, result)
                self.ledger.put(task.key, result, flight.one.observables)
                if costs is not None:
                    costs.learn(task.key, result.seconds)
            elif isinstance(result, GivenUp) and costs is not None:
                costs.give_up(task.key, result.seconds)

    def _fail(self, one: Running, error: Exception) -> None:
        """Its turn tells the error; blocks that nobody has begun are not wanted any more."""
        if not self._wanted(one):
            return
        self._failed[one.claim.id] = error
        del self._open[one.claim.id]
        for future, flight in self._flying.items():
            if flight.one is one:
                future.cancel()

    def _broken(self, flight: Flight, error: Exception) -> None:
        """The executor is gone, with what was in flight: these blocks run again, one at a time."""
        if isinstance(error, CancelledError):
            if not self._wanted(flight.one):
                return  # it was cancelled here
            error = BrokenExecutor(
                "the executor gave up its blocks; is its scheduler gone? Start it and run again: "
                "finished blocks are kept"
            )
        first = flight.executor is self._executor
        if first and self.executor_name:
            flight.executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
        if (first and not self._flying) or not self.executor_name:
            self._fail(flight.one, error)
        else:
            self._suspects.append((flight.one, flight.tasks))


def run_claim(
    claim: Claim,
    settings: Settings,
    ledger: Ledger,
    executor: Executor | None,
    *,
    registered: str | None = None,
    alpha: float | None = None,
) -> Outcome:
    """Run one claim to its verdict; raises what `Scheduler.outcome` does.

    Args:
        claim: a claim that has cells in the tier asked for.
        executor: where missing blocks run; None simulates nothing, and judges the looks for
            which the ledger has all blocks.
        registered: names the stream that it draws from; if it is not given, its registration does.
        alpha: the claim's error probability; if it is not given, its slot of the error budget.
    """

    def begin() -> Running:
        return Running(Prepared.of(claim, settings.tier, registered), settings, ledger, alpha)

    return Scheduler(ledger, executor).outcome(claim.id, begin)
