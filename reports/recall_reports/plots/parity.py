"""Observed against predicted for all cells; a right theory lies on the diagonal."""

from itertools import cycle

from recall_reports.plots.chart import INK, MUTED, Chart, Mark
from recall_reports.plots.panel import WRONG, WRONG_MARKERS
from recall_reports.plots.series import (
    bounds,
    near,
    observed,
    padded,
    points,
    predicted,
    scale_axis,
    series,
)
from recall_reports.record import ClaimRow
from recall_reports.record.values import Plot


def paint(chart: Chart, claim: ClaimRow, plot: Plot) -> str:
    """Draw the claim's cells; return the caption."""
    cells = claim.cells
    values = [number for _, number in predicted(cells)] + [observed(cell) for cell in cells]
    wrong = _controls(chart, claim)
    values += near(values, [*wrong, *bounds(cells)])
    low, high = min(values, default=0.0), max(values, default=1.0)
    positive = low > 0
    log = positive and ("y" in plot.log or high / low > 30)
    span = (low / 1.3, high * 1.3) if log else padded(low, high, 0.06)
    chart.add(Mark("line", INK, span, span, "thin", label="simulated = predicted"))
    for group in series(claim, plot):
        points(chart, group, [number for _, number in predicted(group.cells)], group.cells)
    for axis, word in ((chart.x, "predicted"), (chart.y, "simulated")):
        scale_axis(axis, span, log=log)
        axis.ends, axis.label = span, f"{word} {plot.y_label}".strip()
    caption = (
        "Points: cells of the simulation, with their intervals. A right theory is on the line."
    )
    if wrong:
        caption += " Grey: the same cells where wrong theories put them."
    return caption


def _controls(chart: Chart, claim: ClaimRow) -> list[float]:
    """Draw cells where planted wrong theories put them; return these theories' predictions."""
    alike: dict[tuple[tuple[float, float], ...], list[str]] = {}  # controls at the same places
    for control in claim.controls:
        cells = [(c, x) for c, x in predicted(claim.cells, control.id) if x != c.predicted]
        places = tuple((wrong, observed(cell)) for cell, wrong in cells)
        alike.setdefault(places, []).append(control.id)
    values: list[float] = []
    for (places, names), marker in zip(alike.items(), cycle(WRONG_MARKERS), strict=False):
        xs, ys = [x for x, _ in places], [y for _, y in places]
        if xs:
            name = f"{WRONG}{', '.join(names)}"
            chart.add(Mark("dots", MUTED, xs, ys, marker, size=4.5, label=name))
            values += xs
    return values
