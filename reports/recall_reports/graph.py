"""What rests on what, as a layered drawing from left to right.

The layout is Sugiyama's: the column of a node is the length of the longest chain that it rests on,
an edge that spans several columns passes a lane in each, and the order within a column follows the
mean place of the neighbours (barycentre method).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from statistics import fmean

WIDTH, HEIGHT = 160.0, 84.0  # of a box, in user units of the drawing
ACROSS, DOWN, LANE = 28.0, 14.0, 24.0  # gaps between columns and boxes; height of a lane
SWEEPS = 12

Lane = tuple[str, str, int]  # a base, what rests on it, and the column that the edge passes
Point = tuple[float, float]


@dataclass(frozen=True)
class Graph:
    """A drawing in user units: top left corners of the boxes, curves of the edges, and sizes."""

    places: dict[str, Point]
    edges: list[str]
    width: float
    height: float
    alone: list[str]
    box: Point = (WIDTH, HEIGHT)


def draw(rests_on: Mapping[str, Sequence[str]]) -> Graph:
    """Lay out the nodes; those that touch no other are `alone` and not drawn.

    Args:
        rests_on: for each node the nodes it rests on, all of them keys, without a cycle. An edge
            that follows from others (A on B, B on C, hence A on C) is left out.
    """
    direct = _direct(rests_on)
    touched = {node for node, bases in direct.items() if bases}.union(*direct.values())
    bases = {node: direct[node] for node in rests_on if node in touched}
    column = _columns(bases)
    columns, links = _with_lanes(bases, column)
    _order(columns, links)
    heights = _heights(columns, links)
    top = min((heights[n] - _tall(n) / 2 for n in heights), default=0.0)
    middle = {node: height - top for node, height in heights.items()}
    step = WIDTH + ACROSS
    return Graph(
        places={n: (column[n] * step, round(middle[n] - HEIGHT / 2, 1)) for n in bases},
        edges=[
            _curve(
                [(column[base] * step + WIDTH, middle[base])]
                + [(c * step, middle[lane]) for c, lane in _lanes(base, node, column)],
                (column[node] * step - 5, middle[node]),
            )
            for node, found in bases.items()
            for base in found
        ],
        width=max((place * step + WIDTH for place in column.values()), default=0.0),
        height=max((middle[n] + _tall(n) / 2 for n in middle), default=0.0),
        alone=[node for node in rests_on if node not in touched],
    )


def cycle(rests_on: Mapping[str, Sequence[str]]) -> list[str]:
    """The nodes of a cycle, first and last the same; empty if there is none."""
    try:
        TopologicalSorter(rests_on).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]
    return []


def _direct(rests_on: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The bases of each node that it does not reach through another of its bases."""
    reached: dict[str, set[str]] = {}
    for node in TopologicalSorter(rests_on).static_order():
        reached[node] = set(rests_on[node]).union(*(reached[base] for base in rests_on[node]))
    return {
        node: [base for base in found if not any(base in reached[other] for other in found)]
        for node, found in ((node, dict.fromkeys(bases)) for node, bases in rests_on.items())
    }


def _columns(bases: Mapping[str, Sequence[str]]) -> dict[str, int]:
    order = list(TopologicalSorter(bases).static_order())
    column: dict[str, int] = {}
    for node in order:
        column[node] = 1 + max((column[base] for base in bases[node]), default=-1)
    for node in order:  # what rests on nothing stands next to the first that rests on it
        if not bases[node]:
            column[node] = min(column[other] for other in bases if node in bases[other]) - 1
    return column


def _lanes(base: str, node: str, column: Mapping[str, int]) -> list[tuple[int, Lane]]:
    return [(c, (base, node, c)) for c in range(column[base] + 1, column[node])]


def _with_lanes(
    bases: Mapping[str, Sequence[str]], column: Mapping[str, int]
) -> tuple[list[list[str | Lane]], list[tuple[str | Lane, str | Lane]]]:
    """The columns with a lane wherever an edge passes, and the links between neighbours."""
    columns: list[list[str | Lane]] = [[] for _ in range(max(column.values(), default=-1) + 1)]
    links: list[tuple[str | Lane, str | Lane]] = []
    for node, found in bases.items():
        columns[column[node]].append(node)
        for base in found:
            chain: list[str | Lane] = [base]
            for c, lane in _lanes(base, node, column):
                columns[c].append(lane)
                chain.append(lane)
            links += zip(chain, [*chain[1:], node], strict=True)
    return columns, links


def _order(columns: list[list[str | Lane]], links: Iterable[tuple[str | Lane, str | Lane]]) -> None:
    """Sort each column by the mean place of its neighbours, to and fro."""
    left: dict[str | Lane, list[str | Lane]] = {}
    right: dict[str | Lane, list[str | Lane]] = {}
    for a, b in links:
        left.setdefault(b, []).append(a)
        right.setdefault(a, []).append(b)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        neighbours = left if forward else right
        for members in columns if forward else reversed(columns):
            place = {
                node: (i - (len(column) - 1) / 2)
                for column in columns
                for i, node in enumerate(column)
            }
            members.sort(
                key=lambda n: (
                    fmean(place[m] for m in neighbours[n]) if n in neighbours else place[n]
                )
            )


def _heights(
    columns: list[list[str | Lane]], links: Iterable[tuple[str | Lane, str | Lane]]
) -> dict[str | Lane, float]:
    """The middle of each node: as near to its neighbours as the order and the gaps allow."""
    near: dict[str | Lane, list[str | Lane]] = {}
    for a, b in links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    middle: dict[str | Lane, float] = {}
    for members in columns:
        _place(members, dict.fromkeys(members, 0.0), middle)
    for _ in range(SWEEPS):
        for members in columns:
            _place(members, {n: fmean(middle[m] for m in near[n]) for n in members}, middle)
    return middle


def _place(
    members: Sequence[str | Lane],
    wanted: Mapping[str | Lane, float],
    middle: dict[str | Lane, float],
) -> None:
    """Set the column's middles in order, without overlap, their mean where it is wanted."""
    found: list[float] = []
    for index, node in enumerate(members):
        least = (
            found[-1] + (_tall(members[index - 1]) + _tall(node)) / 2 + DOWN
            if found
            else wanted[node]
        )
        found.append(max(least, wanted[node]))
    shift = fmean(wanted[n] for n in members) - fmean(found) if members else 0.0
    middle.update((node, at + shift) for node, at in zip(members, found, strict=True))


def _tall(node: str | Lane) -> float:
    return HEIGHT if isinstance(node, str) else LANE


def _curve(lanes: Sequence[Point], end: Point) -> str:
    """A path that leaves each point to the right and is level where it passes a column."""
    (x, y), *passed = lanes
    path = f"M{x:.1f} {y:.1f}"
    for left, level in passed:
        path += _bend(x, y, left, level) + f"H{left + WIDTH:.1f}"
        x, y = left + WIDTH, level
    return path + _bend(x, y, *end)


def _bend(x: float, y: float, right: float, level: float) -> str:
    half = (x + right) / 2
    return f"C{half:.1f} {y:.1f} {half:.1f} {level:.1f} {right:.1f} {level:.1f}"
