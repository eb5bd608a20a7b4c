"""The fewest replicates with which one look decides, the variances being known.

Power is asked for in two worlds: SUPPORTED where the theory is right, REFUTED where it is wrong by
twice what the region allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy import stats

from recall_claims.judge.methods import Array
from recall_claims.judge.region import Interval, Region
from tests.benchmarks import fixed_n
from tests.benchmarks.cases import CASES
from tests.benchmarks.worlds import Bounded, bounded

POWER = 0.9
MOST = 2**30


def fewest(power: Callable[[int], float]) -> int:
    """The least number of at least 2 with the power, where more never have less.

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


def by_method(method: str, name: str, alpha: float) -> int:
    """Values a cell for one of METHODS: by exact power for "exact binomial", else with means taken
    as normal.

    As for ours, each edge is passed at level alpha to support, and at alpha / (2 J) to refute.
    """
    case, known = CASES[name], bounded(name)
    cells, target = len(case.cells), known.region
    support, refute = 2 * alpha, alpha / cells

    def exact(count: int) -> float:
        shares = Region(target.low - known.low, target.high - known.low)
        right, wrong = (truth - known.low for truth in case.truths[:2])
        return min(
            fixed_n.binomial_power(count, right, shares, support),
            fixed_n.binomial_power(count, wrong, shares, refute),
        )

    def normal(count: int) -> float:
        right = _ends(method, known, known.right, count, support)
        wrong = _ends(method, known, known.wrong, count, refute)
        supported = inside(right, known.right.std() / math.sqrt(count), target)
        refuted = disjoint(wrong, known.wrong.std() / math.sqrt(count), target)
        return min(supported**cells, 1 - (1 - refuted) ** cells)

    return fewest(exact if method == "exact binomial" else normal)


def _ends(method: str, known: Bounded, values: Array, count: int, alpha: float) -> Interval:
    """The interval that the method gives on average."""
    mean, band = float(values.mean()), fixed_n.envelope(count, alpha)
    if method == "DKWM":
        return fixed_n.means_within(values, known.low, known.high, band)
    if method == "Hoeffding":
        reach = (known.high - known.low) * band
    else:
        reach = float(stats.t.isf(alpha / 2, count - 1)) * float(values.std()) / math.sqrt(count)
    return Interval(mean - reach, mean + reach)


def inside(ends: Interval, error: float, target: Region) -> float:
    """Probability that the interval, moved by a normal error of this size, lies in the region."""
    law = stats.norm(0, error)
    return float(max(law.cdf(target.high - ends.high) - law.cdf(target.low - ends.low), 0.0))


def disjoint(ends: Interval, error: float, target: Region) -> float:
    """Probability that the interval, moved by a normal error of this size, leaves the region."""
    law = stats.norm(0, error)
    return float(law.sf(target.high - ends.low) + law.cdf(target.low - ends.high))
