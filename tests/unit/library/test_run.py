"""Looks, early stopping, controls, and evidence from the ledger."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import threadpoolctl
import torch

import recall_claims as rc
from claims.attention.test_signal import trigger_score
from recall_claims import recording
from recall_claims.evidence.block import replicate_generators
from recall_claims.evidence.cost import Costs, Earlier
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.fingerprints import fingerprint
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.looks import remembering
from recall_claims.evidence.precheck import check
from recall_claims.evidence.run import Prepared, Running, Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.evidence.simulate import Task, find, full_precision, simulate, simulate_each
from recall_claims.judge.methods import Array
from recall_claims.model.errors import OutOfTime, SimulationError
from recall_claims.model.region import Verdict
from tests.unit.library.made import (
    CELLS,
    SMOKE,
    declared,
    first_task,
    mean,
    mean_claim,
    outcome_of,
)

scan = Mock(return_value={"smoke": CELLS})


@declared("T.scanned", scan, replicates=(4, 64))
def scanned(cell: rc.Cell, block: rc.Block) -> Array:
    """The grid of this claim is a function."""
    return np.full(block.replicates, 2.0)


def blas_threads() -> float:
    pools = threadpoolctl.threadpool_info()
    return float(max(pool["num_threads"] for pool in pools if pool["user_api"] == "blas"))


@declared(
    "T.threads",
    CELLS[:1],
    replicates=(4, 64),
    rule=rc.MeanRatio(rc.Region(0.9, 1.1), method=rc.Deterministic()),
    predict=lambda cell: blas_threads(),
)
def threads(cell: rc.Cell, block: rc.Block) -> dict[str, Array]:
    """Threads of NumPy, and of torch."""
    found = {"value": blas_threads(), "torch": torch.get_num_threads()}
    return {name: np.full(block.replicates, float(count)) for name, count in found.items()}


def test_a_worker_that_cannot_find_a_claim_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lacking.py").write_text("import os\nPLACE = os.environ['NOT_SET_THERE']\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyError, match="NOT_SET_THERE"):
        find("lacking", "T.one")
    with pytest.raises(SimulationError, match=r"module .*made holds no claim T\.one"):
        find(mean_claim.module, "T.one")


def test_a_control_that_survives_forbids_support(ledger: Ledger) -> None:
    toothless = rc.Control("same", "not wrong at all", predict=lambda cell: 2.0)
    claim = replace(mean_claim, controls=(toothless,))
    with pytest.raises(SimulationError, match="run it first"):
        run_claim(claim, SMOKE, ledger, None)
    outcome = outcome_of(claim, ledger)
    assert outcome.decision.on_region is Verdict.SUPPORTED
    assert outcome.decision.verdict is Verdict.INCONCLUSIVE
    values = np.concatenate([sample["value"] for sample in outcome.evidence])
    assert np.unique(values).size == values.size, "no block is counted twice"
    assert max(sample.replicates for sample in outcome.evidence) == 16 * 2**4
    look, *_ = Running(Prepared.of(claim, "smoke"), SMOKE, ledger).progress
    assert look == 5, "after the last look no further one is reported"


def test_predictions_are_worked_out_once_and_nothing_else_changes(ledger: Ledger) -> None:
    asked: list[rc.Cell] = []

    def counted(cell: rc.Cell) -> float:
        asked.append(cell)
        return 2.0

    narrow = rc.Control("narrow", "another region", rule=rc.MeanRatio(rc.Region(0.5, 0.6)))
    one = replace(mean_claim, predict=counted, critical=counted, controls=(narrow,))
    outcome = outcome_of(one, ledger)
    entry = recording.decided(outcome, "file")
    assert sorted(cell.id for cell in asked) == sorted(cell.id for cell in CELLS)
    assert [cell.controls for cell in entry.cells] == [{}, {}]
    assert remembering(trigger_score).entry is trigger_score.entry is not None


def test_a_worker_with_other_code_or_without_the_claims_gives_no_evidence() -> None:
    task = first_task(mean_claim)
    simulate(task)
    for key in (replace(task.key, code="x"), replace(task.key, versions="x")):
        with pytest.raises(SimulationError, match="other code or libraries"):
            simulate(replace(task, key=key))
    with pytest.raises(SimulationError, match="cannot import nowhere"):
        simulate(replace(task, module="nowhere"))


def test_an_executor_that_gives_up_is_said_to_be_broken(ledger: Ledger) -> None:
    given_up: Future[Any] = Future()
    given_up.cancel()
    given_up.set_running_or_notify_cancel()
    executor = Mock(spec=SerialExecutor, submit=Mock(return_value=given_up))
    with pytest.raises(BrokenExecutor, match="scheduler gone"):
        run_claim(mean_claim, SMOKE, ledger, executor)


def test_a_block_runs_and_is_judged_on_one_thread_whatever_executes_it(ledger: Ledger) -> None:
    """The claim predicts the number of threads of its process."""
    outcome_of(threads, ledger)
    torch.set_num_threads(3)
    threadpoolctl.threadpool_limits(3)
    seen = simulate(first_task(threads)).observations
    assert (set(seen["torch"]), set(seen["value"])) == ({1.0}, {1.0})
    threadpoolctl.threadpool_limits(3)
    assert run_claim(threads, SMOKE, ledger, None).decision.headline.estimate == 1.0


@pytest.mark.parametrize("threads", [0, 2])
def test_a_block_that_would_end_too_late_does_not_begin(ledger: Ledger, threads: int) -> None:
    executor = ThreadPoolExecutor(threads) if threads else SerialExecutor()
    key = first_task(mean_claim).key

    def limited(seconds: float) -> Settings:
        costs = Costs(lambda: None, "cpu", {mean_claim.id: Earlier(seconds / 16, 1)})
        costs.learn(replace(key, cell=CELLS[0].id), 1.0)
        costs.learn(replace(key, cell=CELLS[1].id), seconds)
        return replace(SMOKE, limit=time.monotonic() + 1000, costs=costs)

    with executor:
        with pytest.raises(OutOfTime, match="1 blocks of look 1 of T"):
            run_claim(mean_claim, limited(1200), ledger, executor)
        assert ledger.ask("SELECT cell FROM blocks") == [(CELLS[0].id,)]
        outcome = run_claim(mean_claim, limited(1), ledger, executor)
        other = replace(limited(1), seed=1, limit=time.monotonic())
        with pytest.raises(OutOfTime, match="2 blocks of look 1 of T"):
            run_claim(mean_claim, other, ledger, executor)
    assert outcome.reused == 1
    assert outcome.decision.verdict is Verdict.SUPPORTED


def test_a_block_is_what_the_simulation_draws_to_the_last_bit() -> None:
    task = first_task(mean_claim)
    key = task.key
    names = (key.seed, key.claim, key.registration, key.cell, key.block, range(key.replicates))
    block = rc.Block(replicate_generators(*names), "cpu", torch.float64)
    np.testing.assert_array_equal(simulate(task).observations["value"], mean(task.cell, block))


ROOM = 16
"""Number of replicates that fit into the test's memory; `short_of_memory` fails beyond."""


