"""Whether predictions keep the errors that they state, at random points of their regimes.

For each check of `stated.py` 40 points are drawn from its claim's regime, uniformly in the
logarithm of each size, by a stream named after what is stated and the seed; too costly ones are
drawn anew. At each the claim is judged alone, by its own rule and looks, with the stated error as
its region, until it is decided, its looks are used up, or it has taken its seconds.

The rule is joint over the whole table: a point has the level 1e-3 / (40 points x 100 slots for
checks). So the probability that any prediction is shown to break an error that it keeps is at most
1e-3.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from recall_claims import Cell
from recall_claims.declare.regime import Values
from recall_claims.declare.registration import registration
from recall_claims.evidence import executors
from recall_claims.evidence.simulate import simulate
from recall_claims.hunt.probe import TIER, task
from recall_claims.judge.looks import Blocks, Decision, Look, decide, ended, looks
from recall_claims.judge.region import Component, Verdict
from recall_claims.judge.rules import Sample
from tests.calibration.stated import Check, checks

POINTS = 40
FAMILY = 1e-3
SLOTS = 100
"""Checks that the level is divided by, more than there are: an added one changes no level."""
ALPHA = FAMILY / (POINTS * SLOTS)
SECONDS = 1.0
"""Of processor time, after which a point takes no further look."""


@dataclass(frozen=True)
class Point:
    """What was found at one point.

    Attributes:
        cell: the point.
        stated: the error there.
        found: estimate, interval and region, as the component of a claim.
    """

    cell: Cell
    stated: float
    found: Component

    @property
    def centre(self) -> float:
        """What the estimate would be if the prediction were right."""
        return float(self.found.scale == "ratio")

    @property
    def strain(self) -> float:
        """How near the estimate is to failing; above 1 it is beyond what is stated."""
        if math.isnan(self.found.estimate):  # both rungs are on one side so far: nothing is known
            return 0.0
        region, off = self.found.region, self.found.estimate - self.centre
        return off / ((region.high if off > 0 else region.low) - self.centre)

    def __str__(self) -> str:
        """The estimate and its interval."""
        found, share = self.found, "%" if self.centre else ""
        ends = (found.estimate, found.interval.low, found.interval.high)
        shown = [f"{end - self.centre:+{'.1%' if share else '.4f'}}" for end in ends]
        return "{} [{}, {}]".format(*shown)


@dataclass(frozen=True)
class Tried:
    """What was found by one check: its points, and the core seconds that they took."""

    name: str
    regime: str
    points: tuple[Point, ...]
    seconds: float

    def count(self, verdict: Verdict) -> int:
        """How many points have a verdict."""
        return sum(point.found.verdict is verdict for point in self.points)

    @property
    def worst(self) -> Point:
        """The point that is shown to be beyond, or else the one nearest to it."""
        return max(self.points, key=lambda p: (p.found.verdict is Verdict.REFUTED, p.strain))

    @property
    def holds(self) -> bool:
        """Whether no point is shown to be beyond what is stated."""
        return not self.count(Verdict.REFUTED)

    @property
    def verdict(self) -> str:
        """In words."""
        if not self.holds:
            return f"FAILS at {self.count(Verdict.REFUTED)}"
        return f"holds, shown at {self.count(Verdict.SUPPORTED)} of {len(self.points)}"

    @property
    def row(self) -> str:
        """A row: check, stated error, regime, worst point, what was found there, verdict, time."""
        error = self.worst.stated
        stated = f"{100 * error:.3g}%" if self.worst.centre else f"{error:.3g}"
        point = ", ".join(f"{name}={_short(value)}" for name, value in self.worst.cell.items())
        cells = (
            *(self.name, "exact" if error < 1e-5 else stated, " ".join(self.regime.split()), point),
            *(str(self.worst), self.verdict, f"{self.seconds:.0f}"),
        )
        return f"| {' | '.join(cells)} |"


def tried(check: Check, *, seed: int, points: int = POINTS, most: int = 99) -> Tried:
    """Try one stated error.

    Args:
        check: the error and its claim.
        seed: of points and evidence.
        points: how many.
        most: looks at a point.
    """
    start = time.process_time()
    found = tuple(judged(check, cell, seed, most) for cell in drawn(check, seed, points))
    return Tried(check.name, check.regime.text, found, time.process_time() - start)


def drawn(check: Check, seed: int, points: int) -> tuple[Cell, ...]:
    """Random points at which an error is stated.

    Raises:
        RuntimeError: next to none of the box belongs to them.
    """
    stated = (check.name, check.regime.text, *map(str, check.entry.errors))
    words = np.frombuffer(hashlib.sha256("\0".join(stated).encode()).digest(), dtype="<u4")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=words.tolist()))
    found: list[Cell] = []
    for _ in range(2000 * points):
        cell = Cell(**{name: _value(v, rng) for name, v in check.regime.ranges.items()})
        if check.holds(cell):
            found.append(cell)
        if len(found) == points:
            return tuple(found)
    raise RuntimeError(f"{check.name}: {len(found)} points in {2000 * points} draws")


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


@dataclass(frozen=True)
class _Seen:
    """What a point's claim has come to, and whether its time is over."""

    decision: Decision
    over: bool

    @property
    def open_cells(self) -> frozenset[str]:
        """Ids of the cells of which more may decide."""
        return frozenset() if self.over else self.decision.open_cells


