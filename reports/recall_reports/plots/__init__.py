"""Plots of a claim as inline SVG: observed points with intervals on the predicted curve."""

from functools import partial

from msgspec.structs import replace

from recall_reports.plots import collapse, curve, parity, phase_map, regime
from recall_reports.plots.panel import Painter, Panel, draw
from recall_reports.plots.series import is_number
from recall_reports.record import CellRow, ClaimRow
from recall_reports.record.values import Plot

__all__ = ["Panel", "panels"]

PAINTERS = {"curve": curve.paint, "map": phase_map.paint, "parity": parity.paint}


def panels(claim: ClaimRow) -> list[Panel]:
    """Draw a claim's plot, and a panel of its hunt's points if two parameters vary."""
    found, plot = [], claim.plot
    cells = [cell for cell in claim.cells if plot is not None and _drawable(cell, plot)]
    if plot is not None and cells:
        simulated = replace(claim, cells=cells)
        painters: list[Painter] = [PAINTERS[plot.kind]]
        if plot.kind == "map":
            painters += [partial(phase_map.paint, plane=plane) for plane in plot.tiles]
        if plot.collapse and plot.kind == "curve":
            painters += collapse.painters(simulated)
        found = [draw(paint, simulated, plot) for paint in painters]
    if claim.hunt is not None and len(regime.telling(claim.hunt.points)) == 2:
        found.append(draw(regime.paint, claim, Plot(kind="parity")))  # the plot is not read
    return found


def _drawable(cell: CellRow, plot: Plot) -> bool:
    """Whether a cell has the numbers that this kind of plot needs."""
    x = cell.params.get(plot.x or "")
    if plot.kind == "parity":
        return is_number(cell.observed) and is_number(cell.predicted)
    if plot.kind == "map":
        y = cell.params.get(next(iter(plot.group), ""))
        names = isinstance(cell.predicted, str) and isinstance(cell.observed, str)
        return is_number(x) and is_number(y) and names
    return is_number(x) and is_number(cell.observed)
