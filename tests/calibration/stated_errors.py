"""Whether predictions keep the errors that they state, at random points of their regimes.

A check compares a prediction's error with the stated error, on the evidence of a claim. At each of
40 points the claim is judged separately, by its own rule and without controls, with the stated
error as its region. If the rule bets on replicates other than 0 and 1, a t interval replaces the
bets. The claim has two more looks than usual. A point ends when it is decided, when its looks are
used up, or after a second. Points lie in the claim's regime and in the regime of the stated error.
They are uniform in the logarithm of each size. A replicate computes at most 250,000 numbers, a
quarter of a search's limit. If a share is predicted, only points with a share of 0.05 to 0.95
count. Intervals hold jointly: a point has the level 1e-3 / (40 points x 100 slots for checks). So
with probability at most 0.001 some point is shown to break an error that it keeps (for t intervals,
as far as t holds at that level). A check that draws nothing at random takes no slot. "Shown at 30
of 40": at 30 points the claim is SUPPORTED with the stated error as its region; the other points
ended undecided. For a critical value, the rate of success is simulated at both edges of the stated
error, rounded outwards to whole numbers. The interval is for the critical value. For an exact
formula, the interval shows the error that would have been noticed. The worst point is the point
whose estimated error is the largest in proportion to the error stated there. The words of a regime
fixed its points until 29 November 2026: the table has these points, and a new run draws others.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recall_claims import Cell
from recall_claims.declare.registration import registration
from recall_claims.evidence.looks import decide, looks
from recall_claims.evidence.simulate import simulate
from recall_claims.hunt.probe import TIER, task
from recall_claims.model.regime import Values
from recall_claims.model.region import Component, Verdict
from tests.calibration.stated import Check, checks

POINTS = 40
DRAWS = 8000
"""Largest number of draws, as a multiple of the number of points that are wanted."""
SLOTS = 100
"""Equal parts of the level, one per check that draws at random. A new check thus leaves the level
of every other check as it is."""
ALPHA = 1e-3 / (POINTS * SLOTS)
PAGE = Path(__file__).with_name("STATED_ERRORS.md")
SECONDS = 1.0
"""Processor time, in seconds, after which a point takes no further look."""


@dataclass(frozen=True)
class Point:
    """A point, the error stated there, and the claim's component: estimate and interval."""

    cell: Cell
    stated: float
    found: Component

    @property
    def centre(self) -> float:
        """Estimate for a right prediction."""
        return float(self.found.scale == "ratio")

    @property
    def strain(self) -> tuple[bool, float]:
        """Whether the error is refuted, and the estimate's distance from ``centre`` over the error.

        Above 1 the estimate is outside.
        """
        if math.isnan(self.found.estimate):  # both sizes are on one side so far: nothing is known
            return False, 0.0
        region, off = self.found.region, self.found.estimate - self.centre
        edge = (region.high if off > 0 else region.low) - self.centre
        return self.found.verdict is Verdict.REFUTED, off / edge


def row(check: Check, *, seed: int, points: int = POINTS) -> str:
    """Test a stated error at ``points`` points.

    The row has check, stated error, regime, worst point, discrepancy there, verdict, core seconds.
    """
    start = time.process_time()
    tried = [judged(check, cell, seed) for cell in drawn(check, seed, points)]
    verdicts = Counter(point.found.verdict for point in tried)
    worst = max(tried, key=lambda point: point.strain)
    error, found, ratio = worst.stated, worst.found, worst.found.scale == "ratio"
    ends = (found.estimate, found.interval.low, found.interval.high)
    off, low, high = (f"{end - worst.centre:+{'.1%' if ratio else '.4f'}}" for end in ends)
    values = ((n, f"{v:.3g}" if isinstance(v, float) else v) for n, v in worst.cell.items())
    broken, shown = verdicts[Verdict.REFUTED], verdicts[Verdict.SUPPORTED]
    cells = (
        check.name,
        "exact" if error < 1e-5 else f"{100 * error:.3g}%" if ratio else f"{error:.3g}",
        " ".join(check.regime.text.split()),
        ", ".join(f"{name}={value}" for name, value in values),
        f"{off} [{low}, {high}]",
        f"FAILS at {broken}" if broken else f"holds, shown at {shown} of {len(tried)}",
        f"{time.process_time() - start:.0f}",
    )
    return f"| {' | '.join(cells)} |"


