"""The cells of a claim as labelled series, and the axes they are drawn on."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from recall_reports import phrases
from recall_reports.plots.panel import COLOURS, MARKERS
from recall_reports.record import Cell, Claim, Plot

MAX_TICKS = 7
MIN_LOG_RANGE = 8  # a logarithmic axis that spans less has evenly spaced ticks


@dataclass(frozen=True)
class Series:
    """Cells that share the group parameters, ordered along x."""

    label: str
    colour: str
    marker: str
    cells: list[Cell]


def series(claim: Claim, plot: Plot) -> list[Series]:
    """The cells of a claim, grouped as its plot says and ordered along its x (if they have it).

    A label names only the parameters in which the groups differ.
    """
    names = plot.group
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in claim.cells:
        key = tuple(cell.params.get(name) for name in names)
        groups.setdefault(key, []).append(cell)
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


def strands(cells: list[Cell], x: str) -> list[list[Cell]]:
    """Parts of a series that differ in x alone, so that a line may join their points.

    Where other parameters vary along with x, the whole series is one strand if its x are distinct,
    and no line can be drawn otherwise.
    """
    parts: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        others = tuple(item for item in sorted(cell.params.items()) if item[0] != x)
        parts.setdefault(others, []).append(cell)
    if any(len(part) > 1 for part in parts.values()):
        return list(parts.values())
    distinct = len({cell.params[x] for cell in cells}) == len(cells)
    return [cells] if cells and distinct else []


def value(cell: Cell, parameter: str) -> float:
    """A parameter of a cell that can be drawn, where it is a number."""
    return float(cell.params[parameter])


def observed(cell: Cell) -> float:
    """The observed value of a cell that can be drawn, where it is a number."""
    assert isinstance(cell.observed, float)
    return cell.observed


def predicted(cells: Iterable[Cell]) -> list[tuple[Cell, float]]:
    """The cells with a predicted number, each with that number."""
    return [(cell, cell.predicted) for cell in cells if isinstance(cell.predicted, float)]


def points(
    axes: Axes, group: Series, xs: Sequence[float], cells: Sequence[Cell], **style: Any
) -> None:
    """Draw the observed values of these cells of a series at `xs`, with their intervals."""
    axes.errorbar(
        xs,
        [observed(cell) for cell in cells],
        yerr=errors(cells),
        fmt=group.marker,
        color=group.colour,
        elinewidth=1.0,
        label=group.label or "observed",
        **style,
    )


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number; truth values are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def errors(cells: Sequence[Cell]) -> list[list[float]]:
    """Distances from the observed values down and up to the bounds of their intervals."""
    down, up = [], []
    for cell in cells:
        low, high = (cell.interval.low, cell.interval.high) if cell.interval else (None, None)
        down.append(max(0.0, observed(cell) - low) if low is not None else 0.0)
        up.append(max(0.0, high - observed(cell)) if high is not None else 0.0)
    return [down, up]


def bounds(cells: Iterable[Cell]) -> list[float]:
    """The finite ends of the cells' intervals."""
    ranges = [cell.interval for cell in cells if cell.interval is not None]
    return [end for found in ranges for end in (found.low, found.high) if end is not None]


def near(values: list[float], others: list[float]) -> list[float]:
    """Those of `others` that would not flatten the axis of `values`, which data and theory set."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    reach = max(high - low, 0.5 * abs(high), 0.5 * abs(low))
    kept = [v for v in others if low - reach <= v <= high + reach]
    return kept if low <= 0 else [v for v in kept if v > 0]


def scale_axis(
    axes: Axes, which: str, values: Iterable[float], *, log: bool, at_values: bool = False
) -> None:
    """Set a linear or logarithmic scale with a handful of ticks in plain figures.

    With `at_values` the ticks are at the values themselves (parameters of a grid), if these are
    few and far enough apart. Values that are not positive force a linear axis.
    """
    axis = axes.xaxis if which == "x" else axes.yaxis
    found = sorted({value for value in values if math.isfinite(value)})
    log = log and bool(found) and found[0] > 0
    setter = axes.set_xscale if which == "x" else axes.set_yscale
    setter("log" if log else "linear")
    if at_values and 1 < len(found) <= MAX_TICKS and _apart(found, log=log):
        axis.set_major_locator(FixedLocator(found))
    elif log and found[-1] > MIN_LOG_RANGE * found[0]:
        subs = (1.0, 2.0, 5.0) if found[-1] < 200 * found[0] else (1.0,)
        axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=MAX_TICKS + 2))
    else:
        axis.set_major_locator(MaxNLocator(MAX_TICKS - 1, steps=[1, 2, 2.5, 5, 10]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))


def tick(value: float) -> str:
    """A tick label in as few figures as it needs."""
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        return phrases.number(value, 2)
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def _apart(values: Sequence[float], *, log: bool) -> bool:
    """Whether tick labels at these values would not run into one another."""
    places = [math.log(value) if log else value for value in values]
    gaps = [after - before for before, after in itertools.pairwise(places)]
    return min(gaps) > 0.1 * (places[-1] - places[0])


def _order(value: Any) -> tuple[bool, float, str]:
    is_number = isinstance(value, int | float)
    return (not is_number, float(value) if is_number else 0.0, str(value))
