"""Decide which claim's missing blocks are simulated next, and return each result to its claim."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from recall_claims.declare.claim import Claim
from recall_claims.evidence import executors
from recall_claims.evidence.ledger import BlockResult, Ledger
from recall_claims.evidence.run import Outcome, Prepared, Progress, Running, Settings
from recall_claims.evidence.simulate import Task, elsewhere, simulate_each
from recall_claims.model.errors import ExecutorError, LedgerError, SimulationError, told

AHEAD = 4.0
"""Seconds of work to queue per worker, and at least a task, to keep it busy during judging."""
DEEPEST = 64
"""Largest number of tasks queued per worker."""
TOGETHER = 0.05
"""Seconds of short blocks to send together, as each message costs milliseconds."""

Begin = Callable[[], Running | None]
Expected = tuple[str, float, float, Begin]
Results = list[BlockResult]


def run_claim(
    claim: Claim,
    settings: Settings,
    ledger: Ledger,
    executor: Executor | None,
    *,
    registered: str | None = None,
    alpha: float | None = None,
) -> Outcome:
    """Run one claim to its verdict; raises the errors of `Scheduler.run`.

    Args:
        claim: a claim with cells in the tier of `settings`.
        executor: executor of missing blocks; None simulates nothing, and judges only looks whose
            blocks are all in the ledger.
        registered: name of the claim's random stream; by default its registration.
        alpha: the claim's error probability; by default its slot of the error budget.
    """
    return Scheduler(ledger, executor).run(
        claim.id,
        lambda: Running(Prepared.of(claim, settings.tier, registered), settings, ledger, alpha),
    )


@dataclass(frozen=True)
class Flight:
    """A claim's blocks that an executor simulates, with their expected seconds."""

    running: Running
    tasks: tuple[Task, ...]
    executor: Executor
    seconds: float


