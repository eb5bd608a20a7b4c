"""Looks, early stopping, controls, and what comes from the ledger."""

from __future__ import annotations

import pickle
import signal
import time
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import threadpoolctl
import torch

from claims.attention.test_signal import trigger_score
from recall_claims import (
    Block,
    Cell,
    Claim,
    Control,
    Deterministic,
    MeanRatio,
    Region,
    Source,
    at,
    grid,
    power,
    recording,
)
from recall_claims.declare.check import check
from recall_claims.declare.claim import Tier
from recall_claims.errors import ClaimError, GivenUp, OutOfTime, SimulationError
from recall_claims.evidence.cost import Costs, Spent, Total
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.fingerprints import fingerprint
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Prepared, Running, Settings
from recall_claims.evidence.scheduler import run
from recall_claims.evidence.seeds import replicate_generators
from recall_claims.evidence.simulate import Task, TimeLimit, full_precision, simulate
from recall_claims.judge.looks import remembering
from recall_claims.judge.methods import Array
from recall_claims.judge.region import Verdict
from recall_claims.judge.rules import Exponents, OneSided, WinnerShare
from tests.unit.library.made import ALPHA, CELLS, SMOKE, declared, mean, mean_claim

worked_out: list[str] = []


def scan() -> dict[Tier, tuple[Cell, ...]]:
    worked_out.append("once")
    return {"smoke": CELLS}


@declared("T.scanned", scan, replicates=4)
def scanned(cell: Cell, block: Block) -> Array:
    """The grid of this claim is a function."""
    return np.full(block.replicates, 2.0)


def blas_threads() -> float:
    """Threads of the BLAS library that has most."""
    pools = threadpoolctl.threadpool_info()
    return float(max(pool["num_threads"] for pool in pools if pool["user_api"] == "blas"))


@declared(
    "T.threads",
    CELLS[:1],
    replicates=4,
    rule=MeanRatio(Region(0.9, 1.1), method=Deterministic()),
    predict=lambda cell: blas_threads(),
)
def threads(cell: Cell, block: Block) -> dict[str, Array]:
    """Threads of NumPy, and of torch."""
    found = {"value": blas_threads(), "torch": torch.get_num_threads()}
    return {name: np.full(block.replicates, float(count)) for name, count in found.items()}


@declared("T.slow", CELLS[:1], replicates=4)
def slow(cell: Cell, block: Block) -> Array:
    """An alarm can interrupt this simulation."""
    time.sleep(0.05)
    return mean(cell, block)


