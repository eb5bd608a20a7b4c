"""How the report draws a claim's cells."""

from dataclasses import dataclass
from typing import Literal

Axes = Literal["", "x", "y", "xy"]


@dataclass(frozen=True)
class Plot:
    """How the report draws the cells.

    Attributes:
        kind: "curve" (observed against `x`, on the predicted curve), "parity" (observed against
            predicted) or "map" (cells in the plane of `x` and the first of `group`).
        x: cell parameter on the horizontal axis.
        group: parameters that tell curves apart.
        collapse: adds a second panel with `x` divided by the cell's predicted critical value.
        log: the axes with a logarithmic scale, such as "xy"; if it is not given, that of sizes,
            the horizontal one of curves and both of maps.
        x_label: if it is not given, the parameter with its symbol in the paper's file.
        y_label: of what is observed; a parity plot says "predicted" and "observed" before it.

    >>> Plot(x="samples").axes, Plot("parity").axes
    ('x', '')
    """

    kind: Literal["curve", "parity", "map"] = "curve"
    x: str | None = None
    group: tuple[str, ...] = ()
    collapse: bool = False
    log: Axes | None = None
    x_label: str = ""
    y_label: str = ""

    @property
    def axes(self) -> Axes:
        """The axes with a logarithmic scale."""
        usual: dict[str, Axes] = {"curve": "x", "parity": "", "map": "xy"}
        return usual[self.kind] if self.log is None else self.log
