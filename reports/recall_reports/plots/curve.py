"""Observed means with their intervals against one parameter, on the predicted curve."""

import math
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes

from recall_reports import words
from recall_reports.plots.panel import DASHES, MUTED
from recall_reports.plots.series import (
    Cell,
    Series,
    errors,
    locates,
    near,
    numeric,
    scale_axis,
    series,
    strands,
)

CROWDED = 4


def paint(axes: Axes, claim: dict[str, Any]) -> str:
    """Draw the claim's cells; return the caption."""
    plot = claim["plot"]
    x = plot["x"]
    groups = series(claim, x)
    lines = _lines(axes, claim, groups, x)
    values = [cell["predicted"] for group in groups for cell in numeric(group.cells)]
    for group in groups:
        values += _observations(axes, group, x, label=group.label or "observed")
    wrong, where = ([], "") if locates(claim) else _controls(axes, claim, groups, x)
    scale_axis(axes, "x", _xs(groups, x), log=bool(plot.get("log_x")), at_values=True)
    values += near(values, [*wrong, *_bounds(groups)])
    scale_axis(axes, "y", values, log=bool(plot.get("log_y")))
    _limits(axes, values)
    axes.set_xlabel(plot.get("x_label") or words.symbol(x))
    axes.set_ylabel(plot.get("y_label") or "observed mean")
    axes.set_title("Observed and predicted" if lines else "Observed")
    return _caption(lines, shown=bool(wrong), where=where)


def _lines(axes: Axes, claim: dict[str, Any], groups: list[Series], x: str) -> str:
    """Draw what the theory predicts; return what the lines are, in words."""
    if locates(claim):
        return _critical_values(axes, groups)
    if any(numeric(group.cells) for group in groups):
        for group in groups:
            _predictions(axes, group, x)
        return "Solid: predicted."
    regions = [part["region"] for part in claim["components"] if part["name"] == x]
    if claim["rule"]["name"] == "Exponents" and regions and None not in regions[0]:
        for group in groups:
            _slope(axes, group, x, sum(regions[0]) / 2)
        return "Solid: the predicted slope, at the height of the data."
    return ""


def _xs(groups: list[Series], x: str) -> list[float]:
    return [float(cell["params"][x]) for group in groups for cell in group.cells]


def _critical_values(axes: Axes, groups: list[Series]) -> str:
    for group in groups:
        for value in {cell["critical"] for cell in numeric(group.cells, "critical")}:
            axes.axvline(value, color=group.colour, linewidth=1.1, alpha=0.7)
    known = any(numeric(group.cells, "critical") for group in groups)
    return "Vertical lines: the predicted critical values." if known else ""


def _predictions(axes: Axes, group: Series, x: str) -> None:
    for strand in strands(numeric(group.cells), x):
        axes.plot(
            [cell["params"][x] for cell in strand],
            [cell["predicted"] for cell in strand],
            color=group.colour,
        )


def _slope(axes: Axes, group: Series, x: str, exponent: float) -> None:
    for strand in strands([c for c in group.cells if min(c["observed"], c["params"][x]) > 0], x):
        xs = [cell["params"][x] for cell in strand]
        constant = fmean(
            math.log(cell["observed"]) - exponent * math.log(cell["params"][x]) for cell in strand
        )
        axes.plot(xs, [math.exp(constant) * value**exponent for value in xs], color=group.colour)


def _observations(axes: Axes, group: Series, x: str, *, label: str) -> list[float]:
    cells = group.cells
    axes.errorbar(
        [cell["params"][x] for cell in cells],
        [cell["observed"] for cell in cells],
        yerr=errors(cells),
        fmt=group.marker,
        color=group.colour,
        elinewidth=1.0,
        label=label,
    )
    return [cell["observed"] for cell in cells]


def _controls(
    axes: Axes, claim: dict[str, Any], groups: list[Series], x: str
) -> tuple[list[float], str]:
    """Dashed predictions of the planted wrong theories; in a crowded plot for one group only.

    Returns the values drawn, and the label of the one group.
    """
    names = [control["id"] for control in claim["controls"]]
    wrong = {(g.label, n): _under(g.cells, n) for g in groups for n in names}
    where = ""
    if sum(map(bool, wrong.values())) > CROWDED and len(groups) > 1:
        log = bool(claim["plot"].get("log_y"))
        cells = {g.label: [c for n in names for c in wrong[g.label, n]] for g in groups}
        where = max(cells, key=lambda label: _departure(cells[label], log=log))
    values: list[float] = []
    for index, name in enumerate(names):
        style: dict[str, Any] = {"linewidth": 1.3, "dashes": DASHES[index % len(DASHES)]}
        drawn = False
        for group in groups:
            shown = wrong[group.label, name] if where in ("", group.label) else []
            for strand in strands(shown, x):
                heights = [cell["predicted"] for cell in strand]
                places = [cell["params"][x] for cell in strand]
                axes.plot(places, heights, color=group.colour, **style)
                values += heights
                drawn = True
        if drawn:
            axes.plot([], [], color=MUTED, label=f"control: {name}", **style)
    return values, where


def _under(cells: list[Cell], control: str) -> list[Cell]:
    """The cells with a control's prediction in place of the theory's."""
    wrong = [
        {
            "params": cell["params"],
            "predicted": cell.get("controls", {}).get(control),
            "theory": cell["predicted"],
        }
        for cell in cells
    ]
    kept = numeric(wrong)
    return kept if any(cell["predicted"] != cell["theory"] for cell in kept) else []


def _departure(cells: list[Cell], *, log: bool) -> float:
    """How far a control leaves the theory, as the eye sees it on the axis."""
    pairs = [(cell["predicted"], cell["theory"]) for cell in numeric(cells, "theory")]
    scales = [abs(wrong) + abs(right) if log else 1.0 for wrong, right in pairs]
    return max(
        (
            abs(wrong - right) / (scale or 1.0)
            for (wrong, right), scale in zip(pairs, scales, strict=True)
        ),
        default=0.0,
    )


def _bounds(groups: list[Series]) -> list[float]:
    ends = [end for group in groups for cell in group.cells for end in cell["interval"] or ()]
    return [end for end in ends if end is not None]


def _limits(axes: Axes, values: list[float]) -> None:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if axes.get_yscale() == "log":
        margin = 1.05 * math.exp(0.06 * (math.log(high) - math.log(low)))
        axes.set_ylim(low / margin, high * margin)
        return
    margin = 0.08 * (high - low) or 0.08 * abs(high) or 1.0
    axes.set_ylim(low - margin, high + margin)


def _caption(lines: str, *, shown: bool, where: str) -> str:
    parts = ["Points: observed means with their intervals.", lines]
    if shown:
        only = f", drawn for {where} only" if where else ""
        parts.append(f"Dashed: what the planted wrong theories predict{only}.")
    return " ".join(filter(None, parts))
