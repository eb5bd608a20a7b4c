"""Whether predictions keep the errors that they state, at random points of their regimes.

For each of the entries of `stated/` 40 points are drawn from its regime, uniformly in the logarithm
of each size, by a stream named after entry and seed; too costly ones are drawn anew. At each point
replicates are drawn until the interval of the discrepancy lies inside the stated error or beyond
it, or the looks are used up. Intervals are those of the library: exact by betting, or Student's t
with the skewness corrected, at half their level.

The rule is joint over the whole table: a point has the level 1e-3 / (40 points x 100 slots for
entries), half of it for each side, and t intervals divide that by the number of looks. So the
probability that any prediction is shown to break an error that it keeps is at most 1e-3.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from recall_claims import Block, Cell, Interval
from recall_claims.declare.regime import Values
from recall_claims.evidence.seeds import replicate_generators
from recall_claims.judge.looks import Blocks, Look, ended, looks
from tests.calibration.stated import Stated
from tests.calibration.stated.entries import ENTRIES

POINTS = 40
FAMILY = 1e-3
SLOTS = 100
"""Entries that the level is divided by, more than there are: an added one changes no level."""
NUMBERS_HELD = 4e6

State = Literal["inside", "open", "beyond"]


@dataclass(frozen=True)
class Point:
    """What was found at one point.

    Attributes:
        cell: the point; with the value of the scanned parameter at the edge that is nearer to fail.
        allowed: the stated error there.
        estimate: of the discrepancy, or of the rate at the edge.
        interval: simultaneous, for the same.
        state: whether the interval lies inside what is stated, beyond it, or neither.
        strain: how near the estimate is to failing; above 1 it is beyond what is stated.
    """

    cell: Cell
    allowed: float
    estimate: float
    interval: Interval
    state: State
    strain: float

    @property
    def open_cells(self) -> tuple[str, ...]:
        """The cell, while more replicates may decide."""
        return (self.cell.id,) if self.state == "open" else ()


@dataclass(frozen=True)
class Tried:
    """What was found of one entry: its points, and the core seconds that they took."""

    stated: Stated
    points: tuple[Point, ...]
    seconds: float

    @property
    def worst(self) -> Point:
        """The point that is shown to be beyond, or else the one nearest to it."""
        return max(self.points, key=lambda p: (p.state == "beyond", p.strain))

    @property
    def holds(self) -> bool:
        """Whether no point is shown to be beyond what is stated."""
        return all(point.state != "beyond" for point in self.points)

    @property
    def verdict(self) -> str:
        """In words."""
        beyond = sum(point.state == "beyond" for point in self.points)
        if beyond:
            return f"FAILS at {beyond}"
        inside = sum(point.state == "inside" for point in self.points)
        return f"holds, shown at {inside} of {len(self.points)}"


def tried(stated: Stated, *, seed: int, points: int, alpha: float) -> Tried:
    """Try one entry.

    Args:
        stated: the entry.
        seed: of points and evidence.
        points: how many.
        alpha: level of one point.
    """
    start = time.process_time()
    found = tuple(_judged(stated, cell, seed, alpha) for cell in drawn(stated, seed, points))
    return Tried(stated, found, time.process_time() - start)


def drawn(stated: Stated, seed: int, points: int) -> tuple[Cell, ...]:
    """Random points of an entry's regime.

    Raises:
        RuntimeError: next to none of the box belongs to it.
    """
    name = hashlib.sha256(f"points\0{stated.stream}".encode()).digest()
    words = np.frombuffer(name, dtype="<u4").tolist()
    rng = np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=words))
    found: list[Cell] = []
    for _ in range(2000 * points):
        cell = Cell(**{name: _value(v, rng) for name, v in stated.regime.ranges.items()})
        if stated.regime.searchable(cell):
            found.append(cell)
        if len(found) == points:
            return tuple(found)
    raise RuntimeError(f"{stated.name}: {len(found)} points in {2000 * points} draws")


def _value(values: Values, rng: np.random.Generator) -> float | int | str | bool:
    steps = values.steps
    if not values.between or not all(isinstance(step, int | float) for step in steps):
        return steps[rng.integers(len(steps))]
    low, high = (pick(float(step) for step in steps) for pick in (min, max))
    if all(isinstance(step, int) for step in steps):
        return min(int(high), int(math.exp(rng.uniform(math.log(low), math.log(high + 1)))))
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _judged(stated: Stated, cell: Cell, seed: int, alpha: float) -> Point:
    if stated.scan is None:
        return _mean(stated, cell, seed, alpha)
    below, above = stated.edges(cell)
    edges = [
        _edge(stated, edge, seed, alpha, stated.rising == (edge is above), stated.allowed(cell))
        for edge in (below, above)
    ]
    worse = max(edges, key=lambda p: (p.state == "beyond", p.strain))
    decided = all(edge.state == "inside" for edge in edges)
    return replace(worse, state="open") if worse.state == "inside" and not decided else worse


def _mean(stated: Stated, cell: Cell, seed: int, alpha: float) -> Point:
    predicted, error = stated.predict(cell), stated.allowed(cell)
    scale = predicted if stated.relative else 1.0

    def judged(values: np.ndarray) -> Point:
        bounds = stated.method.bounds(values, _level(stated, alpha))
        interval = Interval((bounds.low - predicted) / scale, (bounds.high - predicted) / scale)
        estimate = (float(values.mean()) - predicted) / scale
        inside = -error <= interval.low and interval.high <= error
        beyond = interval.low > error or interval.high < -error
        state: State = "inside" if inside else "beyond" if beyond else "open"
        side = interval.high - estimate if estimate < 0 else estimate - interval.low
        strain = abs(estimate) / (error or max(side, 1e-300))
        return Point(cell, error, estimate, interval, state, strain)

    return _tried(stated, cell, seed, judged)


def _edge(
    stated: Stated, cell: Cell, seed: int, alpha: float, success: bool, allowed: float
) -> Point:
    """The rate at one edge, which must be above the target if `success`, and else below."""

    def judged(values: np.ndarray) -> Point:
        interval = stated.method.bounds(values, _level(stated, alpha))
        above, below = interval.low > stated.target, interval.high < stated.target
        inside, beyond = (above, below) if success else (below, above)
        state: State = "inside" if inside else "beyond" if beyond else "open"
        estimate = float(values.mean())
        wrong = stated.target - estimate if success else estimate - stated.target
        return Point(cell, allowed, estimate, interval, state, 1 + wrong)

    return _tried(stated, cell, seed, judged)


def _level(stated: Stated, alpha: float) -> float:
    """Of one side at one look."""
    return alpha / 2 if stated.method.exact else alpha / 2 / stated.looks


def _tried(stated: Stated, cell: Cell, seed: int, judged: Callable[[np.ndarray], Point]) -> Point:
    """A point, judged on all values up to each look until it is decided; a look is a stream."""
    size = stated.regime.size(cell) if stated.regime.size else 1.0
    most = max(1, int(NUMBERS_HELD / size))
    dtype = getattr(torch, stated.dtype)

    def drawn(look: Look[Point]) -> Blocks:
        count = stated.replicates * len(look.wanted[cell])
        names = (stated.stream, "stated errors", cell.id, look.number)
        rngs = replicate_generators(seed, *names, count)
        parts = [
            stated.observe(cell, Block(rngs[i : i + most], "cpu", dtype)).double().numpy()
            for i in range(0, count, most)
        ]
        return {cell: [{"value": part} for part in parts]}

    steps = [2**look for look in range(stated.looks)]
    loop = looks([cell], steps, lambda evidence, _: judged(evidence[0]["value"]))
    found = ended(loop, drawn).decision
    assert found is not None  # there is at least one look
    return found


def main(text: str, seed: int, looks: int, page: Path | None) -> int:
    """Try every entry whose name holds `text`, print the table, keep it in `page` if one is given.

    Returns 1 if a stated error is shown to be broken. Rows of entries that were not tried are kept.
    """
    chosen = [entry for entry in ENTRIES if text in entry.name]
    alpha = FAMILY / (POINTS * SLOTS)
    kept = rows_in(page.read_text(encoding="utf-8")) if page and page.exists() else {}
    names = {entry.name for entry in ENTRIES}
    rows = {name: line for name, line in kept.items() if name in names}
    broken = 0
    for entry in chosen:
        fewer = replace(entry, looks=min(entry.looks, looks))
        result = tried(fewer, seed=seed, points=POINTS, alpha=alpha)
        rows[entry.name] = row(result)
        broken += not result.holds
        print(rows[entry.name], flush=True)
        if page:
            page.write_text(document(rows, seed), encoding="utf-8")
    return 1 if broken else 0


def rows_in(text: str) -> dict[str, str]:
    """The rows of a table written before, by entry."""
    lines = (line for line in text.splitlines() if line.startswith("| `"))
    return {line.split("`")[1]: line for line in lines}


def row(tried: Tried) -> str:
    """One row: entry, stated error, regime, worst point, what was found there, verdict, time."""
    stated, worst = tried.stated, tried.worst
    share = 100 if stated.relative or stated.scan else 1
    error = (
        f"{share * worst.allowed:.3g}{'%' if share == 100 else ''}" if worst.allowed else "exact"
    )
    ends = worst.estimate, worst.interval.low, worst.interval.high
    if stated.scan:
        found = "rate {:.3f} [{:.3f}, {:.3f}]".format(*ends)
    elif stated.relative:
        found = "{:+.1%} [{:+.1%}, {:+.1%}]".format(*ends)
    else:
        found = "{:+.4f} [{:+.4f}, {:+.4f}]".format(*ends)
    regime = " ".join(stated.regime.text.split())
    point = ", ".join(f"{name}={_short(value)}" for name, value in worst.cell.items())
    cells = (f"`{stated.name}`", error, regime, point, found, tried.verdict)
    return f"| {' | '.join(cells)} | {stated.looks} | {tried.seconds:.0f} |"


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


PAGE = """# Stated errors at random points

