"""A map of which of several observables is the largest: measured by colour, predicted by letter."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from recall_reports import phrases
from recall_reports.plots.panel import CARD, COLOURS, INK
from recall_reports.plots.series import scale_axis, value
from recall_reports.record import Cell, Claim, Plot

SPREAD = 0.19  # inches between cells that differ only in parameters off the map
BOX: dict[str, Any] = {"marker": "s", "markerfacecolor": "none", "markeredgecolor": INK}


def paint(axes: Axes, claim: Claim, plot: Plot) -> str:
    """Draw the claim's cells; return the caption."""
    x, y = plot.x or "", plot.group[0]
    cells = claim.cells
    names = sorted({str(name) for cell in cells for name in (cell.predicted, cell.observed)})
    colours = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(names)}
    crowd: dict[tuple[float, float], list[Cell]] = {}
    for cell in cells:
        crowd.setdefault((value(cell, x), value(cell, y)), []).append(cell)
    for place, members in crowd.items():
        for index, cell in enumerate(members):
            aside = SPREAD * (index - (len(members) - 1) / 2)
            _point(axes, place, cell, aside, colours)
    for label, style in _keys(cells, colours).items():
        axes.plot([], [], linestyle="none", markersize=7, label=label, **style)
    for which, name in (("x", x), ("y", y)):
        values = [value(cell, name) for cell in cells]
        wide = bool(values) and min(values) > 0 and max(values) / min(values) > 5
        log = wide or (which == "x" and "x" in plot.log)
        scale_axis(axes, which, values, log=log, at_values=True)
    xs, ys = zip(*crowd, strict=True)
    axes.update_datalim([(min(xs), min(ys)), (max(xs), max(ys))])
    axes.margins(0.12 if len(crowd) < len(cells) else 0.09, 0.09)
    axes.autoscale_view()
    axes.set_xlabel(plot.x_label or phrases.axis(x, claim.symbols))
    axes.set_ylabel(plot.y_label or phrases.axis(y, claim.symbols))
    axes.set_title("Which is largest")
    return _caption(cells, crowded=len(crowd) < len(cells))


def _disagrees(cell: Cell) -> bool:
    return cell.observed != cell.predicted


def _point(
    axes: Axes, place: tuple[float, float], cell: Cell, aside: float, colours: dict[str, str]
) -> None:
    """One cell, moved aside by so many inches: a disc, and a box where theory and data differ."""
    figure = axes.get_figure()
    assert figure is not None
    transform = axes.transData + ScaledTranslation(aside, 0, figure.dpi_scale_trans)
    axes.plot(
        *place,
        marker="o",
        color=colours[str(cell.observed)],
        markersize=12,
        linestyle="none",
        transform=transform,
    )
    if _disagrees(cell):
        axes.plot(*place, markersize=15, linestyle="none", transform=transform, **BOX)
        axes.annotate(
            f"is {cell.observed}",
            place,
            xycoords=transform,
            xytext=(0, -13.5),
            textcoords="offset points",
            fontsize=7,
            ha="center",
            color=INK,
        )
    axes.annotate(
        _short(str(cell.predicted)),
        place,
        xycoords=transform,
        ha="center",
        va="center_baseline",
        color=CARD,
        fontsize=8,
        fontweight="bold",
    )


def _short(name: str) -> str:
    """A name that fits into a disc: as it is up to two letters, else its initials."""
    return name if len(name) < 3 else "".join(word[0] for word in name.split()[:2]).upper()


def _key(name: str) -> str:
    return name if _short(name) == name else f"{name} ({_short(name)})"


def _keys(cells: list[Cell], colours: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The entries of the legend."""
    found = {cell.observed for cell in cells}
    keys: dict[str, dict[str, Any]] = {
        f"measured {_key(name)}": {"marker": "o", "color": colour}
        for name, colour in colours.items()
        if name in found
    }
    if any(map(_disagrees, cells)):
        keys["not the predicted one"] = BOX
    return keys


def _caption(cells: list[Cell], *, crowded: bool) -> str:
    caption = "Each point is a cell: colour is the measured largest, letter the predicted one."
    if crowded:
        caption += " Points side by side differ in the other parameters."
    if any(map(_disagrees, cells)):
        caption += " Boxed: the two disagree."
    return caption
