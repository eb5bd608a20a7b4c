"""Values that the library and the record share, for declaring and judging claims."""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal, Self

from msgspec import Meta, Struct

Provenance = Literal["stated", "reported", "derived"]
Scale = Literal["ratio", "difference", "probability", "exponent", "share", "error"]
Axes = Literal["", "x", "y", "xy"]
Text = Annotated[str, Meta(min_length=1)]
"""Text to show; reading a record cleans it."""
Finite = Annotated[float, Meta(ge=-1e300, le=1e300)]
"""A number small enough that sums and differences stay finite."""
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Parameters = dict[str, Whole | Finite | str | bool]


class Verdict(StrEnum):
    """The three verdicts; there is no fourth."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"


class Range(Struct, array_like=True):
    """Two ends, [low, high]; None as `low` means minus infinity, as `high` plus infinity."""

    low: Finite | None
    high: Finite | None

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the lower bound {self.low} exceeds the upper bound {self.high}")

    @classmethod
    def of(cls, low: float, high: float) -> Self:
        """Make the range with these ends, which may be infinite."""
        return cls(finite(low), finite(high))

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends, with infinity for None."""
        low = -math.inf if self.low is None else self.low
        return low, math.inf if self.high is None else self.high


def finite(value: float) -> float | None:
    """Convert a number for a record: None if it is not finite."""
    return float(value) if math.isfinite(value) else None


class Line(Struct, kw_only=True):
    """A predicted curve, `ys` over `xs`, through cells that share the parameters `params`.

    `control`: the wrong theory that predicts the curve; empty for the theory under test.
    """

    params: Parameters = {}
    control: str = ""
    xs: list[Finite]
    ys: list[Finite]

    def __post_init__(self) -> None:
        if len(self.xs) != len(self.ys):
            raise ValueError(f"a line has {len(self.xs)} xs and {len(self.ys)} ys")


class Tiles(Struct, kw_only=True):
    """Names predicted over a map's plane for cells with `params`, such as the largest term's name.

    Tiles lie between neighbours of `xs` and of `ys`. `rows` has a text for each gap of `ys`, with a
    character for each tile: the index of its name in `names`, or a dot for no name.
    """

    params: Parameters = {}
    xs: list[Finite]
    ys: list[Finite]
    names: Annotated[list[Text], Meta(max_length=10)]
    rows: list[Annotated[str, Meta(pattern=r"^[0-9.]*$")]]

    def __post_init__(self) -> None:
        across = {len(row) + 1 for row in self.rows}
        named = {int(each) for row in self.rows for each in row if each != "."}
        if len(self.rows) + 1 != len(self.ys) or across != {len(self.xs)}:
            raise ValueError(f"tiles between {len(self.xs)} xs and {len(self.ys)} ys do not fit")
        if max(named, default=-1) >= len(self.names):
            raise ValueError("a tile has no name")


@dataclass
class Plot:
    """Plot that the report draws of the cells.

    Attributes:
        kind: "curve" (observed against `x`, on the predicted curve), "parity" (observed against
            predicted) or "map" (cells in the plane of `x` and the first of `group`).
        x: cell parameter on the horizontal axis.
        group: parameters that distinguish curves.
        log: the axes with a logarithmic scale, such as "xy"; by default "x" for curves, "xy" for
            maps and none for parity plots.
        collapse: adds panels with `x` divided by theory's critical value, and by a control's.
        x_label: label of `x`; by default the parameter with its symbol in the paper's file.
        y_label: the observable, with its unit; a plot of means needs one. A parity plot puts
            "predicted" and "simulated" before it.
        span: ends of the predicted curve; by default outer cells or, with a `Regime`, a bit beyond.
        dear: whether predictions are too slow for curves between cells, such as over 10 ms each.
        line: the predicted curves, made with the claim's record.
        tiles: the predicted names over the plane of a map, also made with the record.
        words: meanings of a map's names, from the paper's file.

    >>> Plot(x="samples").log, Plot("parity").log
    ('x', '')
    """

    kind: Literal["curve", "parity", "map"] = "curve"
    x: str | None = None
    group: tuple[str, ...] = ()
    log: Axes | Literal["usual"] = "usual"
    collapse: bool = False
    x_label: str = ""
    y_label: str = ""
    span: tuple[float, float] | None = None
    dear: bool = False
    line: list[Line] = field(default_factory=list)
    tiles: list[Tiles] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.log == "usual":
            usual: dict[str, Axes] = {"curve": "x", "parity": "", "map": "xy"}
            self.log = usual[self.kind]


class Series(Struct, kw_only=True):
    """The cells of a claim with the parameters `where`, for a figure to draw.

    `label`: their name; without it, `Figure.group` divides them into series. `per`: cell
    parameter by which a row's values are divided.
    """

    claim: Text
    label: str = ""
    where: Parameters = {}
    per: str = ""


class Figure(Struct, kw_only=True):
    """A picture of what some claims have found, drawn at the top of the report.

    `kind`: "curve" draws observed values against a parameter, on the predicted curve; "rows" draws
    observed and predicted values on one axis, a row per series. `levels`: values to mark, by name.
    """

    title: Text
    note: str = ""
    kind: Literal["curve", "rows"] = "curve"
    series: list[Series]
    group: list[str] = []
    x_label: str = ""
    y_label: str = ""
    levels: dict[str, Finite] = {}
