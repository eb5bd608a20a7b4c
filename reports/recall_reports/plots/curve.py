"""Observed means with their intervals against one parameter, on the predicted curve."""

import math
from collections.abc import Sequence
from statistics import fmean

from recall_reports import phrases
from recall_reports.plots.chart import DASHES, MUTED, Chart, Mark
from recall_reports.plots.series import (
    Series,
    bounds,
    near,
    observed,
    padded,
    points,
    predicted,
    scale_axis,
    series,
    strands,
    value,
)
from recall_reports.record import CellRow, ClaimRow
from recall_reports.record.values import Plot

CROWDED = 4

Heights = list[tuple[CellRow, float]]  # cells with the value at which each is drawn


def paint(chart: Chart, claim: ClaimRow, plot: Plot) -> str:
    """Draw the claim's cells; return the caption."""
    x = plot.x or ""
    groups = series(claim, plot)
    cells = [cell for group in groups for cell in group.cells]
    lines = _lines(chart, claim, groups, x)
    for group in groups:
        points(chart, group, [value(cell, x) for cell in group.cells], group.cells)
    heights = [] if claim.rule.locates else [number for _, number in predicted(cells)]
    heights += [observed(cell) for cell in cells]
    wrong, where = _controls(chart, claim, groups, plot)
    scale_axis(chart.x, [value(cell, x) for cell in cells], log="x" in plot.log, at_values=True)
    heights += near(heights, [*wrong, *bounds(cells)])
    scale_axis(chart.y, heights, log="y" in plot.log)
    _limits(chart, heights)
    chart.x.label = plot.x_label or phrases.axis(x, claim.symbols)
    chart.y.label = plot.y_label or "observed mean"
    chart.title = "Observed and predicted" if lines else "Observed"
    return _caption(lines, controls=bool(wrong), where=where)


def _lines(chart: Chart, claim: ClaimRow, groups: Sequence[Series], x: str) -> str:
    """Draw what the theory predicts; return what the lines are, in words."""
    if claim.rule.locates:
        return _critical_values(chart, claim, groups, x)
    if any(predicted(group.cells) for group in groups):
        for group in groups:
            _join(chart, predicted(group.cells), x, group.colour)
        return "Solid: predicted."
    regions = [part.region for part in claim.components if part.name == x]
    if claim.rule.scale == "exponent" and regions:
        low, high = regions[0].low, regions[0].high
        if low is not None and high is not None:
            for group in groups:
                _slope(chart, group, x, (low + high) / 2)
            return "Solid: the predicted slope, at the height of the data."
    return ""


def _critical_values(chart: Chart, claim: ClaimRow, groups: Sequence[Series], x: str) -> str:
    found = [
        (group, {c.critical for c in group.cells if c.critical is not None}) for group in groups
    ]
    for group, values in found:
        chart.add(Mark("upright", group.colour, sorted(values), style="critical"))
    known = any(values for _, values in found)
    lines = "Vertical lines: the predicted critical values." if known else ""
    shaded = [_brackets(chart, claim, group, x) for group in groups]
    return f"{lines} Shaded: the bracket of each crossing." if any(shaded) else lines


def _brackets(chart: Chart, claim: ClaimRow, group: Series, x: str) -> int:
    """Shade where the crossings of a series are, up to its last point where an end is open.

    Returns how many were shaded.
    """
    drawn = 0
    for component in claim.components if claim.rule.scale == "ratio" else []:
        about = component.params.items()
        cells = [c for c in group.cells if about and about <= c.params.items()]
        low, high = component.shown.low, component.shown.high
        unit = next((c.critical for c in cells if c.critical is not None), None)
        if unit is None or unit <= 0 or (low is None and high is None):
            continue
        xs = [value(cell, x) for cell in cells]
        left = min(xs) if low is None or low <= 0 else low * unit
        right = max(xs) if high is None else high * unit
        if left < right:
            chart.add(Mark("band", group.colour, [left, right]))
            drawn += 1
    return drawn


def _join(chart: Chart, heights: Heights, x: str, colour: str, style: str = "") -> list[float]:
    """Lines through the values of cells that differ in x alone; return those drawn."""
    drawn: list[float] = []
    at = {id(cell): height for cell, height in heights}
    for strand in strands([cell for cell, _ in heights], x):
        ys = [at[id(cell)] for cell in strand]
        chart.add(Mark("line", colour, [value(cell, x) for cell in strand], ys, style))
        drawn += ys
    return drawn


def _slope(chart: Chart, group: Series, x: str, exponent: float) -> None:
    for strand in strands([c for c in group.cells if min(observed(c), value(c, x)) > 0], x):
        xs = [value(cell, x) for cell in strand]
        constant = fmean(
            math.log(observed(cell)) - exponent * math.log(value(cell, x)) for cell in strand
        )
        ys = [math.exp(constant) * at**exponent for at in xs]
        chart.add(Mark("line", group.colour, xs, ys))


def _controls(
    chart: Chart, claim: ClaimRow, groups: Sequence[Series], plot: Plot
) -> tuple[list[float], str]:
    """Dashed predictions of the planted wrong theories; in a crowded plot for one group only.

    Returns the values drawn, and the label of the one group. Critical values make no curve.
    """
    if claim.rule.locates:
        return [], ""
    names = [control.id for control in claim.controls]
    wrong = {(group.label, name): _under(group.cells, name) for group in groups for name in names}
    where = ""
    if sum(map(bool, wrong.values())) > CROWDED and len(groups) > 1:
        departures = {
            group.label: max(
                _departure(wrong[group.label, name], log="y" in plot.log) for name in names
            )
            for group in groups
        }
        where = max(departures, key=departures.__getitem__)
    drawn: list[float] = []
    for index, name in enumerate(names):
        style, before = DASHES[index % len(DASHES)], len(drawn)
        for group in groups:
            if where in ("", group.label):
                heights = wrong[group.label, name]
                drawn += _join(chart, heights, plot.x or "", group.colour, style)
        if len(drawn) > before:
            chart.add(Mark("line", MUTED, style=style, label=f"control: {name}"))
    return drawn, where


def _under(cells: Sequence[CellRow], control: str) -> Heights:
    """The cells with a control's prediction; none where it is the theory's in all of them."""
    found = predicted(cells, control)
    return found if any(wrong != cell.predicted for cell, wrong in found) else []


def _departure(heights: Heights, *, log: bool) -> float:
    """How far a control leaves the theory, as the eye sees it on the axis."""
    found = [0.0]
    for cell, wrong in heights:
        if isinstance(cell.predicted, float):
            scale = abs(wrong) + abs(cell.predicted) if log else 1.0
            found.append(abs(wrong - cell.predicted) / (scale or 1.0))
    return max(found)


def _limits(chart: Chart, values: Sequence[float]) -> None:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if chart.y.log:
        margin = 1.05 * math.exp(0.06 * (math.log(high) - math.log(low)))
        chart.y.ends = low / margin, high * margin
    else:
        chart.y.ends = padded(low, high, 0.08)


def _caption(lines: str, *, controls: bool, where: str) -> str:
    parts = ["Points: observed means with their intervals.", lines]
    if controls:
        only = f", drawn for {where} only" if where else ""
        parts.append(f"Dashed: what the planted wrong theories predict{only}.")
    return " ".join(filter(None, parts))
