"""A chart as an SVG that fits into a page.

Colours, strokes and fonts are classes of the page's style sheet, so that the page decides them
(light, dark, print). SVGs have no ids, which might clash within a page. Text stays text, so that
readers can search it, in the page's font.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from recall_reports.formula import signs
from recall_reports.plots import naming
from recall_reports.plots.chart import MUTED, Chart, Mark, Point
from recall_reports.record import ClaimRow
from recall_reports.record.values import Plot

WIDTH, RIGHT, TOP, TALL = 324.0, 312.0, 22.0, 164.0  # drawing's width; frame's right, top, height
BOTTOM = TOP + TALL
LETTER, ROW = 5.5, 15.0  # mean width of a character, height of a row of the legend


def _star(corners: int, turn: float, outer: float, inner: float = 0.0) -> list[Point]:
    """Return the corners of a polygon, clockwise from `turn` degrees right of the top.

    With `inner`, a star has further corners between these, at this distance from the middle.
    """
    distances = [outer, inner] if inner else [outer]
    number = corners * len(distances)
    angles = [math.radians(turn + 360 * index / number) for index in range(number)]
    return [
        (distance * math.sin(angle), -distance * math.cos(angle))
        for angle, distance in zip(angles, distances * corners, strict=True)
    ]


SPOKES = "x+12_|"
OUTLINES = {  # outlines of dots of radius 1; discs have none
    "s": _star(4, 45, 1.4),
    "D": _star(4, 0, 1.4),
    "^": _star(3, 0, 1.3),
    "v": _star(3, 180, 1.3),
    "P": _star(4, 0, 1.5, 0.6),
    "X": _star(4, 45, 1.5, 0.6),
    "*": _star(5, 0, 1.5, 0.6),
    "x": _star(4, 45, 1.4),
    "+": _star(4, 0, 1.2),
    "1": _star(3, 180, 1.2),
    "2": _star(3, 0, 1.2),
    "_": _star(2, 90, 2.2),
    "|": _star(2, 0, 2.4),
    "box": _star(4, 45, 1.4),
}

WRONG = "wrong: "
"""Beginning of the legend's names of wrong theories."""
WRONG_MARKERS = "x+12^vDs"
Painter = Callable[[Chart, ClaimRow, Plot], str]
Place = Callable[[float], float]


@dataclass(frozen=True)
class Panel:
    """One drawn panel: its SVG and the sentence that explains it."""

    svg: Markup
    caption: str


def draw(paint: Painter, claim: ClaimRow, plot: Plot) -> Panel:
    """Make the panel of a chart that `paint` fills, with the caption that `paint` returns."""
    chart = Chart()
    caption = signs(paint(chart, claim, plot))
    return Panel(svg(chart, caption), caption)


def svg(chart: Chart, caption: str) -> Markup:
    """Write a chart as an SVG."""
    numbers = chart.y.labels()
    left = max(30.0, LETTER * max(map(len, numbers), default=0) + 10)
    across, up = chart.x.places(left, RIGHT - left), chart.y.places(BOTTOM, -TALL)
    xs = _apart({label: across(value) for label, value in chart.x.labels().items()})
    ys = {label: up(value) for label, value in numbers.items()}
    written, names = _names(chart, across, up, (left, TOP, RIGHT, BOTTOM))
    legend, height = _legend([m for m in chart.marks if m.label and id(m) not in written])
    lines = [step for x in xs.values() for step in ("M", x, TOP, "v", TALL)]
    lines += [step for y in ys.values() for step in ("M", left, y, "H", RIGHT)]
    inside = [piece for mark in chart.marks for piece in _drawn(mark, across, up)]
    clipped = '<svg x="{0}" y="{1}" width="{2}" height="{3}" viewBox="{0} {1} {2} {3}">{4}</svg>'
    box = (_short(number) for number in (left, TOP, RIGHT - left, TALL))
    pieces = [
        _path("grid", *lines),
        Markup(clipped).format(*box, _join(inside)),
        _path("frame", "M", left, TOP, "v", TALL, "H", RIGHT),
        _text((0, TOP - 25), chart.title, "heading"),
        _text((0, TOP - 8), chart.y.label, "axis up"),
        *(_text((x, BOTTOM + 14), label) for label, x in xs.items()),
        *(_text((left - 5, y + 3.5), label, "end") for label, y in ys.items()),
        _text(((left + RIGHT) / 2, BOTTOM + 30), chart.x.label, "axis"),
        *names,
        *legend,
    ]
    top = -16 if chart.title else 0
    found = Markup(
        '<svg class="plot" role="img" aria-label="{}" viewBox="0 {} {} {}" '
        'preserveAspectRatio="xMinYMin">{}</svg>'
    )
    axes = f"{chart.y.label} against {chart.x.label}. " if chart.y.label else ""
    return found.format(axes + caption, top, _short(WIDTH), _short(height - top), _join(pieces))


def _apart(places: Mapping[str, float]) -> dict[str, float]:
    """Keep each axis label unless it overlaps the last one kept."""
    found: dict[str, float] = {}
    end = -math.inf
    for label, x in sorted(places.items(), key=lambda one: one[1]):
        half = LETTER * len(label) / 2
        if x - half > end and x + half < WIDTH:
            found[label], end = x, x + half + 4
    return found


