"""Replicates that violate a verdict's assumptions are refused, with a message for each case."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from recall_claims import Block, Cell, Deterministic, Identity, MeanRatio, Region
from recall_claims.evidence import executors, replay
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.precheck import check
from recall_claims.evidence.reach import fixed_seeds
from recall_claims.evidence.scheduler import run_claim
from recall_claims.evidence.simulate import simulate
from recall_claims.judge.rules import Sample
from recall_claims.model.errors import ClaimError, SimulationError
from tests.unit.library.made import (
    CELLS,
    SMOKE,
    declared,
    first_task,
    mean,
    mean_claim,
    outcome_of,
)

CALLS, SEED = itertools.count(), 3


honest = partial(mean, CELLS[0])
"""Values around 2, each from its own generator."""


def slow(block: Block) -> Any:
    """Take long by the clock, and little processor time; all replicates share a sign."""
    time.sleep(0.3)
    return honest(block) * np.sign(block.rngs[0].normal())


def seeded_alike(block: Block) -> Any:
    """Draw from a fixed seed: the same values in every block."""
    return np.random.default_rng(SEED).normal(2, 0.3, block.replicates)


def neighbours(block: Block) -> Any:
    """Multiply by random signs, each for two replicates in a row."""
    signs = [np.sign(rng.normal()) for rng in block.rngs[::2]]
    return honest(block) * np.repeat(signs, 2)[: block.replicates]


BATCH, TWICE = "in another order or batch", "simulated twice from the same generators"
WRONG: dict[str, tuple[Callable[[Block], Any], str]] = {
    "a bias for all": (lambda block: block.rngs[0].normal(0, 0.06) + honest(block), BATCH),
    "a sign for all, slowly": (slow, BATCH),
    "a sign that two neighbours share": (neighbours, BATCH),
    "values repeated": (lambda block: np.resize(honest(block)[:5], block.replicates), BATCH),
    "over the mean of its block": (
        lambda block: 2 * (found := honest(block)) / found.mean(),
        BATCH,
    ),
    "seeded for the block": (seeded_alike, BATCH),
    "global randomness": (
        lambda block: np.random.normal(2, 0.3, block.replicates),  # noqa: NPY002
        TWICE,
    ),
    "a state that is kept": (lambda block: 1e-3 * next(CALLS) + honest(block), TWICE),
    "complex numbers": (
        lambda block: np.full(block.replicates, 2 + 1j),
        "not made of numbers: it has complex ones",
    ),
    "text": (lambda block: ["2.0"] * block.replicates, "not made of numbers: it has text"),
    "constant": (
        lambda block: np.full(block.replicates, 2.0),
        "all values of a cell are equal at the first look, such as 2: a t interval",
    ),
    "a bias of a larger cell": (
        lambda block: block.rngs[0].normal() + honest(block),
        "blocks of length=8 differ by more than independent replicates can",
    ),
    "seeded in a larger cell": (
        seeded_alike,
        "two blocks of length=8 have the same values of 'value' in one order",
    ),
}


def tie(block: Block) -> Any:
    """Break a tie in a whole block in another way than in a smaller block, as rounding may."""
    found = honest(block)
    return found + 0.1 * ((found > 2.4) & (block.replicates == 16))


IMPORTED = 1e-6 * np.random.default_rng().normal()
ALLOWED: dict[str, Callable[[Block], Any]] = {
    "a tie": tie,
    "rounding that depends on the batch": lambda block: 1e-13 * block.replicates + honest(block),
    "something of its process": lambda block: IMPORTED + honest(block),
}


@declared("T.kind")
def simulated(cell: Cell, block: Block) -> Any:
    """A mean is two, with faulty replicates."""
    right = "larger cell" in KIND[0] and cell["length"] == 4
    wrong = ALLOWED.get(KIND[0]) or WRONG[KIND[0]][0]
    return honest(block) if right else wrong(block)


KIND = [""]


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_replicates_are_refused(kind: str, ledger: Ledger) -> None:
    KIND[0] = kind
    with pytest.raises(SimulationError, match=WRONG[kind][1]):
        outcome_of(simulated, ledger)


@declared("T.seeded")
def fixed_data(cell: Cell, block: Block) -> Any:
    """A mean is two, of data that are the same under every seed.

    A comparison of blocks under one seed cannot show this.
    """
    return seeded_alike(block)


def test_a_seed_that_a_simulation_fixes_is_refused_with_its_place() -> None:
    says = r"a generator of a fixed seed \(tests.unit.library.test_replay, line \d+\)"
    with pytest.raises(ClaimError, match=says):
        check(fixed_data)
    assert not fixed_seeds(mean)
    assert not fixed_seeds(lambda: np.random.default_rng(None))
    assert len(fixed_seeds(lambda: np.random.Generator(np.random.SFC64(seed=1)))) == 1


def test_a_bet_that_blocks_differ_is_fair() -> None:
    """Over all ways to put 6 ones into 4 blocks of 5 values, the bet wins at most 1 on average."""
    won = chances = 0.0
    for ones in itertools.product(range(6), repeat=4):
        if sum(ones) == 6:
            chance = math.prod(math.comb(5, n) for n in ones) / math.comb(20, 6)
            won += chance * math.exp(replay._log_wealth(np.array(ones), 5))
            chances += chance
    assert chances == pytest.approx(1)
    assert 0.1 < won <= 1
    # If one of 16 values is not zero, two blocks have it at the same place once in 16 cases.
    once = [Sample(CELLS[0], {"value": np.tile(np.eye(16)[3], 2)})]
    assert replay.alike(simulated, once, 16, 1e-3) is None
    assert replay.alike(simulated, once, 16, 0.6) is not None


def test_levels_of_all_looks_that_may_be_the_last_add_up(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells take turns, so a claim may have more looks than any one cell."""
    levels: list[float] = []
    monkeypatch.setattr(replay, "alike", lambda *given: levels.append(given[-1]))
    outcome = outcome_of(mean_claim, ledger)
    looks = outcome.looks
    assert levels == [pytest.approx(outcome.alpha * (1 / looks - 1 / (looks + 1)))]