class Scheduler:
    """Sender of blocks to the executor, and of results to ledger and claims, in one thread.

    Theorems come before exploratory claims, and cheap claims before costly ones, so that most
    verdicts come early. A claim's remaining path is a chain of blocks, one per look, which more
    workers do not shorten. A claim goes first once its path takes more than a quarter of the time
    in which the workers could finish all claims. Of such claims, the longest path goes first. So
    the last claims end together. With the block times of a whole run, 2 to 64 workers need at
    most 2.5 per cent longer than if the longest path always went first. No order changes a figure.

    A worker that dies ends its executor. If an option value named the executor, we start another,
    and send each `Flight` again by itself. If a worker then dies, only the flight's claim fails.
    If no option value named it, all claims in flight fail.

    Args:
        ledger: ledger of the blocks, or its file, which is opened when first needed.
        executor: executor of the blocks, or an option value for `executors.factory`, whose executor
            is started when first needed. None simulates nothing.

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
        # A claim is expected, then open or failed, and forgotten after its turn.
        self._expected: dict[str, tuple[float, Begin]] = {}  # the longest path last
        self._cheap: list[str] = []  # expected claims, the cheapest last
        self._last: Collection[str] = ()
        self._work: dict[str, float] = {}  # expected seconds
        self._ahead: dict[str, float] = {}  # of claims still expected
        self.told: Callable[[Running], None] | None = None
        """Function to call with each claim as soon as it is decided."""
        self._open: dict[str, Running] = {}
        self._failed: dict[str, Exception] = {}
        self._flying: dict[Future[Results], Flight] = {}
        self._load = 0.0  # expected seconds in flight
        self._done: SimpleQueue[Future[Results]] = SimpleQueue()
        self._suspects: deque[Flight] = deque()  # lost when one of them killed a worker

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
            ExecutorError: the executor cannot start; raised again for every claim, without a wait.
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

    def expect(self, claims: Iterable[Expected], last: Collection[str] = ()) -> None:
        """Announce claims that `run` will get, so that workers may begin with them.

        Each is given by its id, the seconds of its longest path and of all its blocks (infinite if
        unknown), and a function that begins the claim. The function returns None if there is
        nothing to run. An error in a claim is raised at its turn. The `last` claims begin after all
        others, unless their paths are known to be long.
        """
        self._last = last
        longest_first = sorted(claims, key=lambda one: self._known(*one[:2]), reverse=True)
        self._work = {claim: work for claim, _, work, _ in longest_first}
        self._ahead = dict(self._work)
        self._cheap = sorted(self._work, key=lambda claim: self._rank(claim, 0, 1), reverse=True)
        self._expected = {claim: (path, begin) for claim, path, _, begin in longest_first[::-1]}

    def decided(self, claim: str) -> bool:
        """Whether a claim reached its verdict while `run` waited for others."""
        return claim in self._open and not self._open[claim].round.missing

    def run(
        self, claim: str, begin: Callable[[], Running], progress: Progress | None = None
    ) -> Outcome:
        """Run a claim to its verdict, while workers go on with others.

        Args:
            begin: makes the claim ready to run, if it has not begun yet.
            progress: called after every block of any claim.

        Raises:
            ClaimError: the claim is written wrongly.
            SimulationError: the simulation failed, or its replicates are not finite or independent;
                a worker has other code; or, without an executor, the ledger lacks a block.
            OutOfTime: blocks of a look are not expected to end before the time limit; finished
                blocks are in the ledger.
            BrokenExecutor: the executor's workers or its scheduler are gone.
            ExecutorError: the executor cannot start.
            LedgerError: the ledger cannot be read or written.
        """
        executors.one_thread()
        self._expect_no_more(claim)
        try:
            if claim not in self._open and claim not in self._failed:
                self._open[claim] = begin()
                self._tell(self._open[claim])
            while self._simulates and (waits := self._open.get(claim)) is not None:
                if waits.cut or not waits.round.missing:
                    break
                self._submit(waits)
                if self._flying:
                    self._take(self._done.get(), progress)
            if claim in self._failed:
                raise self._failed[claim]
            return self._open[claim].outcome()
        finally:
            self._open.pop(claim, None)
            self._failed.pop(claim, None)

    def close(self) -> None:
        """Stop workers; cancel blocks that have not begun, and keep finished blocks."""
        try:
            if self._executor is not None and self.executor_name:
                self._executor.shutdown(wait=True, cancel_futures=True)
                while self._flying:
                    future, flight = self._flying.popitem()
                    if future.done() and not future.cancelled() and future.exception() is None:
                        with suppress(SimulationError, LedgerError):  # nobody waits for them
                            self._keep(flight, future.result())
        finally:
            if isinstance(self._ledger, Ledger):
                self._ledger.close()

    def _submit(self, first: Running) -> None:
        """Fill the executor: with one lost flight, or else blocks of the next claims."""
        try:
            while self._room(limited=first.settings.limit is not None):
                if self._suspects:
                    suspect = self._suspects.popleft()
                    if self._wanted(suspect.running):
                        self._send(suspect.running, suspect.tasks)
                    continue
                packs = ((running, self._packed(running)) for running in self._in_turn(first))
                running, tasks = next((pack for pack in packs if pack[1]), (first, ()))
                if not tasks:
                    return
                self._send(running, tasks)
        except ExecutorError as error:  # the awaited claim reports it
            self._fail(first, error)

    @property
    def _serial(self) -> bool:
        """Whether submitting a block runs it, so that claims have to run in turn."""
        return isinstance(self.executor, executors.SerialExecutor)

    def _room(self, *, limited: bool) -> bool:
        """Whether the executor has room for a task.

        Under a time limit no block is queued, since nobody knows when it would begin.
        """
        if self._serial or self._suspects:
            return not self._flying
        workers, tasks = executors.capacity(self.executor), len(self._flying)
        if limited:
            return tasks < workers
        return tasks < 2 * workers or (tasks < DEEPEST * workers and self._load < AHEAD * workers)

    def _in_turn(self, first: Running) -> Iterator[Running]:
        """Yield claims in the order to start: long chains of blocks first, then the cheapest.

        This begins expected claims. The awaited claim `first` goes first if its time is unknown,
        and is the only claim for a serial executor. If it is one of `last`, it waits for others.
        """
        asked: list[Running] = []
        sending = (name for name, running in self._open.items() if running.round.unsent)
        others = (name for name in (*self._expected, *sending) if name not in self._last)
        waits = first.claim.id in self._last and any(others)
        if not waits and (self._serial or math.isinf(first.path)):
            asked = [first]
            yield first
        if not waits and self._serial:
            return
        going = (name for name, running in self._open.items() if running.round.missing)
        known = [*(self._work.get(name, 0.0) for name in going), *self._ahead.values()]
        long = sum(filter(math.isfinite, known)) / (4 * executors.capacity(self.executor))
        while True:
            unsent = [r for r in self._open.values() if r.round.unsent and r not in asked]
            ranked = {self._rank(r.claim.id, r.path, long): r for r in unsent}
            best = min(ranked, default=(2, 0.0, ""))
            name, (path, begin) = next(reversed(self._expected.items()), ("", (0.0, None)))
            if path < long:
                while self._cheap and self._cheap[-1] not in self._expected:
                    self._cheap.pop()
                name = self._cheap[-1] if self._cheap else ""
                path, begin = self._expected.get(name, (0.0, None))
            if begin is not None and self._rank(name, path, long) < best:
                self._expect_no_more(name)
                try:
                    begun = begin()
                except Exception as error:  # any error of its formulas waits for its turn
                    self._failed[name] = error
                    continue
                if begun is not None:
                    self._open[name] = begun
                    self._tell(begun)
            elif ranked:
                asked.append(ranked[best])
                yield ranked[best]
            else:
                return

    def _rank(self, claim: str, path: float, long: float) -> tuple[int, float, str]:
        """Return a claim's rank in the queue; the lowest goes first."""
        path = self._known(claim, path)
        place = 2 if claim in self._last else 1
        return (0, -path, claim) if path >= long else (place, self._work.get(claim, 0.0), claim)

    def _known(self, claim: str, path: float) -> float:
        return 0.0 if claim in self._last and math.isinf(path) else path  # unknown: not first

    def _expect_no_more(self, claim: str) -> None:
        self._expected.pop(claim, None)
        self._ahead.pop(claim, None)

    def _tell(self, running: Running) -> None:
        """Call `told` if a claim is decided."""
        if self.told is not None and not running.round.missing:
            self.told(running)

    def _packed(self, running: Running) -> tuple[Task, ...]:
        """Take a claim's next block, or several if they are short, or simulated together."""
        tasks, total, most = list[Task](), 0.0, TOGETHER
        while total < most and (task := running.next_block()) is not None:
            tasks.append(task)
            total += running.seconds(task) or AHEAD
            joint = len(tasks) < DEEPEST and running.joins(task, total)
            most = AHEAD if joint else 0.0 if self._serial else TOGETHER
        return tuple(tasks)

    def _send(self, running: Running, tasks: tuple[Task, ...]) -> None:
        executor = self.executor
        expected = [running.seconds(task) for task in tasks]
        seconds = sum(AHEAD if known is None else known for known in expected)
        flight = Flight(running, tasks, executor, seconds)
        try:
            future = executor.submit(simulate_each, tasks)
        except BrokenExecutor as error:
            self._lost(flight, error)
            return
        except Exception as error:  # an unknown executor may raise anything
            name = self.executor_name or type(executor).__name__
            self._refused = ExecutorError(f"--executor {name} takes no block: {told(error)}")
            raise self._refused from error
        self._flying[future] = flight
        self._load += seconds
        future.add_done_callback(self._done.put)

    def _take(self, future: Future[Results], progress: Progress | None) -> None:
        """Keep a flight's results, and pass them to the claim if it still wants them."""
        flight = self._flying.pop(future)
        running = flight.running
        self._load = self._load - flight.seconds if self._flying else 0.0
        try:
            results = future.result()
            self._keep(flight, results)
            for task, result in zip(flight.tasks, results, strict=True):
                if not self._wanted(running):
                    return
                look, done, wanted = running.progress  # before the block may end the look
                running.put(task.key, result)
                self._tell(running)
                if progress is not None:
                    progress(running.claim.id, look, done + 1, wanted)
        except CancelledError:
            if not self._wanted(running):
                return  # this process cancelled it
            gone = "the executor gave up its blocks; is its scheduler gone? Start it and run again"
            self._lost(flight, BrokenExecutor(f"{gone}: finished blocks are kept"))
        except BrokenExecutor as error:
            self._lost(flight, error)
        except Exception as error:
            self._fail(running, error)

    def _keep(self, flight: Flight, results: Results) -> None:
        """Write valid blocks to the ledger, and learn their cost.

        Raises:
            SimulationError: a worker returned no evidence.
        """
        running, tasks, costs = flight.running, flight.tasks, flight.running.settings.costs
        if type(results) is not list or len(results) != len(tasks):
            where = f"a worker of {running.claim.id}"
            raise SimulationError(f"{where} returned no list of {len(tasks)} blocks")
        for task, result in zip(tasks, results, strict=True):
            if executors.in_other_processes(flight.executor):
                elsewhere(task, result)
            self.ledger.put(task.key, result, running.round.observables)
            if costs is not None:
                costs.learn(task.key, result.seconds)

    def _lost(self, flight: Flight, error: BrokenExecutor) -> None:
        """Queue a lost flight again; fail its claim if it was alone, or if we cannot restart."""
        first = flight.executor is self._executor  # only the first flight replaces it
        if first and self.executor_name:  # a named one can start again
            flight.executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
        if (first and not self._flying) or not self.executor_name:
            self._fail(flight.running, BrokenExecutor(f"{flight.running.claim.id}: {error}"))
        else:
            self._suspects.append(flight)

    def _fail(self, running: Running, error: Exception) -> None:
        """Keep the error for the claim's turn; drop the claim's blocks that have not begun."""
        if not self._wanted(running):
            return
        self._failed[running.claim.id] = error
        del self._open[running.claim.id]
        for future, flight in self._flying.items():
            if flight.running is running:
                future.cancel()

    def _wanted(self, running: Running) -> bool:
        """Whether the claim still waits for blocks: it neither failed nor ended its turn."""
        return self._open.get(running.claim.id) is running