class Recording(SerialExecutor):
    """Keeps the tasks."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.tasks += args[0]
        return super().submit(fn, *args, **kwargs)


def task_of(one: Claim, ledger: Ledger) -> Task:
    """What a worker is given for the first block of a claim."""
    recording = Recording()
    run(one, SMOKE, ledger, recording)
    return recording.tasks[0]


def test_looks_double_until_decided(ledger: Ledger) -> None:
    outcome = run(mean_claim, SMOKE, ledger, SerialExecutor())
    assert outcome.decision.verdict is Verdict.SUPPORTED
    assert 1 < outcome.looks < 5
    assert outcome.replicates == 2 * 16 * 2 ** (outcome.looks - 1)
    assert outcome.alpha == pytest.approx(ALPHA / 5)


def test_a_control_that_survives_forbids_support(ledger: Ledger) -> None:
    toothless = Control("same", "not wrong at all", predict=lambda cell: 2.0)
    outcome = run(replace(mean_claim, controls=(toothless,)), SMOKE, ledger, SerialExecutor())
    assert outcome.decision.on_region is Verdict.SUPPORTED
    assert outcome.decision.verdict is Verdict.INCONCLUSIVE
    assert max(sample.replicates for sample in outcome.evidence) == 16 * 2**4


def test_a_second_run_simulates_nothing_and_says_the_same(ledger: Ledger) -> None:
    first = run(mean_claim, SMOKE, ledger, SerialExecutor())
    second = run(mean_claim, SMOKE, ledger, None)
    assert (first.reused, second.reused) == (0, first.blocks)
    assert second.decision == first.decision
    assert second.seconds == first.seconds


def test_predictions_are_worked_out_once_and_nothing_else_changes(ledger: Ledger) -> None:
    asked: list[Cell] = []

    def counted(cell: Cell) -> float:
        asked.append(cell)
        return 2.0

    narrow = Control("narrow", "another region", rule=MeanRatio(Region(0.5, 0.6)))
    one = replace(mean_claim, predict=counted, critical=counted, controls=(narrow,))
    outcome = run(one, SMOKE, ledger, SerialExecutor())
    entry = recording.decided(outcome, "file")
    assert sorted(cell.id for cell in asked) == sorted(cell.id for cell in CELLS)
    assert [cell.controls for cell in entry.cells] == [{}, {}]
    assert remembering(trigger_score).entry is trigger_score.entry is not None


@pytest.mark.parametrize("field", ["code", "versions"])
def test_a_worker_with_other_code_gives_no_evidence(ledger: Ledger, field: str) -> None:
    task = task_of(mean_claim, ledger)
    simulate(task)
    key = replace(task.key, code="x") if field == "code" else replace(task.key, versions="x")
    with pytest.raises(SimulationError, match="other code or libraries"):
        simulate(replace(task, key=key))


def test_a_worker_without_the_claims_says_so(ledger: Ledger) -> None:
    with pytest.raises(SimulationError, match="cannot import nowhere"):
        simulate(replace(task_of(mean_claim, ledger), module="nowhere"))


def test_an_executor_that_gives_up_is_said_to_be_broken(ledger: Ledger) -> None:
    class GivingUp(Recording):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            future: Future[Any] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(BrokenExecutor, match="scheduler gone"):
        run(mean_claim, SMOKE, ledger, GivingUp())


def test_a_block_runs_on_one_thread_whatever_executes_it(ledger: Ledger) -> None:
    task = task_of(threads, ledger)
    torch.set_num_threads(3)
    threadpoolctl.threadpool_limits(3)
    seen = simulate(task).observations
    assert (set(seen["torch"]), set(seen["value"])) == ({1.0}, {1.0})


def test_a_claim_is_judged_on_one_thread(ledger: Ledger) -> None:
    """The prediction of this claim is the number of threads that it sees."""
    run(threads, SMOKE, ledger, SerialExecutor())
    threadpoolctl.threadpool_limits(3)
    outcome = run(threads, SMOKE, ledger, None)
    assert outcome.decision.headline.estimate == 1.0


@pytest.mark.parametrize("threads", [0, 2])
def test_a_block_that_would_end_too_late_does_not_begin(ledger: Ledger, threads: int) -> None:
    executor = ThreadPoolExecutor(threads) if threads else SerialExecutor()
    costs = Costs(lambda: ledger, "cpu", dict)
    deadline = time.time() + 1000

    def limited(seconds: float) -> Settings:
        known = Total(3 * seconds, tuple(Spent(cell.id, 16) for cell in CELLS))
        told = Costs(lambda: None, "cpu", lambda: {mean_claim.id: known})
        # 1:2, by the cells' lengths.
        return replace(SMOKE, limit=TimeLimit(deadline, 0), costs=told)

    with executor:
        with pytest.raises(OutOfTime, match="1 blocks of look 1 of T"):
            run(mean_claim, limited(600), ledger, executor)
        # The shorter one was begun, and is kept; the other is expected to take 1200 s.
        assert [spent.cell for spent in costs.known(mean_claim.id)] == [CELLS[0].id]
        outcome = run(mean_claim, limited(1), ledger, executor)
    assert outcome.reused == 1
    assert outcome.decision.verdict is Verdict.SUPPORTED


def test_a_block_is_given_up(ledger: Ledger) -> None:
    late = replace(task_of(slow, ledger), until=time.time() - 1)
    ours = signal.getsignal(signal.SIGALRM)
    with pytest.raises(GivenUp) as caught:
        simulate(late)
    assert 0 <= pickle.loads(pickle.dumps(caught.value)).seconds < 1
    assert signal.getsignal(signal.SIGALRM) is ours
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0

    with ThreadPoolExecutor(1) as elsewhere:  # where no alarm is to be had
        assert elsewhere.submit(simulate, late).result().observations
    signal.setitimer(signal.ITIMER_REAL, 100)
    try:  # nor where it is somebody else's
        assert simulate(late).observations
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 90
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_a_changed_theory_is_judged_on_fresh_evidence(ledger: Ledger) -> None:
    first = run(mean_claim, SMOKE, ledger, SerialExecutor())
    changed = replace(mean_claim, predict=lambda cell: 2.6)
    with pytest.raises(SimulationError, match="run it first"):
        run(changed, SMOKE, ledger, None)
    outcome = run(changed, SMOKE, ledger, SerialExecutor())
    assert outcome.decision.verdict is Verdict.REFUTED
    assert set(outcome.recomputed) == {"registration changed"}
    for old, new in zip(first.evidence, outcome.evidence, strict=True):
        assert not set(old["value"]).intersection(new["value"])
    again = run(mean_claim, SMOKE, ledger, None)  # taken back, it has its old evidence
    assert again.decision == first.decision


def test_a_block_is_what_the_simulation_draws_to_the_last_bit(ledger: Ledger) -> None:
    task, key = (found := task_of(mean_claim, ledger)), found.key
    names = (key.seed, key.claim, key.registration, key.cell, key.block, key.replicates)
    block = Block(replicate_generators(*names), "cpu", torch.float64)
    np.testing.assert_array_equal(simulate(task).observations["value"], mean(task.cell, block))


ROOM = 16
"""Replicates that the test's memory holds; `short_of_memory` fails beyond."""