def judged(check: Check, cell: Cell, seed: int, most: int) -> Point:
    """A point, judged after each look until it is decided."""
    one = check.at(cell)
    steps = one.steps(TIER)[:most]
    level = one.rule.alpha_of_look(ALPHA, len(steps))
    stream, size = f"stated {registration(one, TIER)}", one.block_size(TIER)
    start = time.process_time()

    def drawn(look: Look[_Seen]) -> Blocks:
        return {
            at: [simulate(task(one, at, n, seed, "cpu", stream, size)).observations for n in blocks]
            for at, blocks in look.wanted.items()
        }

    def decided(evidence: tuple[Sample, ...], before: _Seen | None) -> _Seen:
        decision = decide(one, evidence, level, before.decision if before else None)
        return _Seen(decision, time.process_time() - start > SECONDS)

    found = ended(looks(one.cells[TIER], steps, decided), drawn).decision
    assert found is not None  # there is at least one look
    stated = check.stated(cell)
    return Point(cell, (stated.high - stated.low) / 2, found.decision.components[0])


def main(text: str, seed: int, most: int, page: Path | None) -> int:
    """Try every check whose name holds `text`, print the table, keep it in `page` if one is given.

    Returns 1 if a stated error is shown to be broken. Rows that were not tried again are kept.
    """
    names = [check.name for check in checks()]
    kept = rows_in(page.read_text(encoding="utf-8")) if page and page.exists() else {}
    rows = {name: line for name, line in kept.items() if name in names}
    broken = 0
    with executors.make(executors.resolve("auto", "cpu", nested=False)) as workers:
        chosen = [name for name in names if text in name]
        for result in workers.map(partial(_tried, seed=seed, most=most), chosen):
            rows[result.name] = result.row
            broken += not result.holds
            print(result.row, flush=True)
            if page:
                page.write_text(document(rows.values(), seed), encoding="utf-8")
    return 1 if broken else 0


def _tried(name: str, *, seed: int, most: int) -> Tried:
    """What a worker does."""
    return tried(next(c for c in checks() if c.name == name), seed=seed, most=most)


def rows_in(text: str) -> dict[str, str]:
    """The rows of a table written before, by check."""
    lines = (line for line in text.splitlines() if line.startswith("| `"))
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines}


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


PAGE = """# Stated errors at random points

`python -m tests.calibration --seed {seed} --markdown FILE`

{checks} checks at {points} points each, {minutes:.0f} core minutes; failures: {fails}.

A check holds a prediction to the error that it states, by the evidence of a claim. Points are drawn
from the claim's regime where the prediction states its error, uniformly in the logarithm of each
size, up to the cost that the regime allows; a share is predicted to be 0.05 to 0.95. Intervals hold
jointly: that any point of the table is shown to break an error that it keeps has a probability of
at most {family:g}. "Shown at 30 of 40": at 30 points the claim is SUPPORTED with the stated error
as its region; at the others neither the replicates nor {seconds:g} s decided. Where a critical
value is predicted, the rate of success is simulated at both edges of the stated error, rounded
outwards to whole numbers; the interval is for the critical value. For what is exact, it says what
would have been noticed. The worst point is the one whose estimate is the largest share of what is
stated there. `--looks` limits the looks.

| prediction, claim | stated error | regime | worst point | discrepancy there | verdict | core s |
|---|---|---|---|---|---|---|
{table}
"""


def document(rows: Iterable[str], seed: int) -> str:
    """The page that is kept: what was done, and the table."""
    lines = sorted(rows)
    return PAGE.format(
        seed=seed,
        checks=len(lines),
        points=POINTS,
        minutes=sum(float(line.split("|")[-2]) for line in lines) / 60,
        fails=sum("FAILS" in line for line in lines),
        family=FAMILY,
        seconds=SECONDS,
        table="\n".join(lines),
    )