`python -m tests.calibration --stated-errors --seed {seed} --markdown FILE`

{entries} entries at {points} points each, {minutes:.0f} core minutes; failures: {fails}.

Points are drawn from the stated regime, uniformly in the logarithm of each size, up to the cost
that `largest` in `stated/` allows. Intervals hold jointly: that any point of the table is shown to
break an error that it keeps has a probability of at most {family:g}. "Shown at 30 of 40": at 30
points the interval of the discrepancy lies inside the stated error; at the others it reaches over
it. Where a critical value is predicted, the rate of success is simulated at both edges of the
stated error, where it must lie on the right side of its target; the worse edge is shown, by its
rate. For what is exact, the interval says what would have been noticed. The worst point is the one
whose estimate is the largest share of what is stated there. Each look but the first doubles the
replicates; `--looks` limits them.

| prediction | stated error | regime | worst point | discrepancy there | verdict | looks | core s |
|---|---|---|---|---|---|---|---|
{table}
"""


def document(rows: Mapping[str, str], seed: int) -> str:
    """The page that is kept: what was done, and the table."""
    return PAGE.format(
        seed=seed,
        entries=len(rows),
        points=POINTS,
        minutes=sum(float(line.split("|")[-2]) for line in rows.values()) / 60,
        fails=sum("FAILS" in line for line in rows.values()),
        family=FAMILY,
        table="\n".join(rows[name] for name in sorted(rows)),
    )