@declared("T.memory", grid(fails=("cpu", "cuda", "library", "numpy")), replicates=11, looks=1)
def short_of_memory(cell: Cell, block: Block) -> Mapping[str, object]:
    """Draws first, and then finds no room."""
    drawn = np.array([rng.normal() for rng in block.rngs])
    if block.replicates > ROOM:
        if cell["fails"] == "cpu":
            torch.empty(2**50)
        if cell["fails"] == "cuda":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
        if cell["fails"] == "library":
            raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate")
        np.empty(2**50)
    return {"value": drawn, "twice": torch.from_numpy(2 * drawn)}


@pytest.mark.parametrize("fails", ["cpu", "cuda", "library", "numpy"])
def test_a_block_out_of_memory_is_halved_to_the_same_figures(
    fails: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = Recording()
    run(short_of_memory, SMOKE, ledger, recording)
    task = next(task for task in recording.tasks if task.cell["fails"] == fails)
    whole = simulate(task)
    assert whole.parts == 1
    for room, parts in ((10, 2), (5, 3), (1, 11)):
        monkeypatch.setitem(globals(), "ROOM", room)
        halved = simulate(task)
        assert halved.parts == parts
        for name, values in whole.observations.items():
            np.testing.assert_array_equal(halved.observations[name], values)
    monkeypatch.setitem(globals(), "ROOM", 0)
    with pytest.raises(SimulationError, match=r"out of memory on cpu even for a single replicate"):
        simulate(task)


def test_other_errors_are_not_taken_for_a_lack_of_memory(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("shapes cannot be multiplied")

    monkeypatch.setitem(globals(), "ROOM", 0)
    monkeypatch.setattr(torch, "empty", fail)
    one = replace(short_of_memory, cells={"smoke": grid(fails="cpu")})
    with pytest.raises(RuntimeError, match="shapes cannot"):
        run(one, SMOKE, ledger, SerialExecutor())


def test_blocks_multiply_in_full_precision(ledger: Ledger) -> None:
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True
    try:
        run(mean_claim, SMOKE, ledger, SerialExecutor())
        assert torch.get_float32_matmul_precision() == "highest"
        assert not torch.backends.cuda.matmul.allow_tf32
        assert not torch.backends.cudnn.allow_tf32
    finally:
        full_precision()


def test_a_claim_that_needs_a_gpu_says_so_elsewhere() -> None:
    on_gpu = replace(mean_claim, needs="cuda")
    assert on_gpu.why_not_run("smoke", "cuda:1") is None
    assert "needs --device cuda, this run is on cpu" in str(on_gpu.why_not_run("smoke", "cpu"))
    assert "only in smoke" in str(on_gpu.why_not_run("full", "cuda"))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"controls": ()}, "no control"),
        ({"controls": (Control("c", "changes nothing"),)}, "changes neither"),
        ({"source": Source("", provenance="derived", reference="")}, "no provenance"),
        ({"source": Source("A", "A99", provenance="derived", reference="")}, "A99"),
        ({"statement": ""}, "no statement"),
        ({"regime_text": ""}, "no regime"),
        ({"why": ""}, "no why="),
        ({"expected": "REFUTED"}, "explanation"),
        ({"cells": {"smoke": ()}}, "no cells"),
        ({"cells": {"smok": CELLS}}, "unknown tier"),
        ({"cells": {"smoke": (*CELLS, *CELLS)}}, "twice"),
        ({"replicates": {"smoke": 1}}, "at least 2"),
        ({"block": {"smoke": 6}}, "does not divide"),
        ({"predict": None}, "give predict="),
        ({"predict": lambda cell: float("nan")}, "not a finite number"),
        ({"predict": lambda cell: 0.0}, "ratio to it means nothing"),
        ({"rule": Exponents({"dim": 1.0}, 0.1)}, "positive dim"),
        ({"rule": WinnerShare(Region(0.9, 1.0))}, "names an observable"),
    ],
)
def test_a_claim_written_wrongly_is_refused(changes: dict[str, object], match: str) -> None:
    check(mean_claim)
    wrong: Claim = replace(mean_claim, **changes)  # type: ignore[arg-type]
    with pytest.raises(ClaimError, match=match):
        check(wrong)


