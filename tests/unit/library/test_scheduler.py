"""Many claims in progress: their order, the loss of a worker, and unchanged figures."""

import math
import os
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest

from recall_claims import Block, Cell, Claim, grid
from recall_claims.evidence import executors
from recall_claims.evidence.cost import Costs, Earlier
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.looks import Decision, decide
from recall_claims.evidence.run import Outcome, Prepared, Running, Settings
from recall_claims.evidence.scheduler import Scheduler, run_claim
from recall_claims.evidence.simulate import simulate_each
from recall_claims.judge.methods import Array
from recall_claims.model.errors import ExecutorError, SimulationError
from tests.unit.library.made import SMOKE, declared, mean

NAMES = ("T.first", "T.second", "T.third", "T.fourth")


@declared("T.broken", grid(length=range(1, 9)))
def broken(cell: Cell, block: Block) -> Array:
    """Simulation that fails at length one, and takes long at other lengths."""
    if cell["length"] == 1:
        raise ValueError("no such length")
    time.sleep(0.05)
    return mean(cell, block)


first, second, third, fourth = CLAIMS = tuple(
    replace(declared(name)(mean), module=__name__) for name in NAMES
)


class Recording(ThreadPoolExecutor):
    """Executor that keeps its tasks, and runs them when `go` is set."""

    def __init__(self, workers: int, *, go: bool = True) -> None:
        super().__init__(workers)
        self.given: list[tuple[str, int]] = []
        self.done: list[str] = []
        self.go = threading.Event()
        if go:
            self.go.set()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += [(task.key.claim, len(args[0])) for task in args[0]]
        return super().submit(self._work, fn, *args)

    def _work(self, fn: Any, *args: Any) -> Any:
        self.go.wait()
        results = fn(*args)
        self.done += [task.key.claim for task in args[0]]
        return results


class Waited(SimpleQueue[Any]):
    """Queue that, at the first wait for a result, counts the executor's tasks and starts them."""

    def __init__(self, executor: Recording) -> None:
        self.executor, self.given = executor, 0

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        if not self.executor.go.is_set():
            self.given = len(self.executor.given)
            self.executor.go.set()
        return super().get(block, timeout)


def told(seconds: Callable[[str], float]) -> Settings:
    """Return settings of a run that knows the cost of a replicate of each claim."""
    earlier = {c.id: Earlier(seconds(c.id), looks=3) for c in CLAIMS}
    return replace(SMOKE, costs=Costs(lambda: None, "cpu", earlier))


def begin(one: Claim, settings: Settings, engine: Scheduler) -> Running:
    return Running(Prepared.of(one, "smoke"), settings, engine.ledger)


def all_of(
    engine: Scheduler, settings: Settings = SMOKE, last: Collection[str] = ()
) -> list[Outcome]:
    """Run claims, all announced at the start; return outcomes in the claims' order."""
    paths = [settings.costs.path(c.id, 16, 3) if settings.costs else math.inf for c in CLAIMS]
    begins = [partial(begin, one, settings, engine) for one in CLAIMS]
    works = [2 * path for path in paths]
    engine.expect(zip(NAMES, paths, works, begins, strict=True), last)
    return [engine.run(name, begun) for name, begun in zip(NAMES, begins, strict=True)]


class Backwards(ThreadPoolExecutor):
    """Executor that holds tasks back, and does the last task first."""

    def __init__(self) -> None:
        super().__init__(1)
        self._held: list[tuple[Future[Any], Any, Any]] = []
        self._max_workers = 8

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._held.append((future, fn, args))
        super().submit(self._one)
        return future

    def _one(self) -> None:
        time.sleep(0.002)
        future, fn, args = self._held.pop()
        future.set_result(fn(*args))


@pytest.mark.parametrize("last", [(), NAMES[:2]])
@pytest.mark.parametrize("executor", [lambda: Recording(1), lambda: Recording(3), Backwards])
def test_neither_order_nor_workers_change_a_figure(
    executor: Callable[[], Executor], last: Collection[str], ledger: Ledger, tmp_path: Path
) -> None:
    with Ledger(tmp_path / "alone.sqlite") as apart:
        alone = [run_claim(one, SMOKE, apart, SerialExecutor()) for one in CLAIMS]
    with executor() as workers:
        together = all_of(Scheduler(ledger, workers), last=last)
    for one, other in zip(alone, together, strict=True):
        assert (one.decision, one.looks, one.blocks) == (other.decision, other.looks, other.blocks)
        for mine, theirs in zip(one.evidence, other.evidence, strict=True):
            np.testing.assert_array_equal(mine["value"], theirs["value"])


