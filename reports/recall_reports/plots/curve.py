"""Observed means with their intervals against one parameter, on the predicted curve."""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes

from recall_reports import phrases
from recall_reports.plots.panel import DASHES, MUTED
from recall_reports.plots.series import (
    Series,
    bounds,
    near,
    observed,
    points,
    predicted,
    scale_axis,
    series,
    strands,
    value,
)
from recall_reports.record import Cell, Claim, Plot

CROWDED = 4

Heights = list[tuple[Cell, float]]  # cells with the value at which each is drawn


def paint(axes: Axes, claim: Claim, plot: Plot) -> str:
    """Draw the claim's cells; return the caption."""
    x = plot.x or ""
    groups = series(claim, plot)
    cells = [cell for group in groups for cell in group.cells]
    lines = _lines(axes, claim, groups, x)
    for group in groups:
        points(axes, group, [value(cell, x) for cell in group.cells], group.cells)
    heights = [] if claim.rule.locates else [number for _, number in predicted(cells)]
    heights += [observed(cell) for cell in cells]
    wrong, where = _controls(axes, claim, groups, plot)
    scale_axis(axes, "x", [value(cell, x) for cell in cells], log="x" in plot.log, at_values=True)
    heights += near(heights, [*wrong, *bounds(cells)])
    scale_axis(axes, "y", heights, log="y" in plot.log)
    _limits(axes, heights)
    axes.set_xlabel(plot.x_label or phrases.axis(x, claim.symbols))
    axes.set_ylabel(plot.y_label or "observed mean")
    axes.set_title("Observed and predicted" if lines else "Observed")
    return _caption(lines, controls=bool(wrong), where=where)


def _lines(axes: Axes, claim: Claim, groups: Sequence[Series], x: str) -> str:
    """Draw what the theory predicts; return what the lines are, in words."""
    if claim.rule.locates:
        return _critical_values(axes, claim, groups, x)
    if any(predicted(group.cells) for group in groups):
        for group in groups:
            _join(axes, predicted(group.cells), x, color=group.colour)
        return "Solid: predicted."
    regions = [part.region for part in claim.components if part.name == x]
    if claim.rule.scale == "exponent" and regions:
        low, high = regions[0].low, regions[0].high
        if low is not None and high is not None:
            for group in groups:
                _slope(axes, group, x, (low + high) / 2)
            return "Solid: the predicted slope, at the height of the data."
    return ""


def _critical_values(axes: Axes, claim: Claim, groups: Sequence[Series], x: str) -> str:
    found = [
        (group, {c.critical for c in group.cells if c.critical is not None}) for group in groups
    ]
    for group, values in found:
        for critical in values:
            axes.axvline(critical, color=group.colour, linewidth=1.1, alpha=0.7)
    known = any(values for _, values in found)
    lines = "Vertical lines: the predicted critical values." if known else ""
    shaded = [_brackets(axes, claim, group, x) for group in groups]
    return f"{lines} Shaded: the bracket of each crossing." if any(shaded) else lines


def _brackets(axes: Axes, claim: Claim, group: Series, x: str) -> int:
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
            axes.axvspan(left, right, color=group.colour, alpha=0.12, linewidth=0)
            drawn += 1
    return drawn


def _join(axes: Axes, heights: Heights, x: str, **style: Any) -> list[float]:
    """Lines through the values of cells that differ in x alone; return those drawn."""
    drawn: list[float] = []
    at = {id(cell): height for cell, height in heights}
    for strand in strands([cell for cell, _ in heights], x):
        ys = [at[id(cell)] for cell in strand]
        axes.plot([value(cell, x) for cell in strand], ys, **style)
        drawn += ys
    return drawn


def _slope(axes: Axes, group: Series, x: str, exponent: float) -> None:
    for strand in strands([c for c in group.cells if min(observed(c), value(c, x)) > 0], x):
        xs = [value(cell, x) for cell in strand]
        constant = fmean(
            math.log(observed(cell)) - exponent * math.log(value(cell, x)) for cell in strand
        )
        axes.plot(xs, [math.exp(constant) * at**exponent for at in xs], color=group.colour)


def _controls(
    axes: Axes, claim: Claim, groups: Sequence[Series], plot: Plot
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
        style: dict[str, Any] = {"linewidth": 1.3, "dashes": DASHES[index % len(DASHES)]}
        before = len(drawn)
        for group in groups:
            if where in ("", group.label):
                heights = wrong[group.label, name]
                drawn += _join(axes, heights, plot.x or "", color=group.colour, **style)
        if len(drawn) > before:
            axes.plot([], [], color=MUTED, label=f"control: {name}", **style)
    return drawn, where


def _under(cells: Sequence[Cell], control: str) -> Heights:
    """The cells with a control's prediction; none where it is the theory's in all of them."""
    found = [
        (cell, wrong) for cell in cells if isinstance(wrong := cell.controls.get(control), float)
    ]
    return found if any(wrong != cell.predicted for cell, wrong in found) else []


def _departure(heights: Heights, *, log: bool) -> float:
    """How far a control leaves the theory, as the eye sees it on the axis."""
    found = [0.0]
    for cell, wrong in heights:
        if isinstance(cell.predicted, float):
            scale = abs(wrong) + abs(cell.predicted) if log else 1.0
            found.append(abs(wrong - cell.predicted) / (scale or 1.0))
    return max(found)


def _limits(axes: Axes, values: Sequence[float]) -> None:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if axes.get_yscale() == "log":
        margin = 1.05 * math.exp(0.06 * (math.log(high) - math.log(low)))
        axes.set_ylim(low / margin, high * margin)
        return
    margin = 0.08 * (high - low) or 0.08 * abs(high) or 1.0
    axes.set_ylim(low - margin, high + margin)


def _caption(lines: str, *, controls: bool, where: str) -> str:
    parts = ["Points: observed means with their intervals.", lines]
    if controls:
        only = f", drawn for {where} only" if where else ""
        parts.append(f"Dashed: what the planted wrong theories predict{only}.")
    return " ".join(filter(None, parts))
