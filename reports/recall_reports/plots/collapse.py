"""Data collapse: with x divided by each series' right critical value, all series coincide."""

import math
from functools import partial
from statistics import pstdev

from recall_reports import phrases
from recall_reports.plots.chart import MUTED, Chart, Mark
from recall_reports.plots.panel import Painter
from recall_reports.plots.series import is_number, lines_of, points, scale_axis, series, value
from recall_reports.record import CellRow, ClaimRow
from recall_reports.record.values import Plot


def painters(claim: ClaimRow) -> list[Painter]:
    """Return painters of the collapse under the theory, and under the control that spreads the
    series most.
    """
    found: list[Painter] = []
    if claim.plot is None or len(series(claim, claim.plot)) < 2:
        return found  # one series is one curve in any case
    if any(_unit(claim, cell) for cell in claim.cells):
        found.append(partial(paint, control=None))
    spreads = {}
    for control in claim.controls:
        logs = [  # all equal if only a constant is wrong; `round` removes rounding errors
            round(math.log(wrong) - math.log(right), 6)
            for cell in claim.cells
            if (right := _unit(claim, cell)) and (wrong := _unit(claim, cell, control.id))
        ]
        if any(logs):
            spreads[control.id] = pstdev(logs), max(map(abs, logs))
    if spreads:
        found.append(partial(paint, control=max(spreads, key=spreads.__getitem__)))
    return found


def _unit(claim: ClaimRow, cell: CellRow, control: str | None = None) -> float | None:
    """Return the critical value of a cell's series, by the theory or by a control.

    A control predicts a critical value only if the rule locates critical values.
    """
    given = cell.critical if control is None else cell.controls.get(control)
    if is_number(given) and given > 0 and (control is None or claim.rule.locates):
        return given
    return None


def paint(chart: Chart, claim: ClaimRow, plot: Plot, *, control: str | None) -> str:
    """Draw the claim's cells against x / critical value; return the caption."""
    x = plot.x or ""
    places: list[float] = []
    for group in series(claim, plot):
        units = [(cell, unit) for cell in group.cells if (unit := _unit(claim, cell, control))]
        cells, xs = [cell for cell, _ in units], [value(cell, x) / unit for cell, unit in units]
        for line in lines_of(plot, group) if units else ():
            chart.add(Mark("line", group.colour, [at / units[0][1] for at in line.xs], line.ys))
        if cells:
            points(chart, group, xs, cells)
        places += xs
    chart.add(Mark("upright", MUTED, [1.0], style="dash0"))
    scale_axis(chart.x, places, log="x" in plot.log)
    chart.y.label = plot.y_label
    under = "predicted critical value" if control is None else f"critical value under {control}"
    chart.x.label = f"{phrases.symbol(x, claim.symbols)} / {under}"
    if control is None:
        return (
            "The same, in units of the predicted critical value: if that is right, all series lie "
            "together."
        )
    return f"The same, in units of what the wrong theory {control} predicts."
