"""The background of maps: the predicted name at each place in the plane of two parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from recall_claims.declare.claim import Claim
from recall_claims.hunt.corners import is_size
from recall_claims.judge.rules import Predict
from recall_claims.lines import FAILS
from recall_claims.model.cell import Cell
from recall_reports.record.values import Tiles

ACROSS, UP = 33, 25  # largest number of places on each axis
COARSE = 8  # largest side of a patch, in steps between places, that is filled if its corners agree
BEYOND = 1.25  # factor by which a plane reaches beyond the cells
FEWEST = 3  # least number of cells' places in a plane
MOST = 3  # largest number of planes in a plot


def tiles(claim: Claim, cells: Sequence[Cell]) -> list[Tiles]:
    """Predict the names between the cells of a claim's map, in its fullest planes.

    Cells of a plane differ only in axes and in parameters that change no prediction. The fullest
    planes have the most places with cells. Omit planes with fewer than `FEWEST`, or whose first
    cell has no predicted name. Return [] without map, axes or predictions, if cells' parameter
    names differ, or if a value on an axis is no positive number.
    """
    plot, predict = claim.plot, claim.predict
    if plot is None or plot.kind != "map" or not plot.x or not plot.group or predict is None:
        return []
    x, y = plot.x, plot.group[0]
    if not cells or not all(is_size(cell.get(x)) and is_size(cell.get(y)) for cell in cells):
        return []
    if len({frozenset(cell) for cell in cells}) > 1:
        return []
    telling = _telling(predict, cells, {x, y})
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.get(name) for name in telling), []).append(cell)
    sizes = {key: len({(c[x], c[y]) for c in members}) for key, members in groups.items()}
    first = sorted(groups, key=lambda key: -sizes[key])[:MOST]
    across, up = _places([c[x] for c in cells], ACROSS), _places([c[y] for c in cells], UP)
    return [
        plane(predict, groups[key][0], {x: across, y: up}, telling)
        for key in first
        if sizes[key] >= FEWEST and _name(predict, groups[key][0]) is not None
    ]


def _telling(predict: Predict, cells: Sequence[Cell], axes: set[str]) -> list[str]:
    """Return each parameter, except axes, whose step to its next value changes a prediction."""
    found = []
    right = {cell: _name(predict, cell) for cell in cells}
    for name in sorted(set(cells[0]) - axes):
        values = list(dict.fromkeys(cell[name] for cell in cells))
        following = dict(zip(values, [*values[1:], values[0]], strict=True))
        if len(values) > 1 and any(
            named != _name(predict, cell.replace(**{name: following[cell[name]]}))
            for cell, named in right.items()
        ):
            found.append(name)
    return found


def _name(predict: Predict, cell: Cell) -> str | None:
    """Return the predicted name; None if the prediction is no name, or the formula fails."""
    with suppress(*FAILS):
        found = predict(cell)
        return found if isinstance(found, str) else None
    return None


def _places(values: Sequence[float], number: int) -> list[float]:
    """Return a geometric sequence around `values`; integers if all values are."""
    low, high = math.log(min(values) / BEYOND), math.log(max(values) * BEYOND)
    found = [math.exp(low + i / (number - 1) * (high - low)) for i in range(number)]
    if all(isinstance(value, int) for value in values):
        return [float(value) for value in sorted({max(1, round(value)) for value in found})]
    return found


def plane(predict: Predict, cell: Cell, axes: dict[str, list[float]], telling: list[str]) -> Tiles:
    """Predict names at all places of two axes; `cell` gives the other parameters.

    `telling`: the parameters by which the tiles name this plane.
    """
    (x, xs), (y, ys) = axes.items()
    known: dict[tuple[int, int], str | None] = {}

    def at(i: int, j: int) -> str | None:
        if (i, j) not in known:
            place = {x: _like(cell[x], xs[i]), y: _like(cell[y], ys[j])}
            known[i, j] = _name(predict, cell.replace(**place))
        return known[i, j]

    todo = [(0, len(xs) - 1, 0, len(ys) - 1)]
    while todo:
        left, right, low, high = todo.pop()
        corners = {at(i, j) for i in (left, right) for j in (low, high)}
        wide, tall = right - left, high - low
        if len(corners) == 1 and max(wide, tall) <= COARSE:
            for i in range(left, right + 1):
                known |= {(i, j): at(left, low) for j in range(low, high + 1)}
        elif max(wide, tall) > 1:
            middle = (left + right) // 2 if wide >= tall else (low + high) // 2
            todo += (
                [(left, middle, low, high), (middle, right, low, high)]
                if wide >= tall
                else [(left, right, low, middle), (left, right, middle, high)]
            )
    names = sorted(filter(None, {*known.values()}))[:10]  # a digit each
    places = {name: str(index) for index, name in enumerate(names)}
    return Tiles(
        params={name: cell[name] for name in telling},
        xs=_edges(xs),
        ys=_edges(ys),
        names=names,
        rows=[
            "".join(places.get(at(i, j) or "", ".") for i in range(len(xs))) for j in range(len(ys))
        ],
    )


def _like(known: Any, value: float) -> Any:
    return round(value) if isinstance(known, int) else value


def _edges(places: Iterable[float]) -> list[float]:
    """Return the ends of tiles around places: geometric means of neighbours."""
    logs = [math.log(place) for place in places]
    inner = [(one + other) / 2 for one, other in pairwise(logs)]
    ends = [2 * logs[0] - inner[0], *inner, 2 * logs[-1] - inner[-1]] if inner else [*logs, *logs]
    return [float(f"{math.exp(end):.5g}") for end in ends]
