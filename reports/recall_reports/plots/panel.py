"""One matplotlib panel as an SVG string that fits into a page.

Colours are written as CSS variables, so that the page decides them (light, dark, print). Ids are
made unique, because the ids of all inline SVGs of a page share one name space. The text stays
text: it can be searched, read aloud and set in the page's own font.
"""

import io
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure

SERIES = 8
MARKERS = "osD^vPX*"
DASHES = ((4.0, 2.0), (1.2, 1.6), (6.0, 1.6, 1.2, 1.6), (2.5, 1.2))

# Colours that stand for CSS variables until the figure has been written.
INK, MUTED, GRID, CARD = "#010101", "#020202", "#030303", "#040404"
COLOURS = tuple(f"#0500{index:02d}" for index in range(SERIES))
VARIABLES = {INK: "ink", MUTED: "muted", GRID: "grid", CARD: "card"} | {
    colour: f"series{index}" for index, colour in enumerate(COLOURS)
}

WIDTH, HEIGHT = 4.5, 3.1  # inches; 72 units of the view box each
LEGEND_ROW = 0.21
STYLE: dict[Any, Any] = {  # matplotlib has a literal type for the names of its settings
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.grid.which": "major",
    "axes.labelcolor": INK,
    "axes.labelsize": 10.5,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "figure.facecolor": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "recall-claims",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.bottom": False,  # the grid marks the ticks
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.left": False,
    "ytick.labelcolor": INK,
}

Painter = Callable[[Axes, dict[str, Any]], str]


@dataclass(frozen=True)
class Panel:
    """One drawn panel: its SVG and the sentence that says how to read it."""

    svg: Markup
    caption: str


def draw(paint: Painter, claim: dict[str, Any], *, name: str) -> Panel:
    """Let `paint` fill axes, put the legend below them, and return the panel.

    Args:
        paint: draws a claim into axes and returns the caption.
        name: unique in the page; prefixes the ids inside the SVG.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        axes = figure.add_axes((0.165, 0.165, 0.815, 0.735))
        caption = paint(axes, claim)
        _legend_below(figure, axes)
        target = io.StringIO()
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(target, format="svg", metadata=metadata)
    return Panel(svg=_inline(target.getvalue(), name, caption), caption=caption)


def _legend_below(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    order = sorted(range(len(labels)), key=lambda index: labels[index].startswith("control"))
    handles, labels = [handles[i] for i in order], [labels[i] for i in order]
    columns = max(1, min(len(labels), 4, int(54 / (6 + max(map(len, labels))))))
    rows = -(-len(labels) // columns)
    height = HEIGHT + LEGEND_ROW * rows
    figure.set_size_inches(WIDTH, height)
    left, bottom, width, part = axes.get_position().bounds
    axes.set_position(
        (left, (bottom * HEIGHT + LEGEND_ROW * rows) / height, width, part * HEIGHT / height)
    )
    figure.legend(
        handles,
        labels,
        ncols=columns,
        loc="lower center",
        borderaxespad=0.2,
        labelspacing=0.25,
        columnspacing=1.4,
        handlelength=2.0,
        handletextpad=0.5,
    )


def _inline(svg: str, name: str, caption: str) -> Markup:
    body = svg[svg.index("<svg") :]
    size = re.search(r'viewBox="[^"]*"', body)
    body = _unclipped(_lean(body[body.index(">") + 1 :]))
    prefix = f"p{zlib.crc32(name.encode()):x}"  # short, for it is written with every point
    used = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([^")]+)', body))
    ids = {old: f"{prefix}-{index}" for index, old in enumerate(used)}
    body = re.sub(r'\s+id="([^"]*)"', lambda m: f' id="{ids[m[1]]}"' if m[1] in ids else "", body)
    body = re.sub(r'(href="#|url\(#)([^")]+)', lambda m: m[1] + ids[m[2]], body)
    for colour, variable in VARIABLES.items():
        body = body.replace(colour, f"var(--{variable})")
    opening = (
        f'<svg class="plot" role="img" aria-labelledby="{prefix}-title" '
        f'{size[0] if size else ""}><title id="{prefix}-title">{escape(caption)}</title>'
    )
    return Markup(opening + _without_bare_groups(body))


def _lean(body: str) -> str:
    """Drop what matplotlib writes and a page does not need; one decimal is a tenth of a point."""
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", body, flags=re.S)
    body = re.sub(r' transform="rotate\(-0 [^"]*"', "", body)
    body = re.sub(r"(?:\bfont-family: )?'DejaVu Sans', sans-serif;? ?", "", body)
    body = re.sub(r'<path d="[^"]*" style="fill: none"/>|<path (?!d=|id=)[^>]*/>', "", body)
    body = re.sub(r' (d|x|y|width|height|transform)="([^"]*)"', _coarse, body)
    body = re.sub(r"\s*\n\s*", " ", body.replace("xlink:href=", "href="))
    return re.sub(r"\s*<defs>\s*</defs>\s*", "", body)


def _coarse(match: re.Match[str]) -> str:
    """An attribute with one decimal a number, and without the spaces that path data can spare."""
    name, text = match.groups()
    text = re.sub(r"-?\d+\.\d+", lambda m: f"{float(m[0]):.1f}".removesuffix(".0"), text)
    if name == "d":
        text = re.sub(r"\s*([A-Za-z])\s*", r"\1", text).strip()
    return f' {name}="{text}"'


def _unclipped(body: str) -> str:
    """Drop clip paths from the paths that they do not cut."""
    boxes = {
        name: tuple(float(value) for value in box)
        for name, *box in re.findall(
            r'<clipPath id="([^"]*)"> <rect x="([^"]*)" y="([^"]*)" width="([^"]*)" '
            r'height="([^"]*)"',
            body,
        )
    }

    def inside(match: re.Match[str]) -> str:
        x, y, width, height = boxes[match[2]]
        numbers = [float(value) for value in re.findall(r"-?[\d.]+", match[1])]
        across, down = numbers[::2], numbers[1::2]
        whole = x <= min(across) and max(across) <= x + width
        whole = whole and y <= min(down) and max(down) <= y + height
        return f'<path d="{match[1]}"' if whole else match[0]

    return re.sub(r'<path d="([ML\d. -]+)" clip-path="url\(#([^)]*)\)"', inside, body)


def _without_bare_groups(body: str) -> str:
    """Drop groups that carry no attribute of use, keeping what is in them."""
    body = re.sub(r"<g\b[^>]*/>", "", body)
    kept: list[bool] = []

    def keep(match: re.Match[str]) -> str:
        if match[1] == "</g>":
            return match[1] if kept.pop() else ""
        kept.append(match[1] != "<g>")
        return match[1] if kept[-1] else ""

    return re.sub(r" ?(<g\b[^>]*>|</g>) ?", keep, body)
