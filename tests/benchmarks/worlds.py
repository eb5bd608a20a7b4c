"""The worlds of tests/calibration in which designs are compared, and runs in them."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np

from recall_claims.judge.methods import Array
from recall_claims.judge.region import Component, Interval, Region, Verdict, judge
from recall_claims.judge.rules import (
    MeanDifference,
    MeanRatio,
    OneSided,
    Ordering,
    Predict,
    ProportionDifference,
    Rule,
    Sample,
)
from recall_claims.judge.rules.base import number
from tests.benchmarks import fixed_n
from tests.calibration.cases import CASES
from tests.calibration.harness import Case, Run, one_run

CHUNK = 25
POPULATION = 200_000

Method = Callable[[Array, float, float, float], Interval]
METHODS: Mapping[str, Method] = {
    "exact binomial": fixed_n.clopper_pearson,
    "DKWM": fixed_n.dkwm,
    "Hoeffding": fixed_n.hoeffding,
}


@dataclass(frozen=True)
class Truths:
    """The estimand where the theory is right, wrong by twice the region and by four times."""

    right: float
    wrong: float
    far: float


def truths(case: Case) -> Truths:
    """On the side on which the case's truth can lie."""
    edge = case.true_edges[-1 if 1 in case.directions else 0]
    margin = edge - case.centre
    return Truths(case.centre, edge + margin, edge + 3 * margin)


@dataclass(frozen=True)
class Design:
    """A case's rule at looks that double, from `first` replicates a cell."""

    name: str
    first: int
    looks: int
    alpha: float


def runs_of(
    design: Design, truth: float, runs: int, executor: Executor, first: int = 0
) -> list[Run]:
    """Runs in the world where the estimand is `truth`; those of another `first` are others."""
    tasks = [
        (design, truth, first + start, min(CHUNK, runs - start)) for start in range(0, runs, CHUNK)
    ]
    return [run for chunk in executor.map(_runs, tasks) for run in chunk]


def _runs(task: tuple[Design, float, int, int]) -> list[Run]:
    design, truth, start, count = task
    case = replace(CASES[design.name], first=design.first, looks=design.looks, alpha=design.alpha)
    rng = _rng(repr(design), truth, start)
    return [one_run(case, truth, case.predict, rng) for _ in range(count)]


@dataclass(frozen=True)
class Bounded:
    """What designs for bounded values know of a case for a mean.

    Attributes:
        name: of the case.
        low: least possible value, as compared with the region.
        high: largest possible value.
        right: values in ascending order where the theory is right.
        wrong: the same where it is wrong.
    """

    name: str
    low: float
    high: float
    right: Array
    wrong: Array


def bounded(name: str) -> Bounded:
    """Those of [0, 1] for a probability, else the range of POPULATION draws in both worlds."""
    case = CASES[name]
    right, wrong = (
        np.sort(compared(case, truth, POPULATION, _rng(name, truth, 0))[0])
        for truth in (truths(case).right, truths(case).wrong)
    )
    if isinstance(case.rule, ProportionDifference):
        low = -number(case.predict, case.cells[0])
        return Bounded(name, low, low + 1, right, wrong)
    low, high = float(min(right[0], wrong[0])), float(max(right[-1], wrong[-1]))
    return Bounded(name, low, high, right, wrong)


@dataclass(frozen=True)
class OneLook:
    """Intervals of one of METHODS in place of the case's own rule, after `samples` a cell."""

    name: str
    method: str
    samples: int
    low: float
    high: float
    alpha: float


def verdicts_of(design: OneLook, truth: float, runs: int, executor: Executor) -> list[Verdict]:
    """Verdicts in the world where the estimand is `truth`."""
    tasks = [(design, truth, start, min(CHUNK, runs - start)) for start in range(0, runs, CHUNK)]
    return [verdict for chunk in executor.map(_verdicts, tasks) for verdict in chunk]


def _verdicts(task: tuple[OneLook, float, int, int]) -> list[Verdict]:
    design, truth, start, count = task
    case, rng = CASES[design.name], _rng(repr(design), truth, start)
    return [_verdict(design, compared(case, truth, design.samples, rng)) for _ in range(count)]


def _verdict(design: OneLook, cells: Sequence[Array]) -> Verdict:
    case = CASES[design.name]
    components = []
    for values in cells:
        # A few draws in a million lie beyond the range that stands in for bounds.
        kept = np.clip(values, design.low, design.high)
        interval = METHODS[design.method](kept, design.low, design.high, design.alpha / len(cells))
        components.append(Component("", math.nan, interval, region(case.rule), case.rule.scale))
    return judge(components)


def compared(case: Case, truth: float, count: int, rng: np.random.Generator) -> list[Array]:
    """Per cell, values whose mean is compared with `region(case.rule)`."""
    return [
        _compare(case.rule, Sample(cell, case.draw(rng, cell, count, truth)), case.predict)
        for cell in case.cells
    ]


def _compare(rule: Rule, sample: Sample, predict: Predict | None) -> Array:
    match rule:
        case MeanRatio():
            return sample[rule.observable] / number(predict, sample.cell)
        case MeanDifference():
            return sample[rule.observable] - number(predict, sample.cell)
        case OneSided():
            return sample[rule.observable]
        case Ordering():
            return sample[rule.larger] - sample[rule.smaller]
    raise TypeError(f"{type(rule).__name__} does not compare a mean with a region")


def region(rule: Rule) -> Region:
    """The region of a rule for means."""
    match rule:
        case MeanRatio() | MeanDifference():
            return rule.region
        case OneSided():
            low = -math.inf if rule.lower is None else rule.lower
            return Region(low, math.inf if rule.upper is None else rule.upper)
        case Ordering():
            return Region(rule.margin, math.inf)
    raise TypeError(f"{type(rule).__name__} does not compare a mean with a region")


def _rng(name: str, truth: float, index: int) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(f"{name}/{truth!r}".encode()), index])
