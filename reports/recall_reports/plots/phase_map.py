"""A map of which of several observables is the largest: measured by colour, predicted by letter."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from recall_reports import words
from recall_reports.plots.panel import CARD, COLOURS, INK, MUTED
from recall_reports.plots.series import Cell, scale_axis

SPREAD = 0.19  # inches between cells that differ only in parameters off the map
BOX: dict[str, Any] = {"marker": "s", "markerfacecolor": "none", "markeredgecolor": INK}


def paint(axes: Axes, claim: dict[str, Any]) -> str:
    """Draw the claim's cells; return the caption."""
    plot = claim["plot"]
    x, y = plot["x"], plot["group"][0]
    cells = claim["cells"]
    names = sorted({str(cell["predicted"]) for cell in cells} | {*filter(None, map(winner, cells))})
    colours = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(names)}
    crowd: dict[tuple[Any, Any], list[Cell]] = {}
    for cell in cells:
        crowd.setdefault((cell["params"][x], cell["params"][y]), []).append(cell)
    for place, members in crowd.items():
        for index, cell in enumerate(members):
            aside = SPREAD * (index - (len(members) - 1) / 2)
            _point(axes, place, cell, aside, colours)
    for label, style in _keys(cells, colours).items():
        axes.plot([], [], linestyle="none", markersize=7, label=label, **style)
    for which, name in (("x", x), ("y", y)):
        values = [float(cell["params"][name]) for cell in cells]
        wide = bool(values) and min(values) > 0 and max(values) / min(values) > 5
        log = wide or (which == "x" and bool(plot.get("log_x")))
        scale_axis(axes, which, values, log=log, at_values=True)
    xs, ys = zip(*crowd, strict=True)
    axes.update_datalim([(min(xs), min(ys)), (max(xs), max(ys))])
    axes.margins(0.12 if len(crowd) < len(cells) else 0.09, 0.09)
    axes.autoscale_view()
    axes.set_xlabel(plot.get("x_label") or words.symbol(x))
    axes.set_ylabel(plot.get("y_label") or words.symbol(y))
    axes.set_title("Which is largest")
    return _caption(cells, crowded=len(crowd) < len(cells))


def winner(cell: Cell) -> str | None:
    """The measured largest observable of a cell, None where it is not separated from the next."""
    found = cell.get("winner", cell["observed"])
    return found if isinstance(found, str) else None


def _disagrees(cell: Cell) -> bool:
    return winner(cell) not in (None, str(cell["predicted"]))


def _point(
    axes: Axes, place: tuple[float, float], cell: Cell, aside: float, colours: dict[str, str]
) -> None:
    """One cell, moved aside by so many inches: a disc, and a box where theory and data differ."""
    figure = axes.get_figure()
    assert figure is not None
    transform = axes.transData + ScaledTranslation(aside, 0, figure.dpi_scale_trans)
    found = winner(cell)
    disc = _style(found, colours)
    axes.plot(*place, markersize=12, linestyle="none", transform=transform, **disc)
    if _disagrees(cell):
        axes.plot(*place, markersize=15, linestyle="none", transform=transform, **BOX)
        axes.annotate(
            f"is {found}",
            place,
            xycoords=transform,
            xytext=(0, -13.5),
            textcoords="offset points",
            fontsize=7,
            ha="center",
            color=INK,
        )
    axes.annotate(
        _short(str(cell["predicted"])),
        place,
        xycoords=transform,
        ha="center",
        va="center_baseline",
        color=CARD if found else INK,
        fontsize=8,
        fontweight="bold",
    )


def _style(name: str | None, colours: dict[str, str]) -> dict[str, Any]:
    if name is None:
        return {"marker": "o", "color": MUTED, "markerfacecolor": "none"}
    return {"marker": "o", "color": colours[name]}


def _short(name: str) -> str:
    """A name that fits into a disc: as it is up to two letters, else its initials."""
    return name if len(name) < 3 else "".join(word[0] for word in name.split()[:2]).upper()


def _key(name: str) -> str:
    return name if _short(name) == name else f"{name} ({_short(name)})"


def _keys(cells: list[Cell], colours: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The entries of the legend."""
    found = {winner(cell) for cell in cells}
    keys = {f"measured {_key(name)}": _style(name, colours) for name in colours if name in found}
    if None in found:
        keys["not separated"] = _style(None, colours)
    if any(map(_disagrees, cells)):
        keys["not the predicted one"] = BOX
    return keys


def _caption(cells: list[Cell], *, crowded: bool) -> str:
    caption = "Each point is a cell: colour is the measured largest, letter the predicted one."
    if crowded:
        caption += " Points side by side differ in the other parameters."
    if any(winner(cell) is None for cell in cells):
        caption += " Open: the measurement does not separate the largest two."
    if any(map(_disagrees, cells)):
        caption += " Boxed: the two disagree."
    return caption
