"""The plots of a claim as inline SVG: observed points with intervals on the predicted curve."""

from typing import Any

from recall_reports.plots import collapse, curve, parity, phase_map
from recall_reports.plots.panel import Panel, draw
from recall_reports.plots.series import Cell, is_number, locates

__all__ = ["Panel", "panels"]


def panels(claim: dict[str, Any]) -> list[Panel]:
    """All panels of a claim, in reading order; none where it declares no plot or has no data."""
    plot = claim["plot"]
    if plot is None:
        return []
    painters = []
    cells = map(_with_critical, claim["cells"]) if locates(claim) else claim["cells"]
    claim = {**claim, "cells": [cell for cell in cells if _drawable(cell, plot)]}
    if claim["cells"] and plot["kind"] != "none":
        painters.append({"curve": curve, "map": phase_map, "parity": parity}[plot["kind"]].paint)
        if plot.get("collapse") and plot["kind"] == "curve":
            painters.extend(collapse.painters(claim))
    return [
        draw(paint, claim, name=f"{claim['id']}-{index}") for index, paint in enumerate(painters)
    ]


def _with_critical(cell: Cell) -> Cell:
    """A cell of a rule that locates critical values, whose prediction is one, not a curve."""
    given = cell.get("critical")
    return {**cell, "critical": cell["predicted"] if given is None else given, "predicted": None}


def _drawable(cell: Cell, plot: dict[str, Any]) -> bool:
    """Whether a cell has the numbers that its kind of plot needs."""
    x = cell["params"].get(plot.get("x") or "")
    if plot["kind"] == "parity":
        return is_number(cell["observed"]) and is_number(cell["predicted"])
    if plot["kind"] == "map":
        y = cell["params"].get(next(iter(plot.get("group") or []), ""))
        return is_number(x) and is_number(y) and isinstance(cell["predicted"], str)
    return is_number(x) and is_number(cell["observed"])
