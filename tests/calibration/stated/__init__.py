"""What each prediction states of its own error, where a script can read it.

A theory's docstring says how far its figure is from simulations, and at which sizes. Here the same
stands as data, room by room, beside what is observed; a test holds the quoted words and the number
to the docstring. `tests/calibration/stated_errors.py` tries each at random points of its regime.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from recall_claims import Block, Cell, Regime, Student
from recall_claims.judge.methods import Method

Law = Callable[[Cell], float]
Observe = Callable[[Cell, Block], Tensor]


@dataclass(frozen=True, kw_only=True)
class Stated:
    """One prediction, its stated error, and what it is held against.

    Attributes:
        name: stable; it names the random streams of points and evidence.
        function: the registered prediction, whose docstring, or that of its module, holds `quote`.
        quote: the words that state the error; blanks count as one.
        error: the same as a number, or what a cell makes of it; 0 says that it is exact.
        relative: whether it is a share of the prediction.
        predict: the prediction in a cell.
        regime: the stated one; points that cost more than its `largest` are not drawn.
        observe: what is held against it, one value a replicate.
        scan: the parameter whose critical value is predicted, if it is such. Then the rate of
            success must be above `target` at 1 + error of it, and below at 1 - error.
        rising: whether success grows with the scanned parameter.
        target: see `scan`.
        method: how a mean is bounded.
        replicates: at the first of the looks.
        looks: each but the first doubles the replicates.
        dtype: of the simulation.
        restated: how often the statement was changed after a trial: each change draws fresh points.
    """

    name: str
    function: Callable[..., Any]
    quote: str
    error: float | Law
    relative: bool = False
    predict: Law
    regime: Regime
    observe: Observe
    scan: str | None = None
    rising: bool = True
    target: float = 0.5
    method: Method = field(default_factory=Student)
    replicates: int = 32
    looks: int = 4
    dtype: str = "float32"
    restated: int = 0

    @property
    def stream(self) -> str:
        """The name of its random streams."""
        return f"{self.name}, restated {self.restated}" if self.restated else self.name

    def allowed(self, cell: Cell) -> float:
        """The stated error in a cell."""
        return self.error(cell) if callable(self.error) else self.error

    def edges(self, cell: Cell) -> tuple[Cell, Cell]:
        """The cells at which a predicted critical value is held to its error: below and above.

        Whole numbers, rounded outwards.
        """
        assert self.scan is not None
        critical, error = self.predict(cell), self.allowed(cell)
        low, high = math.floor(critical * (1 - error)), math.ceil(critical * (1 + error))
        return cell.replace(**{self.scan: low}), cell.replace(**{self.scan: high})


def crossing(law: Law, low: float = 0.05, high: float = 0.95) -> Callable[[Cell], bool]:
    """Whether the predicted share is neither 0 nor 1: elsewhere hardly any theory could fail."""
    return lambda cell: low <= law(cell) <= high
