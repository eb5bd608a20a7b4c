"""Replicates that are not what a verdict takes them for are refused, each in its own words."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recall_claims import Block, Cell, Deterministic, Identity, MeanRatio, Region, Student
from recall_claims.errors import SimulationError
from recall_claims.evidence import replay
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.scheduler import run
from recall_claims.evidence.simulate import elsewhere, simulate
from tests.unit.library.made import CELLS, SMOKE, declared, mean, mean_claim
from tests.unit.library.test_run import task_of

CALLS = itertools.count()
WRONG: dict[str, tuple[str, Callable[[Block], Any]]] = {}


def wrong(words: str) -> Callable[[Callable[[Block], Any]], None]:
    def keep(function: Callable[[Block], Any]) -> None:
        WRONG[function.__name__] = words, function

    return keep


@wrong("in another order or batch")
def a_bias_for_all(block: Block) -> Any:
    bias = block.rngs[0].normal(0, 0.06)
    return np.array([2 + bias + 0.1 * rng.normal() for rng in block.rngs])


@wrong("in another order or batch")
def over_the_mean_of_its_block(block: Block) -> Any:
    found = np.array([2 + 0.3 * rng.normal() for rng in block.rngs])
    return 2 * found / found.mean()


@wrong("in another order or batch")
def values_repeated(block: Block) -> Any:
    found = np.array([2 + 0.3 * rng.normal() for rng in block.rngs])
    return np.resize(found[:5], found.size)


@wrong("in another order or batch")
def seeded_for_the_block(block: Block) -> Any:
    return np.random.default_rng(0).normal(2, 0.3, block.replicates)


@wrong("simulated twice from the same generators")
def global_randomness(block: Block) -> Any:
    return np.random.normal(2, 0.3, block.replicates)  # noqa: NPY002


@wrong("simulated twice from the same generators")
def a_state_that_is_kept(block: Block) -> Any:
    return np.array([2 + 1e-3 * next(CALLS) + 0.1 * rng.normal() for rng in block.rngs])


@wrong("not made of numbers: it has complex ones")
def complex_numbers(block: Block) -> Any:
    return np.full(block.replicates, 2 + 1j)


@wrong("not made of numbers: it has text")
def text(block: Block) -> Any:
    return ["2.0"] * block.replicates


@wrong("all values of a cell are equal at the first look, such as 2: a t interval")
def constant(block: Block) -> Any:
    return np.full(block.replicates, 2.0)


@declared("T.wrong")
def simulated(cell: Cell, block: Block) -> Any:
    """A mean is two, of replicates that something is wrong with."""
    return WRONG[KIND[0]][1](block)


KIND = [""]


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_replicates_are_refused(kind: str, ledger: Ledger) -> None:
    KIND[0] = kind
    with pytest.raises(SimulationError, match=WRONG[kind][0]):
        run(simulated, SMOKE, ledger, SerialExecutor())


with_chance = declared("T.chance", rule=MeanRatio(Region(0.9, 1.1), method=Deterministic()))(mean)


def test_a_simulation_with_chance_is_not_deterministic(ledger: Ledger) -> None:
    one = replace(with_chance, module=__name__)
    with pytest.raises(SimulationError, match="for a simulation without chance"):
        run(one, SMOKE, ledger, SerialExecutor())


@declared("T.process")
def of_its_process(cell: Cell, block: Block) -> Any:
    """A mean is two, and something that each process has for itself."""
    return np.array([2 + IMPORTED + 0.1 * rng.normal() for rng in block.rngs])


IMPORTED = 1e-6 * np.random.default_rng().normal()


def test_what_a_worker_returns_is_tried_in_this_process(ledger: Ledger) -> None:
    task = replace(task_of(of_its_process, ledger), replay=True)
    result = simulate(task)
    elsewhere(task, result)
    other = replace(result, observations={"value": result.observations["value"] + 1e-6})
    with pytest.raises(SimulationError, match="other figures than this process"):
        elsewhere(task, other)
    elsewhere(task, replace(other, seconds=2 * replay.DEAR))  # not tried: it would hold up others


@declared("T.tie")
def tie(cell: Cell, block: Block) -> Any:
    """Rounding breaks a tie in one replicate of the block otherwise than in a smaller one."""
    found = np.array([2 + 0.3 * rng.normal() for rng in block.rngs])
    found[-1] += 0.1 * (block.replicates == 16)
    return found


@declared("T.deep")
def deep(cell: Cell, block: Block) -> Any:
    """Rounding depends on the batch, which a tolerance allows for."""
    off = 1e-13 * block.replicates
    return np.array([2 + off + 0.3 * rng.normal() for rng in block.rngs])


def test_rounding_is_allowed_for(ledger: Ledger) -> None:
    assert run(deep, SMOKE, ledger, SerialExecutor()).decision.components
    assert run(tie, SMOKE, ledger, SerialExecutor()).decision.components
    rounding = replace(simulated, rule=Identity(1e-9))
    block = {"error": np.array([1e-10, 3e-10])}
    again = {"error": np.array([5e-10, 0.0])}
    assert replay.differing(rounding, block, [0, 1], again) == 0
    assert replay.differing(simulated, block, [0, 1], again) == 2


def test_it_costs_little(ledger: Ledger) -> None:
    drawn: list[int] = []
    task = replace(task_of(mean_claim, ledger), replay=True)
    figures = simulate(task).observations

    def again(indices: Any) -> Any:
        drawn.append(len(indices))
        return {"value": figures["value"][list(indices)]}

    assert replay.fault(mean_claim, figures, 0.0, again) is None
    assert replay.fault(mean_claim, figures, 60.0, again) is None
    assert drawn == [10, 1, 1]
    assert replay.cheapest([*CELLS[::-1], Cell(length=8, name="short")]) == CELLS[0]


def test_one_value_that_outweighs_all_others_decides_nothing(ledger: Ledger) -> None:
    values = np.random.default_rng(0).normal(2, 0.1, 1024)
    student = Student()
    assert np.isfinite(student.bounds(values, 1e-6).low)
    values[7] = 40.0
    assert student.bounds(values, 1e-6).low == -np.inf
    kept = run(mean_claim, SMOKE, ledger, SerialExecutor()).evidence[0]
    told = replay.heavy(mean_claim, [replace(kept, observations={"value": values})])
    assert "one of the 1024 values of 'value' at length=4 makes 99%" in told
    assert replay.heavy(mean_claim, [kept]) == ""
