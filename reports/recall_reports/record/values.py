"""Values that the library and the record share: what a claim declares, and how it is judged."""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal, Self

from msgspec import Meta, Struct

Provenance = Literal["stated", "reported", "derived"]
Scale = Literal["ratio", "difference", "probability", "exponent", "share", "error"]
Axes = Literal["", "x", "y", "xy"]
Text = Annotated[str, Meta(min_length=1)]
"""Text that is shown; a reader of a record cleans it."""
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
    """Two ends, [low, high]; None is minus infinity as low and plus infinity as high."""

    low: Finite | None
    high: Finite | None

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the lower bound {self.low} exceeds the upper bound {self.high}")

    @classmethod
    def of(cls, low: float, high: float) -> Self:
        """The range with these ends, which may be infinite."""
        return cls(finite(low), finite(high))

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends, infinite where they are None."""
        low = -math.inf if self.low is None else self.low
        return low, math.inf if self.high is None else self.high


def finite(value: float) -> float | None:
    """A number as a record holds it: None where it is not finite."""
    return float(value) if math.isfinite(value) else None


class Line(Struct, kw_only=True):
    """The curve of a prediction, `ys` over `xs`, through cells that share the parameters `params`.

    `control`: the wrong theory that predicts it; the theory under test without one.
    """

    params: Parameters = {}
    control: str = ""
    xs: list[Finite]
    ys: list[Finite]

    def __post_init__(self) -> None:
        if len(self.xs) != len(self.ys):
            raise ValueError(f"a line has {len(self.xs)} xs and {len(self.ys)} ys")


class Tiles(Struct, kw_only=True):
    """The names that are predicted over the plane of a map, for cells with the parameters `params`.

    Tiles lie between neighbours of `xs` and of `ys`. `rows` has a row of tiles for each gap of
    `ys`, and a character for each tile: the place of its name in `names`, or a dot for none.
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
        log: the axes with a logarithmic scale, such as "xy"; by default the axis of sizes: the
            horizontal one of curves and both of maps.
        collapse: adds a second panel with `x` divided by the cell's predicted critical value.
        x_label: if it is not given, the parameter with its symbol in the paper's file.
        y_label: what is observed, with its unit; a plot of means needs one. A parity plot says
            "predicted" and "observed" before it.
        span: the ends of the predicted curve, if not a little beyond the cells.
        dear: the predictions cost too much for a curve between cells, such as over 10 ms each.
        line: the predicted curves, which are worked out when the claim is recorded.
        tiles: the predicted names over the plane of a map, worked out then as well.
        words: what names of a map mean, from the paper's file.

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
    """The cells of a claim that a figure draws: those with the parameters `where`.

    `label` names them. Without it, they are as many series as `Figure.group` distinguishes. `per`:
    a critical value is given as a multiple of this parameter.
    """

    claim: Text
    label: str = ""
    where: Parameters = {}
    per: str = ""


class Figure(Struct, kw_only=True):
    """A picture of what claims found, for readers who look at only one.

    `kind`: "curve" draws what is observed against a parameter, on the predicted curve; "rows" puts
    observed and predicted values of one cell a row on one axis. `levels` are marked values.
    """

    title: Text
    note: str = ""
    kind: Literal["curve", "rows"] = "curve"
    series: list[Series]
    group: list[str] = []
    x_label: str = ""
    y_label: str = ""
    levels: dict[str, Finite] = {}
