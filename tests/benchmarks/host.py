"""Processor time of a look at test sizes, and of a claim before its first block.

The column "theirs" has the time at an earlier commit, measured once on the machine that RESULTS.md
names.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from recall_claims import Cell, CriticalLocation, Region
from recall_claims.evidence.run import Prepared
from recall_claims.judge.rules import Sample
from tests.benchmarks.speed import Row
from tests.every_claim import imported

RUNGS = (72, 89, 91, 97, 103, 109, 111, 128)
BEFORE = "91c0a96"


def look(before: float, calls: int = 50) -> Iterator[Row]:
    """Judge 8 test sizes and two controls on new coins.

    Args:
        before: milliseconds at the earlier commit.
    """
    rule, least = CriticalLocation(Region(0.9, 1.1), scan="pairs"), math.inf
    rng = np.random.default_rng(0)
    for _ in range(calls):
        rates = {n: 1 / (1 + (100 / n) ** 9) for n in RUNGS}
        coins = {n: (rng.random(256) < rate).astype(np.float64) for n, rate in rates.items()}
        samples = [Sample(Cell(pairs=n), {"value": values}) for n, values in coins.items()]

        def judged(samples: list[Sample] = samples) -> None:
            for critical in (100.0, 135.0, 75.0):
                rule.components(samples, {s.cell: critical for s in samples}.__getitem__, 4e-6)

        least = min(least, _spent(judged))
    yield Row("look, 8 sizes of 256, two controls", least, BEFORE, before)


def host(before: float, names: Iterable[str] = ()) -> Iterator[Row]:
    """Check and register claims of the standard tier once, in a fresh process.

    Args:
        before: milliseconds at the earlier commit.
        names: names of claims; none means all claims.
    """
    claims = imported()
    chosen = [claims[name] for name in names or claims]
    standard = [claim for claim in chosen if "standard" in claim.cells]

    def prepared() -> None:
        for claim in standard:
            Prepared.of(claim, "standard", checked=True)

    yield Row(f"host, {len(standard)} claims made ready", _spent(prepared), BEFORE, before)


def _spent(work: Callable[[], None]) -> float:
    """Processor time in milliseconds."""
    begin = time.process_time()
    work()
    return 1e3 * (time.process_time() - begin)