with_chance = declared("T.chance", rule=MeanRatio(Region(0.9, 1.1), method=Deterministic()))(mean)


def test_a_simulation_with_chance_is_not_deterministic(ledger: Ledger) -> None:
    one = replace(with_chance, module=__name__)
    with pytest.raises(SimulationError, match="for a simulation without chance"):
        outcome_of(one, ledger)


class OtherProcess(SerialExecutor):
    """Executor that returns the figures of a process with other random numbers at import."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        future: Future[Any] = Future()
        [one] = fn(*args, **kwargs)
        future.set_result([replace(one, observations={"value": one.observations["value"] + 1e-6})])
        return future


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_run_tries_what_other_processes_return(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    monkeypatch.setattr(executors, "in_other_processes", lambda _: elsewhere)
    if elsewhere:
        with pytest.raises(SimulationError, match="other figures than this process"):
            run_claim(mean_claim, SMOKE, ledger, OtherProcess())
    else:
        assert run_claim(mean_claim, SMOKE, ledger, OtherProcess()).blocks


def test_rounding_is_allowed_for(ledger: Ledger) -> None:
    for KIND[0] in ALLOWED:
        assert outcome_of(simulated, ledger).decision.components
    rounding = replace(simulated, rule=Identity(1e-9))
    block = {"error": np.array([1e-10, 3e-10])}
    again = {"error": np.array([5e-10, 0.0])}
    assert replay.differing(rounding, block, [0, 1], again) == []
    assert replay.differing(simulated, block, [0, 1], again) == [0, 1]
    assert replay.differing(simulated, block, [2, 1], again) == [1], "2 is a stranger"
    assert replay.differing(simulated, block, [0, 1], None) == [], "memory is short"


def test_it_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    task = replace(first_task(mean_claim), replay=True)
    figures = simulate(task).observations

    def again(indices: Any) -> Any:
        drawn.append(len(indices))
        return {"value": figures["value"][list(indices)]}

    assert replay.fault(mean_claim, figures, 0.0, again) is None
    assert drawn == [2] * replay.TRIED
    monkeypatch.setattr(replay, "CHEAP", 0.0)
    drawn.clear()
    assert replay.fault(mean_claim, figures, 0.0, again) is None
    assert drawn == [2] * replay.LEAST
    assert replay.cheapest([*CELLS[::-1], Cell(length=8, name="short")]) == CELLS[0]


def test_one_value_that_outweighs_all_others_decides_nothing(ledger: Ledger) -> None:
    values = np.random.default_rng(0).normal(2, 0.1, 1024)
    values[7] = 40.0
    kept = outcome_of(mean_claim, ledger).evidence[0]
    told = replay.heavy(mean_claim, [replace(kept, observations={"value": values})])
    assert "one of the 1024 values of 'value' at length=4 makes 99%" in told
    assert replay.heavy(mean_claim, [kept]) == ""
