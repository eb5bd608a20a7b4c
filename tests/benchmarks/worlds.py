"""Runs in synthetic worlds: claims as the engine runs them, and designs with one look."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import stats

from recall_claims import (
    Claim,
    Interval,
    ProportionDifference,
    Region,
    Sample,
    Verdict,
    claim,
)
from recall_claims.judge.looks import Blocks, Decision, Look, decide, ended, looks
from recall_claims.judge.methods import Array, Method
from recall_claims.judge.region import judge
from recall_claims.judge.rules.base import number
from tests.benchmarks import fixed_n
from tests.benchmarks.cases import CASES
from tests.calibration.certify import Recorder

CHUNK = 10
POPULATION = 200_000


def student(values: Array, low: float, high: float, alpha: float) -> Interval:
    """The interval of every textbook, right for normal values."""
    reach = stats.t.isf(alpha / 2, values.size - 1) * stats.sem(values)
    return Interval(float(values.mean() - reach), float(values.mean() + reach))


METHODS: Mapping[str, Callable[[Array, float, float, float], Interval]] = {
    "exact binomial": fixed_n.clopper_pearson,
    "DKWM": fixed_n.dkwm,
    "Hoeffding": fixed_n.hoeffding,
    "t interval": student,
}
"""Intervals that miss with probability alpha, ready-made for one look."""


@dataclass(frozen=True)
class Run:
    """How a run ended, and the replicates of all cells until then."""

    verdict: Verdict
    replicates: int


class Design(Protocol):
    """What decides a case."""

    @property
    def name(self) -> str: ...
    def run(self, truth: float, rng: np.random.Generator) -> Run:
        """One run in the world where the estimand is `truth`."""


@dataclass(frozen=True)
class Engine:
    """The case's claim, with as many looks as its rule takes, at this alpha."""

    name: str
    alpha: float

    def run(self, truth: float, rng: np.random.Generator) -> Run:
        """Looks until the verdict, or until no cell can help or the looks are spent."""
        case, judged = CASES[self.name], declared(self.name)
        level = case.rule.alpha_of_look(self.alpha, case.looks)

        def decided(evidence: tuple[Sample, ...], before: Decision | None) -> Decision:
            return decide(judged, evidence, level, before)

        def drawn(look: Look[Decision]) -> Blocks:
            return {
                cell: [case.draw(rng, cell, case.first * len(blocks), truth)]
                for cell, blocks in look.wanted.items()
            }

        steps = case.rule.looks_in_blocks(case.looks)
        last = ended(looks(case.cells, steps, decided), drawn)
        assert last.decision is not None  # a rule has at least one look
        return Run(last.decision.verdict, sum(sample.replicates for sample in last.evidence))


@cache
def declared(name: str) -> Claim:
    """The case as a claim."""
    case = CASES[name]
    declare = claim(
        name,
        name,
        cells=case.cells,
        replicates=case.first,
        looks=case.looks,
        rule=case.rule,
        predict=case.predict,
    )
    return declare(lambda cell, block: None)


@dataclass(frozen=True)
class Bounded:
    """What designs with one look know of a case for a mean.

    Attributes:
        low: least possible value, as compared with the region.
        high: largest possible value.
        region: of the case.
        right: values in ascending order where the theory is right.
        wrong: the same where it is wrong.
    """

    low: float
    high: float
    region: Region
    right: Array
    wrong: Array


@cache
def bounded(name: str) -> Bounded:
    """Those of [0, 1] for a probability, else the range of POPULATION draws in both worlds."""
    case = CASES[name]
    recorder = Recorder()
    rule: Any = case.rule  # a rule for means has a method to replace
    recording = replace(rule, method=recorder)
    for truth in case.truths[:2]:
        drawn = case.draw(stream(name, truth, 0), case.cells[0], POPULATION, truth)
        evidence = [Sample(case.cells[0], drawn)]
        component = recording.components(evidence, case.predict, 0.5)[0]
    # Every component asks twice: for its interval, and for the one that supports.
    right, wrong = (np.sort(values) for values, _ in recorder.asked[::2])
    low, high = float(min(right[0], wrong[0])), float(max(right[-1], wrong[-1]))
    if isinstance(rule, ProportionDifference):
        low = -number(case.predict, case.cells[0])
        high = low + 1
    return Bounded(low, high, component.region, right, wrong)


@dataclass(frozen=True)
class ReadyMade(Method):
    """One of METHODS for values in [low, high], at the levels at which rules ask for their own."""

    name: str
    low: float
    high: float
    exact: ClassVar[bool] = False
    guarantee: ClassVar[str] = "That of the method, at one look."

    def bounds(self, values: Array, alpha: float) -> Interval:
        # A few draws in a million lie beyond the range that stands in for bounds.
        kept = values if self.name == "t interval" else np.clip(values, self.low, self.high)
        return METHODS[self.name](kept, self.low, self.high, 2 * alpha)


@dataclass(frozen=True)
class OneLook:
    """The case's rule with a ready-made method, after `samples` replicates a cell."""

    name: str
    method: ReadyMade
    samples: int
    alpha: float

    def run(self, truth: float, rng: np.random.Generator) -> Run:
        """One look."""
        case = CASES[self.name]
        rule: Any = case.rule  # a rule for means has a method to replace
        drawn = [Sample(c, case.draw(rng, c, self.samples, truth)) for c in case.cells]
        ready = replace(rule, method=self.method)
        found = ready.components(drawn, case.predict, self.alpha)
        return Run(judge(found), self.samples * len(case.cells))


def runs_of(design: Design, truth: float, runs: int, executor: Executor) -> list[Run]:
    """Runs of a design in the world where the estimand is `truth`."""
    tasks = [(design, truth, start, min(CHUNK, runs - start)) for start in range(0, runs, CHUNK)]
    return [run for chunk in executor.map(_runs, tasks) for run in chunk]


def _runs(task: tuple[Design, float, int, int]) -> list[Run]:
    design, truth, start, count = task
    rng = stream(repr(design), truth, start)
    return [design.run(truth, rng) for _ in range(count)]


def stream(name: str, truth: float, index: int) -> np.random.Generator:
    """Random numbers that depend on these three alone."""
    return np.random.default_rng([zlib.crc32(f"{name}/{truth!r}".encode()), index])
