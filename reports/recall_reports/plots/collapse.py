"""Data collapse: with x in units of each series' predicted critical value, all series coincide."""

import math
from functools import partial
from statistics import pstdev
from typing import Any

from matplotlib.axes import Axes

from recall_reports import words
from recall_reports.plots.panel import MUTED, Painter
from recall_reports.plots.series import Cell, errors, locates, scale_axis, series


def painters(claim: dict[str, Any]) -> list[Painter]:
    """The collapse under the theory, and the failed one under the control that fails most."""
    found: list[Painter] = []
    if any(map(critical, claim["cells"])):
        found.append(partial(paint, control=None))
    departures = {c["id"]: _departures(claim, c["id"]) for c in claim["controls"]}
    names = [name for name, logs in departures.items() if logs]
    if names:
        worst = max(names, key=lambda name: (pstdev(departures[name]), abs(departures[name][0])))
        found.append(partial(paint, control=worst))
    return found


def _departures(claim: dict[str, Any], control: str) -> list[float]:
    """Logarithms of a control's critical values over the theory's; equal if only a constant is off.

    Rounded, so that rounding errors do not rank the controls.
    """
    return [
        round(math.log(wrong / right), 6)
        for cell in claim["cells"]
        if (right := critical(cell)) and (wrong := _critical_under(cell, claim, control))
    ]


def critical(cell: Cell) -> float | None:
    """The predicted critical value of the cell's series, None where the record has none."""
    given = cell.get("critical")
    return float(given) if isinstance(given, int | float) and given > 0 else None


def paint(axes: Axes, claim: dict[str, Any], *, control: str | None) -> str:
    """Draw the claim's cells against x over its critical value; return the caption."""
    plot = claim["plot"]
    x = plot["x"]
    places: list[float] = []
    for group in series(claim, x):
        pairs = [
            (cell["params"][x] / value, cell)
            for cell in group.cells
            if (value := _value(cell, claim, control))
        ]
        cells = [cell for _, cell in pairs]
        xs = [place for place, _ in pairs]
        axes.errorbar(
            xs,
            [cell["observed"] for cell in cells],
            yerr=errors(cells),
            fmt=group.marker,
            color=group.colour,
            elinewidth=1.0,
            label=group.label or "observed",
        )
        places += xs
    axes.axvline(1.0, color=MUTED, linewidth=0.9, dashes=(4, 2))
    scale_axis(axes, "x", [min(places), max(places)], log=bool(plot.get("log_x")))
    scale_axis(axes, "y", [0.0, 1.0], log=False)
    axes.set_ylabel(plot.get("y_label") or "observed")
    unit = "predicted critical value" if control is None else f"critical value under {control}"
    axes.set_xlabel(f"{words.symbol(x)} / {unit}")
    if control is None:
        axes.set_title("Collapse under the theory")
        return "The same data with x in units of the predicted critical value: the series coincide."
    axes.set_title(f"Under control {control}")
    return f"The same under the wrong theory {control}: the series miss the line or one another."


def _value(cell: Cell, claim: dict[str, Any], control: str | None) -> float | None:
    return critical(cell) if control is None else _critical_under(cell, claim, control)


def _critical_under(cell: Cell, claim: dict[str, Any], control: str) -> float | None:
    """A control's critical value; only rules that locate one predict one."""
    given = cell.get("controls", {}).get(control)
    if not locates(claim) or given == critical(cell):
        return None
    return float(given) if isinstance(given, int | float) and given > 0 else None