def _names(
    chart: Chart, across: Place, up: Place, frame: naming.Box
) -> tuple[set[int], list[Markup]]:
    """Write names next to marks; return the ids of these marks, and the names.

    A name that would hide something goes into the legend instead, if its mark has a label. If such
    a mark is a series, not a wrong theory, and all marks have labels, all names go there.
    """
    if not any(mark.name for mark in chart.marks):
        return set(), []
    curves = {
        id(mark): [(across(x), up(y)) for x, y in zip(mark.xs, mark.ys, strict=True)]
        for mark in chart.marks
        if mark.kind in ("line", "dots") and mark.xs
    }
    drawn = [spot for curve in curves.values() for spot in naming.along(curve)]
    drawn += [
        spot
        for mark in chart.marks
        for x, ends in zip(mark.xs, mark.whiskers, strict=False)
        for spot in naming.along([(across(x), up(end)) for end in ends])
    ]
    named = [mark for mark in chart.marks if mark.name and id(mark) in curves]
    named.sort(key=lambda mark: mark.colour == MUTED)  # wrong theories last
    legend = all(mark.label for mark in named)
    curved = [(mark.name, curves[id(mark)]) for mark in named]
    spots = naming.place(curved, drawn, frame, strict=legend)
    hidden = [m for m, (*_, free) in zip(named, spots, strict=True) if m.label and not free]
    if any(mark.colour != MUTED for mark in hidden):
        hidden = named if legend else hidden
    below = {*map(id, hidden)}
    texts = [
        _text(spot, mark.name, f"text {mark.colour} {anchor}".rstrip())
        for mark, (spot, anchor, _) in zip(named, spots, strict=True)
        if id(mark) not in below
    ]
    return {id(mark) for mark in named} - below, texts


def _drawn(mark: Mark, across: Place, up: Place) -> Iterator[Markup]:
    """Yield the elements of a mark."""
    aside, below = mark.aside
    xs = [across(x) + aside for x in mark.xs]
    spots = list(zip(xs, [up(y) + below for y in mark.ys], strict=False))
    look = " ".join(filter(None, (mark.kind, mark.style, mark.colour)))
    if mark.kind == "text":
        yield from (_text(spot, mark.text, look) for spot in spots)
    elif mark.kind == "area":
        corners = zip(spots[::2], spots[1::2], strict=True)
        yield _path(
            look,
            *(
                step
                for (left, top), (right, bottom) in corners
                for step in ("M", left, top, "H", right, "V", bottom, "H", left, "z")
            ),
        )
    elif mark.kind == "band":
        left, right = xs
        yield _path(look, "M", left, TOP, "H", right, "v", TALL, "H", left, "z")
    elif mark.kind == "upright":
        yield _path(look, *(step for x in xs for step in ("M", x, TOP, "v", TALL)))
    elif mark.kind == "line" and spots:
        yield _path(look, "M", *(number for spot in spots for number in spot))
    elif spots:
        ends = [(x, up(high), up(low)) for x, (low, high) in zip(xs, mark.whiskers, strict=False)]
        rods = [step for x, *ys in ends if ys[0] != ys[1] for step in ("M", x, ys[0], "V", ys[1])]
        if rods:
            yield _path(f"whiskers {mark.colour}", *rods)
        yield _dots(mark, spots)


def _dots(mark: Mark, spots: Sequence[Point]) -> Markup:
    """Draw all dots of a mark as one path: discs, stars or polygons, or spokes."""
    steps: list[str | float] = []
    radius = mark.size / 2
    for x, y in spots:
        corners = [(x + radius * a, y + radius * b) for a, b in OUTLINES.get(mark.style, ())]
        if not corners:
            half = (radius, radius, 0, 1, 0)
            steps += ["M", x - radius, y, "a", *half, mark.size, 0, "a", *half, -mark.size, 0, "z"]
        elif mark.style in SPOKES:
            steps += [step for corner in corners for step in ("M", x, y, "L", *corner)]
        else:
            steps += ["M", *(number for corner in corners for number in corner), "z"]
    look = "spokes" if mark.style in (*SPOKES, "box") else "dots"
    return _path(f"{look} {mark.colour}", *steps)


def _legend(marks: Sequence[Mark]) -> tuple[list[Markup], float]:
    """Draw the legend below the chart, controls last; return it and the drawing's height."""
    marks = sorted(marks, key=lambda mark: mark.label.startswith(WRONG))
    width = 36 + LETTER * max((len(mark.label) for mark in marks), default=0)
    columns = max(1, min(len(marks), 4, int(WIDTH / width)))
    rows = -(-len(marks) // columns)
    pieces = []
    for index, mark in enumerate(marks):
        x = (WIDTH - columns * width) / 2 + index // rows * width + 4
        y = BOTTOM + 44 + ROW * (index % rows)
        if mark.kind == "dots":
            pieces.append(_dots(mark, [(x + 10, y)]))
        else:
            box = ("v", -4, "h", 20, "v", 8, "h", -20, "z") if mark.kind == "area" else ("h", 20)
            pieces.append(_path(f"{mark.kind} {mark.style} {mark.colour}", "M", x, y, *box))
        pieces.append(_text((x + 25, y + 3.5), mark.label, "key"))
    return pieces, BOTTOM + 39 + ROW * rows


def _path(look: str, *steps: str | float) -> Markup:
    """Write a path of these commands and numbers; nothing without any."""
    data = " ".join([step if isinstance(step, str) else _short(step) for step in steps])
    return Markup(f'<path class="{escape(look)}" d="{data}"/>') if data else Markup("")


def _text(spot: Point, text: str, look: str = "") -> Markup:
    """Write text at a point; nothing if the text is empty."""
    if not text:
        return Markup()
    x, y = map(_short, spot)
    more = f' class="{escape(look)}"' if look else ""
    return Markup(f'<text x="{x}" y="{y}"{more}>{escape(signs(text))}</text>')


def _short(number: float) -> str:
    """Format a number with at most one decimal."""
    text = f"{number:.1f}"
    return text[:-2] if text[-1] == "0" else text


_join = Markup("").join
