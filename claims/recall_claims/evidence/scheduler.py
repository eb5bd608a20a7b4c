"""Keep workers busy with the blocks of many claims, and give each claim its own back.

A claim says which blocks it lacks (`run.py`); here is decided whose are simulated next.
"""

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
from recall_claims.evidence.ledger import BlockResult, Ledger
from recall_claims.evidence.run import Outcome, Prepared, Progress, Running, Settings
from recall_claims.evidence.simulate import Task, elsewhere, simulate_each

AHEAD = 4.0
"""Seconds of work, one task at least, that wait for each worker: the host may judge as long."""
DEEPEST = 64
"""Tasks that are queued for each worker at most."""
TOGETHER = 0.05
"""Seconds up to which short blocks travel together: to send one costs a few milliseconds."""

Begin = Callable[[], Running | None]
Results = list[BlockResult | OutOfTime]


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
    return Scheduler(ledger, executor).outcome(
        claim.id,
        lambda: Running(Prepared.of(claim, settings.tier, registered), settings, ledger, alpha),
    )


@dataclass(frozen=True)
class Flight:
    """Blocks of a claim that an executor has been given, and the seconds they may take there."""

    running: Running
    tasks: tuple[Task, ...]
    executor: Executor
    seconds: float


class Scheduler:
    """Blocks go to the executor, results to ledger and claims; all of it in one thread.

    The claim that is waited for comes first. What it leaves free is given to the others by their
    longest remaining path: expected seconds of a chain of blocks, one a look, that no number of
    workers shortens. If paths take 1, 2, 4 and 3 seconds, and the first claim is waited for, the
    third comes next. The order changes no figure, for a block is what its key says.

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
        self.path = ledger if isinstance(ledger, Path) else ledger.path
        """The ledger's file."""
        self._ledger, self._simulates = ledger, executor is not None
        self._executor = executor if isinstance(executor, Executor) else None
        self._refused: ExecutorError | None = None
        # A claim is expected, then open or failed, and over once its outcome has been asked for.
        self._open: dict[str, Running] = {}
        self._failed: dict[str, Exception] = {}
        self._over: set[str] = set()
        # What may go before its turn: a claim, or what begins one. The longest path is on top.
        self._queue: list[tuple[float, int, Running | Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._flying: dict[Future[Results], Flight] = {}
        self._load = 0.0  # seconds of what is flying
        self._done: SimpleQueue[Future[Results]] = SimpleQueue()
        self._suspects: deque[Flight] = deque()  # lost with a worker, which one of them has killed

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
        heapq.heappush(self._queue, (-path, next(self._numbers), lambda: self._begin(claim, begin)))

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
        executors.one_thread()
        try:
            if claim not in self._open and claim not in self._failed:
                self._open[claim] = begin()
            while claim in self._open and self._waits(self._open[claim]):
                self._submit(self._open[claim])
                if self._flying:
                    self._take(self._done.get(), progress)
            if claim in self._failed:
                raise self._failed[claim]
            return self._open[claim].outcome()
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

    def _submit(self, first: Running) -> None:
        """Give the executor tasks, as far as it has room, those of the first claim first."""
        try:
            while self._room() and (found := self._next(first)) is not None:
                self._send(*found)
        except ExecutorError as error:  # there is none: whoever is waited for says so
            self._fail(first, error)

    @property
    def _serial(self) -> bool:
        """Whether a block runs as it is submitted: then none goes ahead of its claim's turn."""
        return isinstance(self.executor, executors.SerialExecutor)

    def _room(self) -> bool:
        if self._serial or self._suspects:
            return not self._flying
        workers, tasks = executors.capacity(self.executor), len(self._flying)
        return tasks < 2 * workers or (tasks < DEEPEST * workers and self._load < AHEAD * workers)

    def _next(self, first: Running) -> tuple[Running, tuple[Task, ...]] | None:
        """What goes next: a suspect, else blocks of the first claim, else of the longest path."""
        while self._suspects:
            suspect = self._suspects.popleft()
            if self._wanted(suspect.running):
                return suspect.running, suspect.tasks
        if self._sendable(first):
            return first, self._packed(first)
        while self._queue and not self._serial:
            ahead = self._queue[0][-1]
            if isinstance(ahead, Running) and self._sendable(ahead):
                return ahead, self._packed(ahead)
            heapq.heappop(self._queue)
            if not isinstance(ahead, Running):
                ahead()
        return None

    def _begin(self, claim: str, begin: Begin) -> None:
        """Open a claim before its turn, unless that has come."""
        if claim in self._open or claim in self._failed or claim in self._over:
            return
        try:
            running = begin()
        except Exception as error:  # its formulas may do anything; its own turn tells
            self._failed[claim] = error
            return
        if running is not None:
            self._open[claim] = running
            self._rank(running)

    def _rank(self, running: Running) -> None:
        """Give an open claim its place in the queue, if it has blocks to simulate."""
        if self._waits(running):
            heapq.heappush(self._queue, (-running.path, next(self._numbers), running))

    def _sendable(self, running: Running) -> bool:
        """Whether a block may be sent now: under a time limit, one of unknown length waits."""
        if not running.unsent or not self._waits(running):
            return False
        if running.settings.limit is None or len(running.missing) == len(running.unsent):
            return True
        return running.seconds(running.unsent[-1]) is not None  # else one in flight will tell

    def _packed(self, running: Running) -> tuple[Task, ...]:
        """The longest block of a claim, with more of them where they are short."""
        tasks, total = [running.unsent.pop()], 0.0
        while running.unsent and not self._serial:
            seconds = running.seconds(tasks[-1])
            total += TOGETHER if seconds is None else seconds
            if total >= TOGETHER:
                break
            tasks.append(running.unsent.pop())
        return tuple(tasks)

    def _send(self, running: Running, tasks: tuple[Task, ...]) -> None:
        limit, executor = running.settings.limit, self.executor
        expected = [running.seconds(task) for task in tasks]
        seconds = sum(AHEAD if known is None else known for known in expected)
        flight = Flight(running, tasks, executor, seconds)
        timed = tasks if limit is None else tuple(map(limit.timed, tasks, expected))
        try:
            future = executor.submit(simulate_each, timed)
        except BrokenExecutor as error:
            self._lost(flight, error)
            return
        self._flying[future] = flight
        self._load += seconds
        future.add_done_callback(self._done.put)

    def _take(self, future: Future[Results], progress: Progress | None) -> None:
        """Keep what a flight has brought, and give it to its claim, if that is still wanted."""
        flight = self._flying.pop(future)
        running = flight.running
        self._load = self._load - flight.seconds if self._flying else 0.0
        try:
            results = future.result()
            self._keep(flight, results)
            for task, result in zip(flight.tasks, results, strict=True):
                if not self._wanted(running):
                    return
                look, looks, done, wanted = running.progress  # of the look that the block is for
                running.put(task.key, result)
                if progress is not None:
                    progress(running.claim.id, look, looks, done + 1, wanted)
        except CancelledError:
            if not self._wanted(running):
                return  # it was cancelled here
            gone = "the executor gave up its blocks; is its scheduler gone? Start it and run again"
            self._lost(flight, BrokenExecutor(f"{gone}: finished blocks are kept"))
        except BrokenExecutor as error:
            self._lost(flight, error)
        except Exception as error:
            self._fail(running, error)
        else:
            self._rank(running)

    def _keep(self, flight: Flight, results: Results) -> None:
        """Write blocks to the ledger, which refuses what is none; learn what they took.

        Raises:
            SimulationError: a worker returned no evidence.
        """
        running, tasks, costs = flight.running, flight.tasks, flight.running.settings.costs
        if type(results) is not list or len(results) != len(tasks):
            where = f"a worker of {running.claim.id}"
            raise SimulationError(f"{where} returned no list of {len(tasks)} blocks")
        for task, result in zip(tasks, results, strict=True):
            if not isinstance(result, OutOfTime):
                if executors.in_other_processes(flight.executor):
                    elsewhere(task, result)
                self.ledger.put(task.key, result, running.observables)
                if costs is not None:
                    costs.learn(task.key, result.seconds)
            elif isinstance(result, GivenUp) and costs is not None:
                costs.give_up(task.key, result.seconds)

    def _lost(self, flight: Flight, error: BrokenExecutor) -> None:
        """The executor is gone: its blocks run again, one at a time, or have killed it and fail."""
        first = flight.executor is self._executor  # to tell of it
        if first and self.executor_name:  # another can be started
            flight.executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
        if (first and not self._flying) or not self.executor_name:
            self._fail(flight.running, error)
        else:
            self._suspects.append(flight)

    def _fail(self, running: Running, error: Exception) -> None:
        """Its turn tells the error; blocks that nobody has begun are not wanted any more."""
        if not self._wanted(running):
            return
        self._failed[running.claim.id] = error
        del self._open[running.claim.id]
        for future, flight in self._flying.items():
            if flight.running is running:
                future.cancel()

    def _waits(self, running: Running) -> bool:
        """Whether it waits for blocks, which may be simulated."""
        waits = bool(running.missing) and self._wanted(running)
        return waits and self._simulates

    def _wanted(self, running: Running) -> bool:
        """Whether somebody still asks for the claim: it neither failed nor was taken."""
        return self._open.get(running.claim.id) is running
