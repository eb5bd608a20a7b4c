"""Joint scaling exponents of a mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from claims.engine.cell import Cell
from claims.engine.region import Component, Scale
from claims.engine.rules import least_squares
from claims.engine.rules.base import Evidence, Predict, Rule


@dataclass(frozen=True)
class Exponents(Rule):
    """Exponents of mean(observable) in the parameters that `exponents` names, jointly.

    With reference="asymptotic" the regions are centred on the numbers in `exponents`; with
    "prediction", on the exponents that `predict` itself has on this finite grid (the numbers in
    `exponents` then only name the parameters).
    """

    exponents: Mapping[str, float]
    half_width: float | Mapping[str, float]
    observable: str = "value"
    reference: Literal["asymptotic", "prediction"] = "asymptotic"
    scale: ClassVar[Scale] = "exponent"
    needs_prediction: ClassVar[bool] = False
    guarantee: ClassVar[str] = (
        "Least-squares exponents of the log cell means on this grid; Student-t intervals by the "
        "delta method, jointly valid over the exponents."
    )

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        least_squares.functional(cells, list(self.exponents))

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        values = [sample[self.observable] for sample in evidence]
        count = values[0].size
        means = np.array([v.mean() for v in values])
        errors = np.array([v.std(ddof=1) for v in values]) / np.sqrt(count)
        # The delta method needs means that are clearly positive; elsewhere nothing is known.
        clear = means > 4 * errors
        return least_squares.components(
            [sample.cell for sample in evidence],
            np.log(np.where(clear, means, np.nan)),
            errors / means,
            count - 1,
            self.exponents,
            self.half_width,
            predict if self.reference == "prediction" else None,
            alpha,
        )