@pytest.mark.parametrize(
    ("workers", "third", "last", "order"),
    [
        (1, 4, [], ["T.second", "T.first"]),
        (1, 4, ["T.second", "T.first"], ["T.fourth", "T.third", "T.second"]),
        (1, 40, ["T.first"], ["T.third", "T.second", "T.fourth", "T.first"]),  # a long path
        (8, 4, [], ["T.third", "T.fourth", "T.first", "T.second"]),  # all paths are long
    ],
)
def test_the_cheapest_go_first_unless_a_path_is_long(
    workers: int, third: float, last: list[str], order: list[str], ledger: Ledger
) -> None:
    settings = told({"T.first": 2, "T.second": 1, "T.third": third, "T.fourth": 3}.__getitem__)
    decided: list[str] = []
    with Recording(1, go=False) as executor:
        engine = Scheduler(ledger, executor)
        engine.told = lambda running: decided.append(running.claim.id)
        engine._done = Waited(executor)
        executor._max_workers = workers  # as many tasks are queued for them
        all_of(engine, settings, last)
    assert list(dict(executor.given))[: len(order)] == order
    assert sorted(decided) == sorted(NAMES), "each is reported once"
    assert third > 4 or workers > 1 or decided[0] == order[0]


@pytest.mark.parametrize("executor", [SerialExecutor, lambda: Recording(2)])
def test_exploratory_claims_wait_for_theorems_of_which_nothing_is_known(
    executor: Callable[[], Executor], ledger: Ledger
) -> None:
    with executor() as workers:
        engine = Scheduler(ledger, workers)
        with patch.object(engine, "_send", wraps=engine._send) as send:
            found = all_of(engine, last=("T.first", "T.third"))
    begun = [*dict.fromkeys(call.args[0].claim.id for call in send.call_args_list)]
    assert {*begun[:2]} == {"T.second", "T.fourth"}
    assert [outcome.claim.id for outcome in found] == [*NAMES], "told in the order of the files"


def test_no_more_is_queued_than_workers_need(ledger: Ledger) -> None:
    with Recording(2, go=False) as executor:
        engine = Scheduler(ledger, executor)
        engine._done = waited = Waited(executor)
        all_of(engine, told(lambda _: 10.0))  # a block takes 160 s
    assert waited.given == 4, "one that each works on, and one for each that waits"


def test_a_worker_has_something_to_do_while_the_host_judges(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker takes a GPU's place."""
    flying = []

    def judged(*arguments: Any) -> Decision:
        flying.append(len(engine._flying))
        return decide(*arguments)

    monkeypatch.setattr("recall_claims.evidence.looks.decide", judged)
    with Recording(1) as executor:
        engine = Scheduler(ledger, executor)
        outcomes = all_of(engine)
    assert len(flying) == sum(outcome.looks for outcome in outcomes)
    assert all(flying[: -outcomes[-1].looks])


def test_short_blocks_travel_together(ledger: Ledger) -> None:
    wide = replace(first, cells={"smoke": grid(length=tuple(range(1, 41)))})
    known = {wide.id: Earlier(1e-3, looks=1)}
    settings = replace(SMOKE, costs=Costs(lambda: None, "cpu", known))
    with Recording(2) as executor:
        run_claim(wide, settings, ledger, executor)
    sizes = [size for _, size in executor.given[:40]]
    assert 1 < max(sizes) < 40


def test_on_a_gpu_blocks_of_a_cell_travel_together(ledger: Ledger) -> None:
    many = replace(first, block={"smoke": 2}, replicates={"smoke": (32, 256)})
    known = {many.id: Earlier(0.1, looks=1)}
    on_gpu = replace(SMOKE, device="cuda", costs=Costs(lambda: None, "cuda", known))
    sent = []
    soon = replace(on_gpu, limit=0.9)
    for settings in (on_gpu, soon, replace(on_gpu, device="cpu")):
        running = Running(Prepared.of(many, "smoke"), settings, ledger)
        engine = Scheduler(ledger, SerialExecutor())
        with patch("recall_claims.evidence.run.time", Mock(monotonic=lambda: 0.0)):
            packs = [*iter(partial(engine._packed, running), ())]
        assert all(len({task.cell for task in pack}) == 1 for pack in packs)
        sent.append([len(pack) for pack in packs])
    assert sent == [[1, 15, 16], [1, 4, 4, 4, 3, 4, 4, 4, 4], [1] * 32]


def test_what_is_wrong_with_a_claim_is_told_at_its_turn(ledger: Ledger) -> None:
    wrong = Mock(side_effect=ValueError("its formula divides by zero"))
    with Recording(2) as executor:
        engine = Scheduler(ledger, executor)
        engine.expect([("T.second", math.inf, math.inf, wrong)])
        assert engine.run("T.first", partial(begin, first, SMOKE, engine)).looks > 1
        with pytest.raises(ValueError, match="divides by zero"):
            engine.run("T.second", wrong)
    wrong.assert_called_once()


def test_a_claim_that_has_failed_is_not_gone_on_with(ledger: Ledger) -> None:
    with Recording(2) as executor:
        engine = Scheduler(ledger, executor)
        with pytest.raises(SimulationError, match="no such length"):
            engine.run(broken.id, partial(begin, broken, SMOKE, engine))
        engine.run(second.id, partial(begin, second, SMOKE, engine))
    given = sum(name == broken.id for name, _ in executor.given)
    assert given <= len(broken.cells["smoke"]), "its first look"


class Fragile(Executor):
    """Executor that dies at a block of the claim `deadly`. All blocks in progress then fail."""

    deadly = "T.third"
    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        if self.made > 20:
            raise ExecutorError("there is no end to it")
        self.workers, self._flying, self._dead = 4, list[Future[Any]](), False

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._dead:
            raise BrokenExecutor("dead")
        future: Future[Any] = Future()
        self._flying.append(future)
        if args[0][0].key.claim == self.deadly:
            self._dead = True
            for one in self._flying:
                if not one.done():
                    one.set_exception(BrokenExecutor("a worker terminated abruptly"))
        else:
            threading.Timer(0.05, self._finish, (future, *args)).start()
        return future

    def _finish(self, future: Future[Any], tasks: Any) -> None:
        results = simulate_each(tasks)
        if not future.done():  # another's death may have ended it meanwhile
            future.set_result(results)


def test_a_worker_that_dies_fails_the_claim_that_kills_it_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fragile, "made", 0)
    monkeypatch.setattr(executors, "make", lambda _: Fragile())
    with closing(Scheduler(tmp_path / "ledger.sqlite", "processes:4")) as engine:
        engine.expect(
            (one.id, math.inf, math.inf, partial(begin, one, SMOKE, engine)) for one in CLAIMS
        )
        for one in CLAIMS:
            work = partial(engine.run, one.id, partial(begin, one, SMOKE, engine))
            if one is third:
                with pytest.raises(BrokenExecutor, match=r"T\.third: a worker terminated"):
                    work()
            else:
                assert work().decision.verdict == "SUPPORTED"
    assert Fragile.made <= 3, "each death costs a start"


