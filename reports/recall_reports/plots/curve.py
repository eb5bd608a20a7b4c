"""Observed means with their intervals against one parameter, on the predicted curve."""

import math
from collections.abc import Sequence
from statistics import fmean

from recall_reports import phrases
from recall_reports.plots.chart import DASHES, MUTED, Chart, Mark
from recall_reports.plots.panel import WRONG, WRONG_MARKERS
from recall_reports.plots.series import (
    Series,
    bounds,
    lines_of,
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
from recall_reports.record import ClaimRow
from recall_reports.record.values import Plot

ALLOWED = "critical dash1"


def paint(chart: Chart, claim: ClaimRow, plot: Plot) -> str:
    """Draw the claim's cells; return the caption."""
    x = plot.x or ""
    groups = series(claim, plot)
    cells = [cell for group in groups for cell in group.cells]
    lines = _lines(chart, claim, groups, plot)
    heights = [] if claim.rule.locates else [number for _, number in predicted(cells)]
    heights += [y for line in plot.line if not line.control for y in line.ys]
    heights += [observed(cell) for cell in cells]
    wrong, controls = _controls(chart, claim, groups, plot, heights)
    for group in groups:
        points(chart, group, [value(cell, x) for cell in group.cells], group.cells, direct=True)
    scale_axis(chart.x, [value(cell, x) for cell in cells], log="x" in plot.log, at_values=True)
    heights += near(heights, [*wrong, *bounds(cells)])
    scale_axis(chart.y, heights, log="y" in plot.log)
    low, high = min(heights, default=0.0), max(heights, default=1.0)
    margin = 1.05 * math.exp(0.06 * (math.log(high) - math.log(low))) if chart.y.log else 0.0
    chart.y.ends = (low / margin, high * margin) if margin else padded(low, high, 0.08)
    chart.x.label = plot.x_label or phrases.axis(x, claim.symbols)
    chart.y.label = plot.y_label
    points_are = "Points: means of the simulation, with their intervals."
    return " ".join(filter(None, (points_are, lines, controls)))


def _lines(chart: Chart, claim: ClaimRow, groups: Sequence[Series], plot: Plot) -> str:
    """Draw the theory's predictions; return the meaning of the lines, in words."""
    x = plot.x or ""
    words = [_critical_values(chart, claim, groups, x)] if claim.rule.locates else []
    lines = marks = False
    for group in groups:
        curves = lines_of(plot, group)
        for line in curves:
            chart.add(Mark("line", group.colour, line.xs, line.ys))
        lines |= bool(curves)
        lone = [] if curves or claim.rule.locates else predicted(group.cells)
        if lone:
            xs, ys = [value(cell, x) for cell, _ in lone], [number for _, number in lone]
            chart.add(Mark("dots", group.colour, xs, ys, "_", 6))
            marks = True
    if lines or marks:
        drawn = " and ".join(["Lines"] * lines + ["dashes" if lines else "Dashes"] * marks)
        return " ".join([f"{drawn}: theory.", *words])
    regions = [part.region for part in claim.components if part.name == x]
    if claim.rule.scale == "exponent" and regions and not claim.rule.locates:
        low, high = regions[0].low, regions[0].high
        if low is not None and high is not None:
            for group in groups:
                _slope(chart, group, x, (low + high) / 2)
            return "Lines: the predicted slope, at the height of the data."
    return " ".join(words)


def _critical_values(chart: Chart, claim: ClaimRow, groups: Sequence[Series], x: str) -> str:
    for group in groups:
        values = {cell.critical for cell in group.cells if cell.critical is not None}
        chart.add(Mark("upright", group.colour, sorted(values), style="critical"))
    for group in groups:
        _brackets(chart, claim, group, x)
    drawn = {mark.style or mark.kind for mark in chart.marks if mark.xs}
    words = {
        "critical": "Vertical lines: predicted critical values.",
        "band": "Shaded: where each crossing is shown to be.",
        ALLOWED: "Dotted: the ends of the region.",
    }
    return " ".join(text for style, text in words.items() if style in drawn)


def _brackets(chart: Chart, claim: ClaimRow, group: Series, x: str) -> None:
    """Shade intervals of a series' critical values; open ends are at the outer cells."""
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
        ends = component.region.ends
        if ends[0] > 1 or ends[1] < 1:  # the prediction itself is outside the region
            xs = [end * unit for end in ends if 0 < end < math.inf]
            chart.add(Mark("upright", group.colour, xs, style=ALLOWED))


def _slope(chart: Chart, group: Series, x: str, exponent: float) -> None:
    for strand in strands([c for c in group.cells if min(observed(c), value(c, x)) > 0], x):
        xs = [value(cell, x) for cell in strand]
        constant = fmean(
            math.log(observed(cell)) - exponent * math.log(value(cell, x)) for cell in strand
        )
        ys = [math.exp(constant) * at**exponent for at in xs]
        chart.add(Mark("line", group.colour, xs, ys))


def _controls(
    chart: Chart, claim: ClaimRow, groups: Sequence[Series], plot: Plot, heights: list[float]
) -> tuple[list[float], str]:
    """Draw wrong theories in grey, for the series where a control differs most from theory.

    Returns their values, and what the caption says about them. Controls that predict critical
    values have no curve.
    """
    names = [] if claim.rule.locates else [control.id for control in claim.controls]

    def departure(group: Series) -> tuple[bool, float]:
        """Return whether a control has a curve, and the largest gap of a control from the theory.

        On a log axis the gap is relative.
        """
        gaps = [0.0]
        for cell, wrong in (one for name in names for one in predicted(group.cells, name)):
            if isinstance(cell.predicted, float):
                scale = abs(wrong) + abs(cell.predicted) if "y" in plot.log else 1.0
                gaps.append(abs(wrong - cell.predicted) / (scale or 1.0))
        return any(lines_of(plot, group, name) for name in names), max(gaps)

    group = max(groups, key=departure)
    values: list[float] = []
    beyond = []
    for index, name in enumerate(names):
        label, style = f"{WRONG}{name}", DASHES[index % len(DASHES)]
        marks = [
            Mark("line", MUTED, line.xs, line.ys, style, label=label, name=label)
            for line in lines_of(plot, group, name)
        ]
        dots = [] if marks else predicted(group.cells, name)
        if any(wrong != cell.predicted for cell, wrong in dots):
            xs, ys = [value(cell, plot.x or "") for cell, _ in dots], [y for _, y in dots]
            marker = WRONG_MARKERS[index % len(WRONG_MARKERS)]
            marks = [Mark("dots", MUTED, xs, ys, marker, size=4.5, label=label)]
        drawn = [y for mark in marks for y in mark.ys]
        if near(heights, drawn):
            for mark in marks:
                chart.add(mark)
            values += drawn
        elif drawn:
            beyond.append(name)
    where = f", for {group.label}" if len(groups) > 1 else ""
    told = [f"Grey: wrong theories{where}."] * bool(values)
    told += [f"Beyond the axis: {', '.join(beyond)}."] * bool(beyond)
    return values, " ".join(told)
