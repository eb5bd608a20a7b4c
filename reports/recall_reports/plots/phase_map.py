"""A map of which observable is largest: colour is by measurement, letter by prediction."""

import re
from collections.abc import Mapping
from itertools import pairwise

from recall_reports import phrases
from recall_reports.plots.chart import CARD, COLOURS, INK, Chart, Mark
from recall_reports.plots.series import scale_axis, value
from recall_reports.record import CellRow, ClaimRow
from recall_reports.record.values import Plot, Tiles
from recall_reports.summary import grouped

RING = 7.0  # growth of discs at one place, each around the last


def paint(chart: Chart, claim: ClaimRow, plot: Plot, *, plane: Tiles | None = None) -> str:
    """Draw the claim's cells as points; return the caption.

    With a plane, draw only the cells in this plane, over the plane's predictions.
    """
    x, y = plot.x or "", plot.group[0]
    names = {str(name) for cell in claim.cells for name in (cell.predicted, cell.observed)}
    names |= {name for tiles in plot.tiles for name in tiles.names}
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(sorted(names))}
    cells = claim.cells
    if plane is not None:
        cells = [cell for cell in cells if plane.params.items() <= cell.params.items()]
        background(chart, plane, colours, {name: _key(name, plot.words) for name in plane.names})
    crowd = grouped(cells, lambda cell: (value(cell, x), value(cell, y)))
    for place, members in crowd.items():
        unlike = list({(c.observed, c.predicted): c for c in reversed(members)}.values())[::-1]
        for index, cell in reversed(list(enumerate(unlike))):
            _point(chart, place, cell, RING * index, colours[str(cell.observed)])
    found = {str(cell.observed) for cell in cells}
    for name in sorted(found) if plane is None else ():
        label = f"measured {_key(name, plot.words)}"
        chart.add(Mark("dots", colours[name], style="o", size=7, label=label))
    if any(map(_disagrees, cells)):
        chart.add(Mark("dots", INK, style="box", size=7, label="not the predicted one"))
    for axis, name, label in ((chart.x, x, plot.x_label), (chart.y, y, plot.y_label)):
        values = [value(cell, name) for cell in claim.cells]
        wide = min(values) > 0 and max(values) / min(values) > 5
        scale_axis(axis, values, log=wide or (axis is chart.x and "x" in plot.log), at_values=True)
        axis.label, axis.margin = label or phrases.axis(name, claim.symbols), 0.09
    if plane is not None and plane.xs and plane.ys:
        chart.x.ends, chart.y.ends = (plane.xs[0], plane.xs[-1]), (plane.ys[0], plane.ys[-1])
        at = phrases.parameters(plane.params, claim.symbols)
        where = f", at {at}" if at else ""
        return f"Areas: the largest that theory predicts{where}. Points: the measured largest."
    caption = "Each point is a cell: colour is the measured largest, letter the predicted one."
    if len(crowd) < len(cells):
        caption += " Rings are cells at the same place that differ in the other parameters."
    return caption + " Boxed: the two disagree." * any(map(_disagrees, cells))


def background(
    chart: Chart, plane: Tiles, colours: Mapping[str, str], labels: Mapping[str, str]
) -> None:
    """Fill each name's tiles with its colour, joining neighbours in a row."""
    for index, name in enumerate(plane.names):
        xs: list[float] = []
        ys: list[float] = []
        for (low, high), row in zip(pairwise(plane.ys), plane.rows, strict=True):
            for run in re.finditer(f"{index}+", row):
                xs += [plane.xs[run.start()], plane.xs[run.end()]]
                ys += [high, low]
        if xs:
            chart.add(Mark("area", colours[name], xs, ys, label=labels[name]))


def _disagrees(cell: CellRow) -> bool:
    return cell.observed != cell.predicted


def _point(
    chart: Chart, place: tuple[float, float], cell: CellRow, wider: float, colour: str
) -> None:
    """Draw one cell as a disc, with a box where theory and data differ."""
    xs, ys = [place[0]], [place[1]]
    chart.add(Mark("dots", colour, xs, ys, "o", 12 + wider))
    if _disagrees(cell):
        chart.add(Mark("dots", INK, xs, ys, "box", 15 + wider))
        below = (0.0, 19 + wider / 2)
        chart.add(Mark("text", INK, xs, ys, "small", text=f"is {cell.observed}", aside=below))
    if not wider:
        letter = _short(str(cell.predicted))
        chart.add(Mark("text", CARD, xs, ys, "letter", text=letter, aside=(0, 3)))


def _short(name: str) -> str:
    """Shorten a name to fit into a disc: initials of two words, if it has more than two letters."""
    return name if len(name) < 3 else "".join(word[0] for word in name.split()[:2]).upper()


def _key(name: str, words: Mapping[str, str]) -> str:
    if name in words:
        return f"{name} {words[name]}"
    return name if _short(name) == name else f"{name} ({_short(name)})"
