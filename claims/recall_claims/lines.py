"""Curves for plots: predictions between the cells of a claim, and a little beyond."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from recall_claims.declare.claim import Claim
from recall_claims.hunt.corners import is_size
from recall_claims.judge.rules import Predict
from recall_claims.model.cell import Cell
from recall_reports.record import CellRow
from recall_reports.record.values import Line, Plot

EVEN = 2  # number of equal parts whose ends, with the cells, are a curve's first points
MOST = 64  # largest number of points of a curve
BEND = 0.004  # largest distance of a curve from straight lines, as a share of its height
BEYOND = 0.1  # distance by which a curve reaches beyond its cells, as a share of all cells' width
DIGITS = 6
FAILS = (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError, AssertionError)
"""Errors by which a formula says that it has no value."""

Points = dict[float, float]


@dataclass(frozen=True)
class Strand:
    """Cells on one curve, ordered along `x`, with their rows of the record.

    Along a strand only `x` changes, or each parameter that changes grows or falls with `x`.
    """

    x: str
    cells: Sequence[Cell]
    rows: Sequence[CellRow]

    @property
    def values(self) -> list[Any]:
        """The cells' values of `x`."""
        return [cell[self.x] for cell in self.cells]

    @property
    def shared(self) -> dict[str, Any]:
        """The parameters that all cells have in common."""
        first, *others = self.cells
        return {
            n: v for n, v in first.items() if n != self.x and all(c.get(n) == v for c in others)
        }

    @property
    def alone(self) -> bool:
        """Whether only `x` changes."""
        return len(self.shared) == len(self.cells[0]) - 1

    def at(self, value: float) -> Cell:
        """Make a cell at a value of `x`; interpolate other changing numbers in the logarithm."""
        if self.alone:
            return self.cells[0].replace(**{self.x: value})
        index = next(i for i, end in enumerate(self.values[1:]) if value <= end)
        low, high = self.cells[index : index + 2]
        share = math.log(value / low[self.x]) / math.log(high[self.x] / low[self.x])
        changed = {name: low[name] for name in low if name not in {*self.shared, self.x}}
        for name, start in changed.items():
            found = start * (high[name] / start) ** share
            changed[name] = round(found) if isinstance(start, int) else found
        return low.replace(**changed, **{self.x: value})


def lines(
    claim: Claim, planted: Mapping[str, Predict], cells: Sequence[Cell], rows: Sequence[CellRow]
) -> list[Line]:
    """Work out curves of a claim's prediction, and of wrong theories along one strand.

    This is the strand on which a wrong theory differs most from the theory. There are no curves if
    the claim has no plot of curves or no prediction of means, or if the plot says that predictions
    are `dear`, too slow. If the regime ends or a prediction fails between cells, there is no curve
    along these cells. If the claim has a `curve` of its own, wrong theories have none.

    Args:
        claim: the claim.
        planted: predictions of the controls, by name.
        cells: cells of the evidence.
        rows: the record's rows of these cells.
    """
    plot = claim.plot
    predict = claim.curve or (None if claim.rule.predicts_location else claim.predict)
    if plot is None or plot.kind != "curve" or plot.x is None or plot.dear or predict is None:
        return []
    found = list(_strands(plot, plot.x, cells, rows))
    if not found:
        return []
    ends = [float(x) for strand in found for x in (strand.values[0], strand.values[-1])]
    axis = _Axis("x" in plot.log and min(ends) > 0)
    width = axis.at(max(ends)) - axis.at(min(ends))
    drawn = [(s, curve) for s in found if (curve := _curve(claim, plot, predict, s, width))]
    made = [_line(strand, curve) for strand, curve in drawn]
    if not drawn or claim.curve is not None:
        return made
    strand, right = max(drawn, key=lambda one: _departure(plot, one[0]))
    for name, wrong in planted.items():
        known = {
            x: row.controls.get(name) for x, row in zip(strand.values, strand.rows, strict=True)
        }
        values = {x: known.get(x) or _number(wrong, strand.at(x)) for x in right}
        curve = {x: y for x, y in values.items() if isinstance(y, float)}
        if any(not math.isclose(y, right[x], rel_tol=1e-6) for x, y in curve.items()):
            made.append(_line(strand, curve, name))
    return made


def _line(strand: Strand, curve: Points, control: str = "") -> Line:
    xs, ys = (
        [float(f"{v:.{DIGITS}g}") for v in values]
        for values in zip(*sorted(curve.items()), strict=True)
    )
    return Line(params=strand.shared, control=control, xs=xs, ys=ys)


def _strands(
    plot: Plot, x: str, cells: Sequence[Cell], rows: Sequence[CellRow]
) -> Iterator[Strand]:
    """Yield a strand per curve; its cells agree in parameters' names and in `plot.group`."""
    groups: dict[tuple[Any, ...], list[tuple[Cell, CellRow]]] = {}
    for cell, row in zip(cells, rows, strict=True):
        if isinstance(cell.get(x), int | float):
            key = (frozenset(cell), *map(cell.get, plot.group))
            groups.setdefault(key, []).append((cell, row))
    for members in groups.values():
        parts: dict[Any, list[tuple[Cell, CellRow]]] = {}
        for cell, row in members:
            parts.setdefault(frozenset(cell.without(x).items()), []).append((cell, row))
        together = max(map(len, parts.values())) == 1
        for part in [members] if together else parts.values():
            part.sort(key=lambda one: one[0].number(x))
            strand = Strand(x, *zip(*part, strict=True))
            if len(strand.cells) > 1 and (strand.alone or _monotone(strand)):
                yield strand


