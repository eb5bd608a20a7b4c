"""The fewest replicates with which one look decides, the variances being known.

Power is asked for in two worlds: SUPPORTED where the theory is right, REFUTED where it is wrong by
twice what the region allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor

import numpy as np
import statsmodels.api as sm
from scipy import stats

from recall_claims.judge.methods import Array
from recall_claims.judge.region import Interval, Region, Verdict, judge
from tests.benchmarks import fixed_n
from tests.benchmarks.worlds import Bounded, Design, region, runs_of, truths
from tests.calibration.cases import CASES
from tests.calibration.harness import Run

POWER = 0.9
PILOTS = 100
STEP = 1.5
AMPLE = 0.97
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
    """Replicates a cell for the case's own rule, whose intervals have no formula for their power.

    The power is measured at growing sizes until it is ample, and interpolated.
    """
    case = CASES[name]
    worlds = truths(case)
    sizes: list[int] = []
    supported: list[float] = []
    refuted: list[float] = []
    while not sizes or min(supported[-1], refuted[-1]) < AMPLE:
        sizes.append(math.ceil(STEP * sizes[-1]) if sizes else case.first)
        design = Design(name, sizes[-1], 1, alpha)
        # Other runs than those on which the design is then measured.
        right = runs_of(design, worlds.right, pilots, executor, first=10**6)
        wrong = runs_of(design, worlds.wrong, pilots, executor, first=10**6)
        supported.append(share_of(Verdict.SUPPORTED, right))
        refuted.append(share_of(Verdict.REFUTED, wrong))
    return max(crossing(sizes[-4:], shares[-4:], pilots) for shares in (supported, refuted))


def share_of(verdict: Verdict, runs: Sequence[Run]) -> float:
    """Share of runs with the verdict."""
    return sum(judge(run.components) is verdict for run in runs) / len(runs)


def crossing(sizes: Sequence[int], shares: Sequence[float], runs: int) -> int:
    """The size at which the power is POWER, by a probit law in its square root.

    That is the law of a normal estimate and an interval whose width is one over that root.

    Args:
        sizes: ascending; the first of them if it has the power.
        shares: of right verdicts at each.
        runs: at each size. Half a right and half a wrong one are added, so that a law can be
            fitted to shares of 0 and 1.
    """
    if min(shares) >= POWER:
        return sizes[0]
    smoothed = (np.array(shares) * runs + 0.5) / (runs + 1)
    family = sm.families.Binomial(link=sm.families.links.Probit())
    design, weights = sm.add_constant(np.sqrt(sizes)), np.full(len(sizes), runs + 1)
    intercept, slope = sm.GLM(smoothed, design, family=family, var_weights=weights).fit().params
    root = (stats.norm.ppf(POWER) - intercept) / slope
    return math.ceil(float(root) ** 2)


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
