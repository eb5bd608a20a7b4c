"""Joint scaling exponents of a mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from recall_claims.declare.cell import Cell
from recall_claims.judge.region import EVERYTHING, Component, Scale
from recall_claims.judge.rules import least_squares
from recall_claims.judge.rules.base import Evidence, Predict, Rule, number, t_interval


@dataclass(frozen=True)
class Exponents(Rule):
    """Exponents of mean(observable) in the parameters that `exponents` names, jointly.

    With reference="asymptotic" the regions are centred on the numbers in `exponents`; with
    "prediction", on the exponents that `predict` itself has on this finite grid (the numbers in
    `exponents` then only name the parameters).

    `Exponents({"vocab_size": -1, "length": -2}, half_width=0.1)`: the mean falls as 1 / (V L^2),
    each exponent to 0.1.
    """

    exponents: Mapping[str, float]
    half_width: float | Mapping[str, float]
    observable: str = "value"
    reference: Literal["asymptotic", "prediction"] = "asymptotic"
    scale: ClassVar[Scale] = "exponent"
    needs_prediction: ClassVar[bool] = False
    guarantee: ClassVar[str] = (
        "Least-squares exponents of the log cell means on this grid; skewness-corrected t "
        "intervals of their jackknife pseudo-values, jointly valid over the exponents."
    )

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        least_squares.functional(cells, list(self.exponents))
        if self.reference == "prediction":
            for cell in cells:
                number(predict, cell)

    def with_exponents_off(self, powers: Mapping[str, float]) -> Rule | None:
        if self.reference == "prediction":
            return None
        off = {name: value + powers.get(name, 0.0) for name, value in self.exponents.items()}
        return replace(self, exponents=off)

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        cells = [sample.cell for sample in evidence]
        values = np.stack([sample[self.observable] for sample in evidence])
        count, names = values.shape[1], list(self.exponents)
        means = values.mean(axis=1)
        left_out = (count * means[:, None] - values) / (count - 1)
        errors = values.std(axis=1, ddof=1) / np.sqrt(count)
        if (means <= 4 * errors).any() or (left_out <= 0).any():
            # A mean that is not clearly positive has no logarithm to speak of.
            estimates, intervals = [math.nan] * len(names), [EVERYTHING] * len(names)
        else:
            matrix = least_squares.functional(cells, names)
            whole = matrix @ np.log(means)
            pseudo = count * whole[:, None] - (count - 1) * (matrix @ np.log(left_out))
            estimates = [float(row.mean()) for row in pseudo]
            intervals = [t_interval(row, alpha / len(names)) for row in pseudo]
        return least_squares.components(
            cells,
            self.exponents,
            estimates,
            intervals,
            self.half_width,
            predict if self.reference == "prediction" else None,
        )
