"""Parts of a plot: marks in units of two axes, and the axes' scales and ticks."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from recall_reports import figures

# Classes of colours in the style sheet, and markers.
COLOURS = tuple(f"k{index}" for index in range(8))
DASHES = tuple(f"dash{index}" for index in range(8))
INK, MUTED, CARD = "ink", "muted", "card"
MARKERS = "osD^vPX*"

MAX_TICKS = 7
MIN_LOG_RANGE = 8  # ratio of ends below which a logarithmic axis has evenly spaced ticks
HUGE = 1e300  # larger values are drawn here, and values below its inverse count as zero
LARGEST = 305.0  # largest power of ten on an axis, so that floats hold it
SLACK = 1e-9  # allowance for rounding, in distances of ticks
FAR = 30  # largest distance of a mark from the axis, in lengths of the axis

Point = tuple[float, float]


@dataclass
class Axis:
    """One axis; unset ticks and ends are fitted to the values `seen` on it.

    `names`: texts to write at ticks instead of values.
    """

    label: str = ""
    log: bool = False
    ticks: Sequence[float] = ()
    names: Sequence[str] = ()
    ends: Point | None = None
    margin: float = 0.05
    seen: list[float] = field(default_factory=list)

    def places(self, start: float, length: float) -> Callable[[float], float]:
        """Return the map from a value to its place on an axis from `start`, of this length."""
        low, high = self._span()

        def place(value: float) -> float:
            share = (self._scaled(value) - low) / (high - low)
            return start + length * min(max(share, -FAR), FAR)

        return place

    def labels(self) -> dict[str, float]:
        """Map tick labels to their values."""
        low, high = self._span()
        found = self.ticks
        if not found and not self.log:
            found = _even(low, high)
        elif not found and high - low < math.log10(MIN_LOG_RANGE):
            found = _even(10**low, 10**high)
        elif not found:
            found = _powers(low, high)
        return dict(zip(self.names or map(tick, found), found, strict=True))

    def _span(self) -> Point:
        """Return the ends on the scale of the axis: logarithms if `log`."""
        shown = self.ends or [value for value in self.seen if value > 0 or not self.log] or (0, 1)
        low, high = self._scaled(min(shown)), self._scaled(max(shown))
        if high - low > 1e-12 * abs(high) + 1 / HUGE:
            pad = 0.0 if self.ends else self.margin * (high - low)
        else:
            pad = max(0.1 * abs(high), 0.1 if self.log or abs(high) < 1 / HUGE else 0.0)
        low, high = low - pad, high + pad
        return (max(low, -LARGEST), min(high, LARGEST)) if self.log else (low, high)

    def _scaled(self, value: float) -> float:
        value = min(max(value, -HUGE), HUGE)
        return math.log10(max(value, 1 / HUGE)) if self.log else value


def _even(low: float, high: float) -> list[float]:
    """Choose up to MAX_TICKS multiples of 1, 2, 2.5 or 5 times a power of ten between two ends."""
    least = (1 - SLACK) * (high - low) / (MAX_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(least))
    step = next((part * power for part in (1, 2, 2.5, 5) if part * power >= least), 10 * power)
    first, last = math.ceil(low / step - SLACK), math.floor(high / step + SLACK)
    return [count * step for count in range(first, last + 1)]


def _powers(low: float, high: float) -> list[float]:
    """Choose 1, 2 and 5 times each power of ten from 10^low to 10^high; if these are too many, some
    of the powers, up to MAX_TICKS.
    """
    powers = range(math.ceil(low), math.floor(high) + 1)
    found = [part * 10.0**p for p in range(math.floor(low), powers.stop) for part in (1, 2, 5)]
    found = [value for value in found if low <= math.log10(value) <= high]
    if len(found) <= MAX_TICKS + 1:
        return found
    return [10.0**power for power in powers[:: -(-len(powers) // MAX_TICKS)]]


def tick(value: float) -> str:
    """Write a tick label in as few figures as it needs."""
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return figures.number(value, 2)
    return f"{value:.4g}" if abs(value) < 1e3 else f"{value:,.{0 if value == round(value) else 1}f}"


@dataclass(frozen=True)
class Mark:
    """Mark at some places of a plot, in units of the axes.

    Attributes:
        kind: a band fills the height between two `xs`, an upright line is at each x. An area
            consists of rectangles, each between two `xs` and two `ys`.
        colour: INK, MUTED, CARD, or one of COLOURS.
        style: classes of a line or text, or the marker of dots.
        size: size of dots, in units of the drawing.
        whiskers: the ends of the interval at each dot.
        text: text to write.
        aside: shift of the text to the right and down, in units of the drawing.
        label: label in the legend; empty for none.
        name: name to write next to a line.
    """

    kind: Literal["area", "band", "line", "upright", "dots", "text"]
    colour: str
    xs: Sequence[float] = ()
    ys: Sequence[float] = ()
    style: str = ""
    size: float = 5.2
    whiskers: Sequence[Point] = ()
    text: str = ""
    aside: Point = (0.0, 0.0)
    label: str = ""
    name: str = ""


@dataclass
class Chart:
    """Chart for a painter to fill. Marks are drawn in their order."""

    title: str = ""
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    marks: list[Mark] = field(default_factory=list)

    def add(self, mark: Mark) -> None:
        """Add a mark, and make room for it on axes whose ends are not set."""
        self.marks.append(mark)
        self.x.seen += mark.xs
        self.y.seen += [*mark.ys, *(end for ends in mark.whiskers for end in ends)]