def test_an_executor_that_cannot_be_had_is_told_to_every_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse = Mock(side_effect=ExecutorError("nobody answers"))
    monkeypatch.setattr(executors, "make", refuse)
    with closing(Scheduler(tmp_path / "ledger.sqlite", "processes:4")) as engine:
        for one in CLAIMS:
            with pytest.raises(ExecutorError, match="nobody answers"):
                engine.run(one.id, partial(begin, one, SMOKE, engine))
    refuse.assert_called_once()


def test_processes_are_as_many_as_may_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "CGROUPS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    assert executors.cores() == 64
    old = tmp_path / "cpu"
    old.mkdir()
    (old / "cpu.cfs_period_us").write_text("100000\n")
    for quota, cores in ((-1, 64), (250000, 3)):
        (old / "cpu.cfs_quota_us").write_text(f"{quota}\n")
        assert executors.cores() == cores
    for told, cores in (("200000 100000\n", 2), ("max 100000\n", 3), ("50000 100000\n", 1)):
        (tmp_path / "cpu.max").write_text(told)
        assert executors.cores() == cores
    monkeypatch.setattr(executors, "cores", lambda: 64)
    monkeypatch.setattr(executors, "MOST_PROCESSES", 61)  # as on Windows
    assert executors.resolve("auto", "cpu") == "processes:61"
    with pytest.raises(ExecutorError, match="at most 61 processes"):
        executors.factory("processes:62")


def test_closing_keeps_what_is_done_and_was_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = Recording(2)
    monkeypatch.setattr(executors, "make", lambda _: executor)
    with closing(Scheduler(tmp_path / "ledger.sqlite", "processes:2")) as engine:
        engine.expect([(second.id, math.inf, math.inf, partial(begin, second, SMOKE, engine))])
        engine.run(first.id, partial(begin, first, SMOKE, engine))
    with Ledger(tmp_path / "ledger.sqlite") as kept:
        [[count]] = kept.ask("SELECT count(*) FROM blocks WHERE claim = ?", (second.id,))
    assert count == executor.done.count(second.id) > 0, "what nobody had begun is cancelled"


def test_closing_passes_over_blocks_that_are_no_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's report is written after `close`, so `close` must not fail."""
    monkeypatch.setattr(executors, "make", lambda _: Recording(2))
    engine = Scheduler(tmp_path / "ledger.sqlite", "processes:2")
    engine.expect([(second.id, math.inf, math.inf, partial(begin, second, SMOKE, engine))])
    engine.run(first.id, partial(begin, first, SMOKE, engine))
    wait(engine._flying)
    refuse = Mock(side_effect=SimulationError("no evidence"))
    monkeypatch.setattr(engine.ledger, "put", refuse)
    engine.close()
    assert refuse.called
