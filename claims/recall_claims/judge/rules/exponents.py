"""Joint scaling exponents of a mean."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recall_claims.judge.methods import STUDENT, Method
from recall_claims.judge.region import EVERYTHING, Component
from recall_claims.judge.rules.base import Evidence, Predict
from recall_claims.judge.rules.least_squares import ExponentRule, functional


@dataclass(frozen=True)
class Exponents(ExponentRule):
    """Exponents of mean(observable) in the parameters that `exponents` names, jointly.

    `Exponents({"vocab_size": -1, "length": -2}, half_width=0.1)`: the mean falls as 1 / (V L^2),
    each exponent to 0.1.
    """

    exponents: Mapping[str, float]
    half_width: float | Mapping[str, float]
    observable: str = "value"
    reference: Literal["asymptotic", "prediction"] = "asymptotic"
    method: Method = STUDENT
    estimand: ClassVar[str] = (
        "Least-squares exponents of the log cell means on this grid, as means of their jackknife "
        "pseudo-values."
    )

    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        cells = [sample.cell for sample in evidence]
        fewest = min(sample.replicates for sample in evidence)
        values = np.stack([sample[self.observable][:fewest] for sample in evidence])
        count, names = values.shape[1], list(self.exponents)
        means = values.mean(axis=1)
        left_out = (count * means[:, None] - values) / (count - 1)
        errors = values.std(axis=1, ddof=1) / np.sqrt(count)
        if (means <= 4 * errors).any() or (left_out <= 0).any():
            # A mean that is not clearly positive has no logarithm to speak of.
            nothing = [(EVERYTHING, EVERYTHING)] * len(names)
            return self.compared(cells, cells, [math.nan] * len(names), nothing, predict)
        matrix = functional(cells, names)
        whole = matrix @ np.log(means)
        pseudo = count * whole[:, None] - (count - 1) * (matrix @ np.log(left_out))
        bounds = [
            (self.method.bounds(row, alpha / (2 * len(names))), self.method.bounds(row, alpha))
            for row in pseudo
        ]
        return self.compared(cells, cells, list(pseudo.mean(axis=1)), bounds, predict)
