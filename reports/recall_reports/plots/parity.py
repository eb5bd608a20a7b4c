"""Observed against predicted for all cells; a right theory lies on the diagonal."""

from typing import Any

from matplotlib.axes import Axes

from recall_reports.plots.panel import INK, MUTED
from recall_reports.plots.series import errors, is_number, near, scale_axis, series

WRONG_MARKERS = ("x", "+", "1", "2")


def paint(axes: Axes, claim: dict[str, Any]) -> str:
    """Draw the claim's cells; return the caption."""
    plot = claim["plot"]
    values: list[float] = []
    for group in series(claim, plot.get("x") or ""):
        cells = group.cells
        predicted = [cell["predicted"] for cell in cells]
        axes.errorbar(
            predicted,
            [cell["observed"] for cell in cells],
            yerr=errors(cells),
            fmt=group.marker,
            color=group.colour,
            elinewidth=1.0,
            label=group.label or "observed",
            zorder=3,
        )
        values += predicted + [cell["observed"] for cell in cells]
    wrong = _controls(axes, claim)
    ends = [end for c in claim["cells"] for end in c["interval"] or () if end is not None]
    values += near(values, [*wrong, *ends])
    low, high = min(values, default=0.0), max(values, default=1.0)
    positive = low > 0
    log = positive and (bool(plot.get("log_y")) or high / low > 30)
    span = (low / 1.3, high * 1.3) if log else _padded(low, high)
    axes.plot(span, span, color=INK, linewidth=1.0, label="observed = predicted", zorder=1)
    for which in "xy":
        scale_axis(axes, which, span, log=log)
    axes.set_xlim(*span)
    axes.set_ylim(*span)
    axes.set_xlabel(f"predicted {plot.get('y_label') or ''}".strip())
    axes.set_ylabel(f"observed {plot.get('y_label') or ''}".strip())
    axes.set_title("Observed against predicted")
    caption = "Each point is a cell with its interval; a right theory puts all on the line."
    if wrong:
        caption += " Crosses: the same cells where the planted wrong theories put them."
    return caption


def _padded(low: float, high: float) -> tuple[float, float]:
    margin = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
    return low - margin, high + margin


def _controls(axes: Axes, claim: dict[str, Any]) -> list[float]:
    """Crosses where the planted wrong theories put the cells; returns their predictions."""
    values: list[float] = []
    for control, marker in zip(claim["controls"], WRONG_MARKERS, strict=False):
        pairs = [
            (cell["controls"][control["id"]], cell["observed"])
            for cell in claim["cells"]
            if is_number(cell.get("controls", {}).get(control["id"]))
            and cell["controls"][control["id"]] != cell["predicted"]
        ]
        if pairs:
            axes.plot(
                *zip(*pairs, strict=True),
                marker=marker,
                linestyle="none",
                color=MUTED,
                markersize=6,
                label=f"control: {control['id']}",
                zorder=2,
            )
            values += [predicted for predicted, _ in pairs]
    return values
