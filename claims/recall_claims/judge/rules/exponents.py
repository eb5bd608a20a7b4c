"""Joint scaling exponents of a mean."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recall_claims.judge.region import EVERYTHING, Component
from recall_claims.judge.rules.base import Evidence, Predict, t_interval
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
    guarantee: ClassVar[str] = (
        "Least-squares exponents of the log cell means on this grid; skewness-corrected t "
        "intervals of their jackknife pseudo-values, jointly valid over the exponents."
    )

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
            matrix = functional(cells, names)
            whole = matrix @ np.log(means)
            pseudo = count * whole[:, None] - (count - 1) * (matrix @ np.log(left_out))
            estimates = [float(row.mean()) for row in pseudo]
            intervals = [t_interval(row, alpha / len(names)) for row in pseudo]
        return self.compared(cells, estimates, intervals, predict)
