"""What every decision rule offers, and the data it sees."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import stats

from recall_claims.declare.cell import Cell
from recall_claims.errors import ClaimError
from recall_claims.judge.region import EVERYTHING, Component, Interval, Scale

Array = npt.NDArray[np.float64]
Predict = Callable[[Cell], float | str]


@dataclass(frozen=True)
class Sample:
    """The observations of one cell: per observable an array of shape (replicates,)."""

    cell: Cell
    observations: Mapping[str, Array]

    def __getitem__(self, observable: str) -> Array:
        try:
            return self.observations[observable]
        except KeyError:
            raise ClaimError(
                f"the rule reads observable {observable!r}, but the claim's function returns "
                f"{sorted(self.observations)}; return it or name one of those"
            ) from None


Evidence = Sequence[Sample]


@dataclass(frozen=True)
class Rule(ABC):
    """A decision rule: observations in, simultaneous intervals out."""

    scale: ClassVar[Scale]
    guarantee: ClassVar[str]
    needs_prediction: ClassVar[bool] = True
    predicts_location: ClassVar[bool] = False
    """Whether the prediction is a critical value of a parameter, not what a cell observes."""

    @abstractmethod
    def components(
        self, evidence: Evidence, predict: Predict | None, alpha: float
    ) -> tuple[Component, ...]:
        """Intervals that jointly cover the estimand with probability at least 1 - alpha.

        Args:
            evidence: one sample per cell, all of the same number of replicates.
            predict: the theory's prediction for a cell.
            alpha: probability that some interval misses, over all components.
        """

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        """Refuse a grid on which the rule is impossible.

        Raises:
            ClaimError: names what is impossible and what to change.
        """
        if self.needs_prediction and predict is None:
            raise ClaimError(f"{type(self).__name__} compares with a prediction; give predict=")

    def alpha_of_look(self, alpha: float, looks: int) -> float:
        """The share of a claim's alpha that one look spends."""
        return alpha / looks

    def decidable(self, cells: Sequence[Cell], predict: Predict | None) -> None:  # noqa: B027
        """Refuse a grid on which no data could support the claim."""

    def with_exponents_off(self, powers: Mapping[str, float]) -> Rule | None:
        """The rule about exponents that are off by these, if it names its exponents itself."""
        return None

    def observed(self, sample: Sample) -> float | str | None:
        """What a report shows as observed in a cell: a mean, a name, or nothing."""
        values = self._shown(sample)
        return None if values is None else float(values.mean())

    def observed_interval(self, sample: Sample, alpha: float) -> Interval | None:
        """An interval for `observed` that misses with probability alpha, where it is a mean."""
        values = self._shown(sample)
        return None if values is None else t_interval(values, alpha)

    def _shown(self, sample: Sample) -> Array | None:
        name = getattr(self, "observable", None)
        return None if name is None else sample[name]


def number(predict: Predict | None, cell: Cell) -> float:
    """The prediction for a cell as a finite float.

    Raises:
        ClaimError: there is none, or it is not a finite number.
    """
    if predict is None:
        raise ClaimError("the rule compares with a prediction; give predict=")
    value = predict(cell)
    if isinstance(value, str) or not math.isfinite(value):
        raise ClaimError(f"the prediction at {cell.id} is {value!r}, not a finite number")
    return float(value)


def t_interval(values: Array, alpha: float) -> Interval:
    """Interval for the mean of independent values: Student's t, joined with Hall's.

    On skewed data a t interval misses on one side far more often than a small alpha says (for
    chi-squared data of 1 degree of freedom, 128 values and alpha = 1e-5, 60 times as often).
    Hall's transformation T + c T^2/3 + c^2 T^3/27 + c/6 of the t statistic, c = skewness /
    sqrt(n), removes the skewness to second order and is invertible (P. Hall, "On the removal of
    skewness by transformation", J. R. Statist. Soc. B 54, 221, 1992). The join of the two is
    never narrower than the t interval. tests/calibration measures the coverage.

    With fewer than two values nothing is known and the interval is the whole line.
    """
    count = values.size
    if count < 2:
        return EVERYTHING
    mean, error = float(values.mean()), float(stats.sem(values))
    quantile = float(stats.t.isf(alpha / 2, count - 1))
    below = above = quantile
    if count > 2 and error > 1e-12 * abs(mean):
        c = float(stats.skew(values, bias=False)) / math.sqrt(count)
        below = max(quantile, _undo_hall(quantile, c))
        above = max(quantile, -_undo_hall(-quantile, c))
    return Interval(mean - below * error, mean + above * error)


def _undo_hall(value: float, c: float) -> float:
    """Inverse of Hall's transformation; the identity where there is no skewness."""
    if abs(c) < 1e-6:
        return value
    return float(3 / c * (np.cbrt(1 + c * (value - c / 6)) - 1))


def groups(cells: Sequence[Cell], by: str | Sequence[str] | None) -> dict[str, list[int]]:
    """Indices of cells that agree in the parameter or parameters `by`; None keeps all apart.

    Raises:
        ClaimError: a cell lacks one of the parameters.
    """
    found: dict[str, list[int]] = {}
    for index, cell in enumerate(cells):
        try:
            params = told_apart(cell, by)
        except KeyError as missing:
            raise ClaimError(f"cell {cell.id} has no parameter {missing} to group by") from None
        name = ",".join(f"{name}={value}" for name, value in params.items()) or "all cells"
        found.setdefault(cell.id if by is None else name, []).append(index)
    return found


def told_apart(cell: Cell, by: str | Sequence[str] | None) -> dict[str, Any]:
    """The parameters by which `groups` tells the cell's group from others: all, if `by` is None."""
    names = tuple(cell) if by is None else (by,) if isinstance(by, str) else by
    return {name: cell[name] for name in names}
