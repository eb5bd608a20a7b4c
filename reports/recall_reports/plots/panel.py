"""One matplotlib panel as an SVG string that fits into a page.

Colours are written as CSS variables, so that the page decides them (light, dark, print). Ids are
made unique, because the ids of all inline SVGs of a page share one name space. The text stays
text: it can be searched, read aloud and set in the page's own font.
"""

import io
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recall_reports.record import Claim, Plot

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

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"

Painter = Callable[[Axes, Claim, Plot], str]
Styles = dict[str, str]
"""Classes by the style that they stand for; plots of a page repeat a few thousands of times."""


@dataclass(frozen=True)
class Panel:
    """One drawn panel: its SVG and the sentence that says how to read it."""

    svg: Markup
    caption: str


def draw(paint: Painter, claim: Claim, plot: Plot, *, name: str, styles: Styles) -> Panel:
    """Let `paint` fill axes, put the legend below them, and return the panel.

    Args:
        paint: draws a claim into axes and returns the caption.
        claim: whose cells are drawn.
        plot: how.
        name: unique in the page; prefixes the ids inside the SVG.
        styles: classes of the page, to which those of this panel are added.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        axes = figure.add_axes((0.165, 0.165, 0.785, 0.735))  # half a label of 10,000 at the right
        caption = paint(axes, claim, plot)
        _legend_below(figure, axes)
        target = io.StringIO()
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(target, format="svg", metadata=metadata)
    return Panel(svg=_inline(target.getvalue(), name, caption, styles), caption=caption)


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


def _inline(svg: str, name: str, caption: str, styles: Styles) -> Markup:
    """The drawing with unique ids, classes for styles, and nothing that a page does not need."""
    drawn = ElementTree.fromstring(svg)
    prefix = f"p{zlib.crc32(name.encode()):x}"  # short, for it is written with every point
    used = [_target(node) for node in drawn.iter()]
    ids = {old: f"{prefix}-{new}" for new, old in enumerate(dict.fromkeys(filter(None, used)))}
    boxes = {
        clip.get("id", ""): [float(clip[0].get(key, "")) for key in ("x", "y", "width", "height")]
        for clip in drawn.iter(f"{SVG}clipPath")
    }
    root = Element("svg", {"class": "plot", "role": "img", "aria-labelledby": f"{prefix}-title"})
    root.set("viewBox", drawn.get("viewBox", ""))
    SubElement(root, "title", {"id": f"{prefix}-title"}).text = caption
    root.extend(kept for child in drawn for kept in _kept(child, ids, boxes, styles))
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _target(node: Element) -> str:
    """The id that an element refers to; empty if it refers to none."""
    return node.get(HREF, "").removeprefix("#") or _clip(node)


def _clip(node: Element) -> str:
    return node.get("clip-path", "").removeprefix("url(#").removesuffix(")")


def _kept(
    node: Element, ids: Mapping[str, str], boxes: Mapping[str, list[float]], styles: Styles
) -> Iterator[Element]:
    """An element as the page needs it: none, itself, or what is in a group without effect."""
    tag = node.tag.removeprefix(SVG)
    style = _style(node)
    invisible = tag == "path" and (not node.get("d") or style == "fill: none")
    if invisible or tag in ("metadata", "style"):
        return
    children = [kept for child in node for kept in _kept(child, ids, boxes, styles)]
    clip = _clip(node)
    if tag == "g" and not clip:
        yield from children
        return
    if tag in ("g", "defs") and not children:
        return
    kept = Element(tag)
    if node.get("id") in ids:
        kept.set("id", ids[node.get("id", "")])
    if node.get(HREF):
        kept.set("href", f"#{ids[_target(node)]}")
    for key in ("x", "y", "width", "height"):
        if key in node.attrib:
            kept.set(key, _short(node.attrib[key]))
    if "d" in node.attrib:
        kept.set("d", _path(node.attrib["d"]))
    if clip and not (tag == "path" and _inside(node.attrib["d"], boxes[clip])):
        kept.set("clip-path", f"url(#{ids[clip]})")
    if not node.get("transform", "rotate(-0 ").startswith("rotate(-0 "):
        kept.set("transform", node.attrib["transform"])
    if style:
        kept.set("class", styles.setdefault(style, f"s{len(styles)}"))
    kept.text = (node.text or "").strip() or None
    kept.extend(children)
    yield kept


def _style(node: Element) -> str:
    """The style of an element with the page's colours, and without a font, which is the page's."""
    parts = [part.strip() for part in node.get("style", "").split(";")]
    style = "; ".join(part for part in parts if not part.startswith("font-family"))
    for colour, variable in VARIABLES.items():
        style = style.replace(colour, f"var(--{variable})")
    return style


def _short(number: str) -> str:
    """With one decimal, a tenth of a point."""
    return f"{float(number):.1f}".removesuffix(".0")


def _path(data: str) -> str:
    """Path data with one decimal a number, and without the spaces that it can spare."""
    text = ""
    for token in data.split():
        apart = " " if text and not text[-1].isalpha() and not token.isalpha() else ""
        text += apart + (token if token.isalpha() else _short(token))
    return text


def _inside(data: str, box: Sequence[float]) -> bool:
    """Whether a path lies in a box, up to what is not drawn, so that it need not be clipped."""
    x, y, width, height = box
    numbers = [float(token) for token in data.split() if not token.isalpha()]
    return all(x - 0.05 < number < x + width + 0.05 for number in numbers[::2]) and all(
        y - 0.05 < number < y + height + 0.05 for number in numbers[1::2]
    )
