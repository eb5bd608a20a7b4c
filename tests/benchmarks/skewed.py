"""How often t intervals miss the mean of skewed data, at levels of a claim's alpha.

The data are those of "OneSided, skewness 1.75", whose upper end is the one that misses.
"""

from __future__ import annotations

from scipy import stats

from recall_claims.judge.methods import STUDENT
from tests.benchmarks.cases import CASES, lognormal
from tests.benchmarks.worlds import stream
from tests.calibration.tilting import misses

NAME = "OneSided, skewness 1.75"
WORLD = 4096
RUNS = 2_000_000
CHUNK = 20_000


def ours(alpha: float) -> float:
    """Probability that an end misses at any look of the case, by importance sampling.

    The world is made of WORLD values.
    """
    case, rng = CASES[NAME], stream(NAME, alpha, 0)
    world = lognormal(rng, WORLD)
    level = STUDENT.spent * case.rule.alpha_of_look(alpha, case.looks)
    counts = [case.first * blocks for blocks in case.rule.looks_in_blocks(case.looks)]
    return sum(misses(-world, count, level, rng).value for count in counts)


def plain(count: int, alpha: float, runs: int = RUNS) -> float:
    """Share of runs in which the upper end of the plain t interval is below the mean.

    Args:
        count: values of a run.
        alpha: at which this end should miss.
        runs: of which it is counted.
    """
    rng, quantile = stream(NAME, alpha, count), stats.t.isf(alpha, count - 1)
    missed = 0
    for start in range(0, runs, CHUNK):
        size = min(CHUNK, runs - start)
        values = lognormal(rng, size * count).reshape(size, count)
        ends = values.mean(axis=1) + quantile * stats.sem(values, axis=1)
        missed += int((ends < 1).sum())
    return missed / runs
