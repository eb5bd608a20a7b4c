"""Values that the library and the record share: what a claim declares, and how it is judged."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Provenance = Literal["stated", "reported", "derived"]
Scale = Literal["ratio", "difference", "probability", "exponent", "share", "error"]
Axes = Literal["", "x", "y", "xy"]


class Verdict(StrEnum):
    """The three verdicts; there is no fourth."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass
class Plot:
    """How the report draws the cells.

    Attributes:
        kind: "curve" (observed against `x`, on the predicted curve), "parity" (observed against
            predicted) or "map" (cells in the plane of `x` and the first of `group`).
        x: cell parameter on the horizontal axis.
        group: parameters that tell curves apart.
        log: the axes with a logarithmic scale, such as "xy"; if it is not given, that of sizes,
            the horizontal one of curves and both of maps.
        collapse: adds a second panel with `x` divided by the cell's predicted critical value.
        x_label: if it is not given, the parameter with its symbol in the paper's file.
        y_label: of what is observed; a parity plot says "predicted" and "observed" before it.

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

    def __post_init__(self) -> None:
        if self.log == "usual":
            usual: dict[str, Axes] = {"curve": "x", "parity": "", "map": "xy"}
            self.log = usual[self.kind]
