"""The fewest replicates with which one look decides, the variances being known.

Power is asked for in two worlds: SUPPORTED where the theory is right, REFUTED where it is wrong by
twice what the region allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
from scipy import stats
from statsmodels.stats.power import TTestPower

from claims.engine.region import Component, Interval, Region, Verdict, judge
from claims.engine.rules import Share
from claims.engine.rules.base import Array
from tests.benchmarks import fixed_n
from tests.benchmarks.worlds import Bounded, Design, region, runs_of, truths
from tests.calibration.cases import CASES
from tests.calibration.harness import Case, Run

POWER = 0.9
PILOTS = 200
MOST = 2**30


def fewest(power: Callable[[int], float]) -> int:
    """The least number with the power, where more never have less.

    (The power of exact binomial intervals is a sawtooth: there, one of the first.)

    Raises:
        ValueError: 2**30 have not.
    """
    low, high = 1, 2
    while not power(high) >= POWER:
        low, high = high, 2 * high
        if high > MOST:
            raise ValueError(f"{MOST} replicates have no power of {POWER}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def by_rule(name: str, alpha: float, executor: Executor, pilots: int = PILOTS) -> int:
    """Replicates a cell for the case's own rule.

    All widths of pilot runs are scaled as one over the square root of the replicates; twice over,
    so that the second pilots have about the number that is asked for.
    """
    case = CASES[name]
    if isinstance(case.rule, Share):
        return share(case, alpha)
    first = _by_pilots(Design(name, 4 * case.first, 1, alpha), pilots, executor)
    return _by_pilots(Design(name, first, 1, alpha), pilots, executor)


def _by_pilots(design: Design, pilots: int, executor: Executor) -> int:
    worlds = truths(CASES[design.name])
    right = runs_of(design, worlds.right, pilots, executor)
    wrong = runs_of(design, worlds.wrong, pilots, executor)
    return fewest(
        lambda count: min(
            _decided(right, Verdict.SUPPORTED, math.sqrt(design.first / count)),
            _decided(wrong, Verdict.REFUTED, math.sqrt(design.first / count)),
        )
    )


def _decided(runs: Sequence[Run], verdict: Verdict, by: float) -> float:
    """Share of runs with the verdict once all deviations from the mean are times `by`."""
    means = [
        float(np.nanmean([c.estimate for c in components]))
        for components in zip(*(run.components for run in runs), strict=True)
    ]
    scaled = (
        [_scaled(c, mean, by) for c, mean in zip(run.components, means, strict=True)]
        for run in runs
    )
    return sum(judge(components) is verdict for components in scaled) / len(runs)


def _scaled(component: Component, mean: float, by: float) -> Component:
    low, high = component.interval.low, component.interval.high
    interval = Interval(mean + (low - mean) * by, mean + (high - mean) * by)
    return replace(component, interval=interval)


def share(case: Case, alpha: float) -> int:
    """Replicates a cell for the map of `cases.share`, by the power of the paired t test.

    A cell is told by its nearer rival, whose gap is 2 with a standard deviation of sqrt 2; nine
    cells of ten have to be confirmed, or two contradicted.
    """
    cells = len(case.cells)
    wrong = round((1 - truths(case).wrong) * cells)
    each = alpha / cells / 2  # two rivals

    def power(count: int) -> float:
        told = TTestPower().power(math.sqrt(2), count, each / 2, alternative="larger")
        return float(min(stats.binom.sf(cells - 2, cells, told), stats.binom.sf(1, wrong, told)))

    return fewest(power)


def by_method(method: str, known: Bounded, alpha: float) -> int:
    """Values a cell for "exact binomial", whose power is exact, or for "DKWM" or "Hoeffding",
    with means taken as normal."""
    case = CASES[known.name]
    worlds, target, each = truths(case), region(case.rule), alpha / len(case.cells)

    def exact(count: int) -> float:
        shares = Region(target.low - known.low, target.high - known.low)
        return min(
            fixed_n.binomial_power(count, truth - known.low, shares, each)
            for truth in (worlds.right, worlds.wrong)
        )

    def normal(count: int) -> float:
        band = fixed_n.envelope(count, each)
        supported = _inside(_ends(method, known, known.right, band), known.right, count, target)
        refuted = _disjoint(_ends(method, known, known.wrong, band), known.wrong, count, target)
        cells = len(case.cells)
        return min(supported**cells, 1 - (1 - refuted) ** cells)

    return fewest(exact if method == "exact binomial" else normal)


def _ends(method: str, known: Bounded, values: Array, band: float) -> Interval:
    """The interval that the method gives on average."""
    if method == "Hoeffding":
        mean, reach = float(values.mean()), (known.high - known.low) * band
        return Interval(mean - reach, mean + reach)
    return fixed_n.means_within(values, known.low, known.high, band)


def _inside(ends: Interval, values: Array, count: int, target: Region) -> float:
    """Probability that the interval, moved by the error of a mean, lies in the region."""
    error = stats.norm(0, values.std() / math.sqrt(count))
    found = error.cdf(target.high - ends.high) - error.cdf(target.low - ends.low)
    return float(max(found, 0.0))


def _disjoint(ends: Interval, values: Array, count: int, target: Region) -> float:
    """Probability that the interval, moved by the error of a mean, leaves the region."""
    error = stats.norm(0, values.std() / math.sqrt(count))
    return float(error.sf(target.high - ends.low) + error.cdf(target.low - ends.high))
