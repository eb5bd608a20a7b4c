"""Observed against predicted for all cells; a right theory lies on the diagonal."""

from matplotlib.axes import Axes

from recall_reports.plots.panel import INK, MUTED
from recall_reports.plots.series import (
    bounds,
    near,
    observed,
    points,
    predicted,
    scale_axis,
    series,
)
from recall_reports.record import Claim, Plot

WRONG_MARKERS = ("x", "+", "1", "2")


def paint(axes: Axes, claim: Claim, plot: Plot) -> str:
    """Draw the claim's cells; return the caption."""
    values: list[float] = []
    for group in series(claim, plot):
        xs = [number for _, number in predicted(group.cells)]
        points(axes, group, xs, group.cells, zorder=3)
        values += xs + [observed(cell) for cell in group.cells]
    wrong = _controls(axes, claim)
    values += near(values, [*wrong, *bounds(claim.cells)])
    low, high = min(values, default=0.0), max(values, default=1.0)
    positive = low > 0
    log = positive and ("y" in plot.log or high / low > 30)
    span = (low / 1.3, high * 1.3) if log else _padded(low, high)
    axes.plot(span, span, color=INK, linewidth=1.0, label="observed = predicted", zorder=1)
    for which in "xy":
        scale_axis(axes, which, span, log=log)
    axes.set_xlim(*span)
    axes.set_ylim(*span)
    axes.set_xlabel(f"predicted {plot.y_label}".strip())
    axes.set_ylabel(f"observed {plot.y_label}".strip())
    axes.set_title("Observed against predicted")
    caption = "Each point is a cell with its interval; a right theory puts all on the line."
    if wrong:
        caption += " Crosses: the same cells where the planted wrong theories put them."
    return caption


def _padded(low: float, high: float) -> tuple[float, float]:
    margin = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
    return low - margin, high + margin


def _controls(axes: Axes, claim: Claim) -> list[float]:
    """Crosses where the planted wrong theories put the cells; returns their predictions."""
    values: list[float] = []
    for control, marker in zip(claim.controls, WRONG_MARKERS, strict=False):
        pairs = [
            (wrong, observed(cell))
            for cell in claim.cells
            if isinstance(wrong := cell.controls.get(control.id), float) and wrong != cell.predicted
        ]
        if pairs:
            axes.plot(
                *zip(*pairs, strict=True),
                marker=marker,
                linestyle="none",
                color=MUTED,
                markersize=6,
                label=f"control: {control.id}",
                zorder=2,
            )
            values += [wrong for wrong, _ in pairs]
    return values