def test_a_grid_is_worked_out_once_and_by_no_worker(ledger: Ledger) -> None:
    task = task_of(mean_claim, ledger)
    key = replace(task.key, claim=scanned.id, code=fingerprint(scanned.observe), replicates=4)
    assert simulate(replace(task, key=key, module=__name__)).observations["value"].shape == (4,)
    assert worked_out == []
    check(scanned)
    assert replace(scanned, looks={"smoke": 1}).cells["smoke"] == CELLS
    assert worked_out == ["once"]


def test_a_one_sided_rule_has_one_side() -> None:
    with pytest.raises(ClaimError, match="exactly one"):
        OneSided(upper=1.0, lower=0.0)


def test_after_the_last_look_no_further_one_is_told(ledger: Ledger) -> None:
    narrow = replace(mean_claim, rule=MeanRatio(Region(0.9999, 1.0001)))
    assert run(narrow, SMOKE, ledger, SerialExecutor()).decision.verdict is Verdict.INCONCLUSIVE
    look, looks, *_ = Running(Prepared.of(narrow, "smoke"), SMOKE, ledger).progress
    assert (look, looks) == (5, 5)


def test_a_prediction_that_breaks_or_is_no_number_is_named_with_its_cell() -> None:
    def broken(cell: Cell) -> float:
        return float(cell["lenght"])

    wrong: tuple[tuple[Any, str], ...] = (
        (
            broken,
            r"at length=4: KeyError: the cell has no parameter 'lenght', only length \(tests/",
        ),
        (lambda cell: [2.0], "at length=4 is a list, not a number"),
        (lambda cell: np.array([2.0]), "at length=4 is a ndarray, not a number"),
        (lambda cell: None, "at length=4 is a NoneType, not a number"),
        (lambda cell: 1 / 0, "at length=4: ZeroDivisionError: division by zero"),
    )
    for predict, says in wrong:
        with pytest.raises(ClaimError, match=f"smoke grid: its prediction {says}"):
            check(replace(mean_claim, predict=predict))
    numpy: Any = lambda cell: np.float32(2)  # noqa: E731
    check(replace(mean_claim, predict=numpy))


def test_a_control_that_changes_no_prediction_is_refused() -> None:
    slip = replace(mean_claim, controls=(at("slip", lenght=8),))
    with pytest.raises(ClaimError, match="control slip in the smoke grid: it predicts what"):
        check(slip)
    with pytest.raises(
        ClaimError, match=r"control slip in the smoke grid: .* 'lenght', only length"
    ):
        check(replace(slip, controls=(power("slip", lenght=1),)))


def test_a_rule_that_is_none_is_refused() -> None:
    with pytest.raises(
        ClaimError, match=r"T.named: rule= takes a rule such as .*, not 'MeanRatio'"
    ):
        declared("T.named", rule="MeanRatio")


def test_an_exploratory_claim_survives_or_breaks() -> None:
    said = [recording.said(verdict, exploratory=True) for verdict in Verdict]
    assert said == ["SURVIVES", "BREAKS", "INCONCLUSIVE"]
    assert [recording.said(verdict, exploratory=False) for verdict in Verdict] == [*Verdict]