def drawn(check: Check, seed: int, points: int) -> tuple[Cell, ...]:
    """Draw random points at which the check states an error.

    The check's name, errors and ranges and the seed fix the points.

    Raises:
        RuntimeError: almost no point of the ranges is in the regime.
    """
    stated = (check.name, *map(str, check.entry.errors))
    words = np.frombuffer(hashlib.sha256("\0".join(stated).encode()).digest(), dtype="<u4")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=words.tolist()))
    found: list[Cell] = []
    for _ in range(DRAWS * points):
        cell = Cell(**{name: _value(v, rng) for name, v in check.regime.ranges.items()})
        if check.holds(cell):
            found.append(cell)
        if len(found) == points:
            return tuple(found)
    raise RuntimeError(f"{check.name}: {len(found)} points in {DRAWS * points} draws")


def _value(values: Values, rng: np.random.Generator) -> float | int | str | bool:
    steps = values.steps
    if not values.between or not all(isinstance(step, int | float) for step in steps):
        return steps[rng.integers(len(steps))]
    low, high = (pick(float(step) for step in steps) for pick in (min, max))
    if low <= 0:
        return int(rng.integers(int(low), int(high) + 1))
    if all(isinstance(step, int) for step in steps):
        return min(int(high), int(math.exp(rng.uniform(math.log(low), math.log(high + 1)))))
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def judged(check: Check, cell: Cell, seed: int) -> Point:
    """Judge a point after each look until it is decided, or its looks or SECONDS are used up."""
    one = check.at(cell)
    steps = one.steps(TIER)
    level = one.rule.alpha_of_look(ALPHA, len(steps))
    stream, size = f"stated {registration(one, TIER)}", one.block_size(TIER)
    start = time.process_time()

    loop = looks(one.cells[TIER], steps, lambda seen, before: decide(one, seen, level, before))
    look = next(loop)
    while look.wanted and (look.decision is None or time.process_time() - start <= SECONDS):
        blocks = {
            at: [simulate(task(one, at, n, seed, "cpu", stream, size)).observations for n in which]
            for at, which in look.wanted.items()
        }
        look = loop.send(blocks)
    assert look.decision is not None  # there is at least one look
    stated = check.stated(cell)
    return Point(cell, (stated.high - stated.low) / 2, look.decision.components[0])


def row_of(name: str, *, seed: int) -> str:
    return row(next(c for c in checks() if c.name == name), seed=seed)


def rows_in(text: str) -> dict[str, str]:
    """Return the rows of an earlier table, by their first cell."""
    lines = (line for line in text.splitlines() if line.startswith("| `"))
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines}


def document(rows: Iterable[str], seed: int) -> str:
    """Write the page: the method, and the table."""
    lines, (_, _, told) = sorted(rows), str(__doc__).partition("\n\n")
    minutes = sum(float(line.split("|")[-2]) for line in lines) / 60
    fails = sum("FAILS" in line for line in lines)
    head = (
        "# Stated errors at random points",
        f"`python -m tests.calibration --seed {seed} --markdown FILE`",
        f"{len(lines)} checks at {POINTS} points each, {minutes:.0f} core minutes; "
        f"failures: {fails}.",
        told.strip(),
        "| prediction, claim | stated error | regime | worst point | discrepancy there | verdict "
        "| core s |\n|---|---|---|---|---|---|---|",
    )
    return "\n\n".join(head) + "".join(f"\n{line}" for line in lines) + "\n"
