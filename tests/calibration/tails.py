"""Coverage of the interval for a mean at the small alpha that a whole suite leaves to one claim."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from recall_claims.judge.rules.base import t_interval
from tests.calibration.cases import Noise, lognormal, normal, squares
from tests.calibration.harness import Rate

RUNS = 10_000
CHUNK = 1000
SIZES = (32, 128, 512)
ALPHAS = (1e-3, 1e-5)
DATA: dict[str, Noise] = {
    "normal": normal,
    "skewness 1.75": lognormal,
    "skewness 2.8": squares,
}


def misses(data: str, size: int, alpha: float, executor: Executor) -> Rate:
    """How often the interval for the mean of `size` values of mean 1 misses 1."""
    tasks = [(data, size, alpha, start) for start in range(0, RUNS, CHUNK)]
    return Rate(sum(executor.map(_missed, tasks)), RUNS)


def _missed(task: tuple[str, int, float, int]) -> int:
    data, size, alpha, start = task
    rng = np.random.default_rng([size, start])
    intervals = (t_interval(DATA[data](rng, size), alpha) for _ in range(CHUNK))
    return sum(not interval.low <= 1 <= interval.high for interval in intervals)