@declared("T.memory", rc.grid(fails=("cpu", "cuda", "library", "numpy")), replicates=11)
def short_of_memory(cell: rc.Cell, block: rc.Block) -> Mapping[str, object]:
    """Simulation that draws, and then runs out of memory."""
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
    fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = first_task(replace(short_of_memory, cells={"smoke": rc.grid(fails=fails)}))
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
    other = Mock(side_effect=RuntimeError("shapes cannot be multiplied"))
    monkeypatch.setattr(torch, "empty", other)
    monkeypatch.setattr(np, "empty", other)
    if fails in ("cpu", "numpy"):  # an error of another kind is not taken for this one
        with pytest.raises(RuntimeError, match="shapes cannot"):
            simulate(task)


@pytest.mark.parametrize(
    ("room", "batches", "later"),
    [(99, [55], [55]), (25, [55, 33, 22, 11, 22], [22, 22, 11]), (5, None, None)],
)
def test_a_gpu_simulates_blocks_of_a_cell_together_to_the_same_figures(
    room: int,
    batches: list[int] | None,
    later: list[int] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = list[int]()

    def observed(claim: rc.Claim, task: Task, rngs: Any) -> Any:
        sizes.append(len(rngs))
        return observe(claim, task, rngs)

    observe = import_module(simulate.__module__)._observe
    monkeypatch.setattr(f"{simulate.__module__}._observe", observed)
    monkeypatch.setattr(f"{simulate.__module__}._most_together", {})
    task = first_task(replace(short_of_memory, cells={"smoke": rc.grid(fails="cuda")}))
    here = [replace(task, key=replace(task.key, block=block)) for block in range(5)]
    apart = simulate_each(here)
    assert sizes == [11] * 5
    monkeypatch.setitem(globals(), "ROOM", room)
    for expected in (batches, later):
        sizes.clear()
        together = simulate_each([replace(task, device="cuda") for task in here])
        assert expected in (None, sizes)
        for one, other in zip(apart, together, strict=True):
            for name, values in one.observations.items():
                np.testing.assert_array_equal(other.observations[name], values)


def test_blocks_multiply_in_full_precision(ledger: Ledger) -> None:
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True
    try:
        outcome_of(mean_claim, ledger)
        assert torch.get_float32_matmul_precision() == "highest"
        assert not torch.backends.cuda.matmul.allow_tf32
        assert not torch.backends.cudnn.allow_tf32
    finally:
        full_precision()


def test_a_grid_is_worked_out_once_and_by_no_worker() -> None:
    task = first_task(mean_claim)
    key = replace(task.key, claim=scanned.id, code=fingerprint(scanned.observe), replicates=4)
    assert simulate(replace(task, key=key, module=__name__)).observations["value"].shape == (4,)
    assert not scan.called
    check(scanned)
    assert replace(scanned, from_pilot=True).cells["smoke"] == CELLS
    scan.assert_called_once()


def test_a_run_works_out_the_grid_of_its_tier_alone(ledger: Ledger) -> None:
    def dear() -> tuple[rc.Cell, ...]:
        raise AssertionError("nobody asked for it")

    made = declared("T.mean", {"smoke": lambda: CELLS, "full": dear})(mean)
    one = replace(made, module=mean_claim.module)
    check(one, ["smoke"])
    assert one.why_not_run("smoke", "cpu") is None
    assert replace(one, needs="cuda").why_not_run("smoke", "cuda:1") is None
    assert "needs `--device cuda`" in str(replace(one, needs="cuda").why_not_run("smoke", "cpu"))
    assert "only in smoke, full" in str(one.why_not_run("standard", "cpu"))
    outcome = outcome_of(one, ledger)
    assert outcome.decision.verdict == "SUPPORTED"
    assert recording.decided(outcome, "file").tiers == ["smoke", "full"]