def _monotone(strand: Strand) -> bool:
    """Whether x never repeats, and x and all else that changes are positive, monotone numbers."""
    for name in strand.cells[0].keys() - strand.shared.keys():
        values = [cell.get(name) for cell in strand.cells]
        numbers = [value for value in values if is_size(value)]
        falls = {after < before for before, after in pairwise(numbers) if after != before}
        if len(numbers) < len(values) or len(falls) != 1:
            return False
    return len(set(strand.values)) == len(strand.cells)


@dataclass(frozen=True)
class _Axis:
    """An axis of a plot: the place of a value on it, and the value at a place."""

    log: bool

    def at(self, value: float) -> float:
        return math.log(value) if self.log else value

    def value(self, place: float) -> float:
        return math.exp(place) if self.log else place

    def between(self, ends: tuple[float, float], parts: int) -> list[float]:
        """Return values in even steps from one end to the other."""
        low, high = map(self.at, ends)
        return [self.value(low + i / parts * (high - low)) for i in range(parts + 1)]


def _curve(claim: Claim, plot: Plot, predict: Predict, strand: Strand, width: float) -> Points:
    """Return the predicted curve along a strand; empty if the regime ends, or the formula fails,
    between its cells.

    `width`: the distance on the axis of x that all strands of the plot span together.
    """
    low, high = strand.values[0], strand.values[-1]
    across, up = _Axis("x" in plot.log and low > 0), _Axis("y" in plot.log)
    whole = all(isinstance(value, int) for value in strand.values)
    ends = low, high
    if strand.alone and plot.span is not None:
        ends = plot.span
    elif strand.alone and claim.regime is not None:
        ends = (
            across.value(across.at(low) - BEYOND * width),
            across.value(across.at(high) + BEYOND * width),
        )
    scan = getattr(claim.rule, "scan", None)

    def value(x: float) -> float | None:
        """Return the prediction at x, if x lies in the regime and the prediction on the axis."""
        cell = strand.at(x)
        if claim.regime is not None and claim.regime.why_outside(cell, ignoring=scan):
            return None
        found = _number(predict, cell)
        return None if found is None or (up.log and found <= 0) else found

    found: Points = {}
    if claim.curve is None:  # else the rows' predictions are critical values, or missing
        pairs = zip(strand.values, strand.rows, strict=True)
        known = ((x, row.predicted) for x, row in pairs if isinstance(row.predicted, float))
        found = {x: y for x, y in known if y > 0 or not up.log}
    places = (*across.between(ends, EVEN if strand.alone else 1), *strand.values)
    for x in {round(x) if whole else x for x in places} - found.keys():
        y = value(x)
        if y is not None:
            found[x] = y
        elif low <= x <= high:
            return {}
    return _bent(found, value, across, up, whole=whole)


def _bent(
    found: Points, value: Callable[[float], float | None], across: _Axis, up: _Axis, *, whole: bool
) -> Points:
    """Add points where the curve bends, until straight lines follow it or there are `MOST`.

    If the curve has no value at a new point, return no points.
    """
    heights = [up.at(y) for y in found.values()]
    height = max(heights) - min(heights)
    todo = list(pairwise(sorted(found)))
    while todo and len(found) < MOST:
        left, right = todo.pop(0)
        middle = across.between((left, right), 2)[1]
        middle = round(middle) if whole else middle
        if not left < middle < right:
            continue
        y = value(middle)
        if y is None:
            return {}
        share = (across.at(middle) - across.at(left)) / (across.at(right) - across.at(left))
        straight = (1 - share) * up.at(found[left]) + share * up.at(found[right])
        if abs(up.at(y) - straight) > BEND * height:
            found[middle] = y
            todo += [(left, middle), (middle, right)]
    return found


def _departure(plot: Plot, strand: Strand) -> float:
    """Return the largest gap between a control's and the theory's predictions.

    On a log axis the gap is relative.
    """
    farthest = 0.0
    for row in strand.rows:
        for wrong in row.controls.values():
            if isinstance(wrong, float) and isinstance(row.predicted, float):
                scale = abs(wrong) + abs(row.predicted) if "y" in plot.log else 1.0
                farthest = max(farthest, abs(wrong - row.predicted) / (scale or 1.0))
    return farthest


def _number(predict: Predict, cell: Cell) -> float | None:
    """Return the predicted number, or the first of several; None if no finite one is given."""
    with suppress(*FAILS):
        found = predict(cell)
        while isinstance(found, Mapping):
            found = next(iter(found.values()))
        return float(found) if math.isfinite(found) else None
    return None
