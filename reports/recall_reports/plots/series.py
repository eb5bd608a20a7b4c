"""The cells of a claim as labelled series, and the series' axes."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from recall_reports import phrases
from recall_reports.plots.chart import COLOURS, MARKERS, MAX_TICKS, Axis, Chart, Mark
from recall_reports.record import CellRow, ClaimRow
from recall_reports.record.values import Line, Plot
from recall_reports.summary import grouped


@dataclass(frozen=True)
class Series:
    """Cells that share the group parameters, ordered along x."""

    label: str
    colour: str
    marker: str
    cells: list[CellRow]


def series(claim: ClaimRow, plot: Plot) -> list[Series]:
    """Group a claim's cells by the plot's `group`; order each group along the plot's x.

    A label names only the parameters in which groups differ; with one group, it names all.
    """
    names = plot.group
    groups: dict[tuple[Any, ...], list[CellRow]]
    groups = grouped(claim.cells, lambda cell: tuple(map(cell.params.get, names)))
    telling = [
        i for i in range(len(names)) if len(groups) == 1 or len({key[i] for key in groups}) > 1
    ]
    ordered = sorted(groups.items(), key=lambda item: [_order(value) for value in item[0]])
    return [
        Series(
            label=phrases.parameters(
                {names[i]: key[i] for i in telling if key[i] is not None}, claim.symbols
            ),
            colour=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            cells=sorted(cells, key=lambda cell: _order(cell.params.get(plot.x or ""))),
        )
        for index, (key, cells) in enumerate(ordered)
    ]


def strands(cells: list[CellRow], x: str) -> list[list[CellRow]]:
    """Split a series into strands whose cells differ only in x, so that a line may join them.

    If other parameters always vary along with x, the whole series is one strand, unless a value of
    x repeats: then there is no strand.
    """
    parts = grouped(cells, lambda cell: frozenset((cell.params | {x: None}).items())).values()
    if any(len(part) > 1 for part in parts):
        return list(parts)
    distinct = len({cell.params[x] for cell in cells}) == len(cells)
    return [cells] if cells and distinct else []


def lines_of(plot: Plot, group: Series, control: str = "") -> list[Line]:
    """Return predicted curves through a series' cells: the theory's, or a wrong theory's."""
    return [
        line
        for line in plot.line
        if line.control == control
        and line.xs
        and any(line.params.items() <= cell.params.items() for cell in group.cells)
    ]


def value(cell: CellRow, parameter: str) -> float:
    """Return a parameter of a drawable cell as a number."""
    return float(cell.params[parameter])


def observed(cell: CellRow) -> float:
    """Return the observed value of a drawable cell as a number."""
    assert isinstance(cell.observed, float)
    return cell.observed


def predicted(cells: Iterable[CellRow], control: str | None = None) -> list[tuple[CellRow, float]]:
    """Return the cells with a number predicted by the theory or a control, and this number."""
    found = ((c, c.predicted if control is None else c.controls.get(control)) for c in cells)
    return [(cell, number) for cell, number in found if isinstance(number, float)]


def points(
    chart: Chart,
    group: Series,
    xs: Sequence[float],
    cells: Sequence[CellRow],
    label: str | None = None,
    *,
    direct: bool = False,
) -> None:
    """Draw the observed values of some cells of a series at `xs`, with their intervals.

    With `direct` the label is next to the points, if there is room.
    """
    ys, ends = [observed(cell) for cell in cells], [whiskers(cell) for cell in cells]
    label = group.label or "simulation" if label is None else label
    name = label if direct else ""
    chart.add(
        Mark("dots", group.colour, xs, ys, group.marker, whiskers=ends, label=label, name=name)
    )


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number; truth values are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def whiskers(cell: CellRow) -> tuple[float, float]:
    """Return the ends of a cell's interval; for an unknown end the observed value."""
    known = [observed(cell), *bounds([cell])]
    return min(known), max(known)


def bounds(cells: Iterable[CellRow]) -> list[float]:
    """Return the finite ends of the cells' intervals."""
    ranges = [cell.interval for cell in cells if cell.interval is not None]
    return [end for found in ranges for end in (found.low, found.high) if end is not None]


def near(values: list[float], others: list[float]) -> list[float]:
    """Return the `others` that are near enough to share an axis with `values`."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    reach = max(high - low, 0.5 * abs(high), 0.5 * abs(low))
    kept = [v for v in others if low - reach <= v <= high + reach]
    return kept if low <= 0 else [v for v in kept if v > low / 3]


def padded(low: float, high: float, share: float) -> tuple[float, float]:
    """Move both ends outwards by this share of their distance.

    If the ends are equal, move them by this share of their size; if both are 0, by 1.
    """
    margin = share * (high - low) or share * abs(high) or 1.0
    return low - margin, high + margin


def scale_axis(axis: Axis, values: Iterable[float], *, log: bool, at_values: bool = False) -> None:
    """Set a linear or logarithmic scale.

    With `at_values` the ticks are at the values (parameters of a grid), if these are few, well
    apart, and span more than half of the axis. Values that are not positive force a linear axis.
    """
    found = sorted({value for value in values if math.isfinite(value)})
    axis.log = log and bool(found) and found[0] > 0
    if at_values and 1 < len(found) <= MAX_TICKS:
        places = list(map(axis.places(0.0, 1.0), found))
        gaps = [after - before for before, after in itertools.pairwise(places)]
        axis.ticks = found if min(gaps) > 0.1 * sum(gaps) and sum(gaps) > 0.5 else ()


def _order(value: Any) -> tuple[bool, float, str]:
    is_number = isinstance(value, int | float)
    return (not is_number, float(value) if is_number else 0.0, str(value))
