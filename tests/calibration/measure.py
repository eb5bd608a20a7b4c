"""Measure the error rates and the power of a case, on every core."""

from __future__ import annotations

import math
import multiprocessing
import os
import zlib
from collections import Counter
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from statistics import median

import numpy as np

from recall_claims.evidence.executors import SerialExecutor, cores, one_thread
from recall_claims.judge.region import Verdict, judge
from recall_claims.judge.resolution import resolution
from recall_claims.judge.rules import Predict
from recall_claims.judge.rules.base import number
from tests.calibration.cases import CASES
from tests.calibration.harness import RUNS, Case, Rate, one_run

CHUNK = 125
PILOTS = 100


def pool() -> Executor:
    """A process per core; in this process where pytest-xdist already runs one per core."""
    if "PYTEST_XDIST_WORKER" in os.environ or cores() == 1:
        return SerialExecutor()
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(min(cores(), 8), mp_context=context, initializer=one_thread)


@dataclass(frozen=True)
class World:
    """What is true, and by how much the theory misses it.

    Attributes:
        truth: the value of the estimand.
        error: how much too much (or, if negative, too little) the prediction is.
    """

    truth: float
    error: float = 0.0


def verdicts(name: str, world: World, executor: Executor) -> Counter[Verdict]:
    """Final verdicts of RUNS independent runs of a case."""
    chunks = range(0, RUNS, CHUNK)
    return sum(executor.map(_chunk, [(name, world, start) for start in chunks]), Counter())


@dataclass(frozen=True)
class Measured:
    """What was found about a case.

    Attributes:
        refuted: false refutations, at the worst edge.
        supported: false supports, at the worst edge.
        error: the resolution, as the median of what runs report when the theory is right.
        power: refutations by fresh data of a theory wrong by that error, in the worse direction.
    """

    refuted: Rate
    supported: Rate
    error: float
    power: Rate


def measure(name: str, executor: Executor) -> Measured:
    """Error rates at the edges of the region, and power at the resolution."""
    case = CASES[name]
    false_edges = case.false_edges or case.true_edges
    edges = {
        truth: verdicts(name, World(truth), executor) for truth in {*case.true_edges, *false_edges}
    }
    error = resolution_of(case, name)
    wrong = [verdicts(name, world, executor) for world in off(case, error)]
    return Measured(
        refuted=Rate(max(edges[truth][Verdict.REFUTED] for truth in case.true_edges), RUNS),
        supported=Rate(max(edges[truth][Verdict.SUPPORTED] for truth in false_edges), RUNS),
        error=error,
        power=Rate(min(found[Verdict.REFUTED] for found in wrong), RUNS),
    )


def resolution_of(case: Case, name: str) -> float:
    """Median resolution over runs in the world where the theory is right."""
    pilots = [
        one_run(case, case.centre, case.predict, _rng(name, "pilot", i)) for i in range(PILOTS)
    ]
    values = [resolution(pilot.components).value for pilot in pilots]
    return median(math.inf if value is None else value for value in values)


def off(case: Case, error: float) -> tuple[World, ...]:
    """The worlds in which the theory is wrong by `error`, on the rule's scale."""
    if case.rule.scale == "share":
        points = len(case.cells)
        return (World(1 - (math.floor(error * points + 1e-9) + 1) / points),)
    if case.predict is not None:
        return tuple(World(case.centre, -way * error) for way in case.directions)
    # A theory without a prediction is in the rule: move the truth instead. (By a hair more, as an
    # identity has no sampling error.)
    return tuple(World(case.centre + way * error * (1 + 1e-9)) for way in case.directions)


def _predict(case: Case, error: float) -> Predict | None:
    if case.predict is None or error == 0:
        return case.predict
    right = case.predict
    if case.rule.scale == "ratio":
        return lambda cell: number(right, cell) * (1 + error)
    return lambda cell: number(right, cell) + error


def _chunk(task: tuple[str, World, int]) -> Counter[Verdict]:
    name, world, start = task
    case, rng = CASES[name], _rng(name, repr(world), start)
    predict = _predict(case, world.error)
    runs = (one_run(case, world.truth, predict, rng) for _ in range(CHUNK))
    return Counter(judge(run.components) for run in runs)


def _rng(name: str, world: str, index: int) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(f"{name}/{world}".encode()), index])
