"""Functions of means: a variance, a kurtosis, a ratio of two means.

Let m be the means of n replicates. The estimate f(m) is not a mean of replicates. It is nearly the
mean of n pseudo-values, n f(m) - (n - 1) f(m without the i-th replicate) (J. W. Tukey's jackknife,
1958). This mean estimates f of the true means without the bias of order 1/n. A t interval for it is
certified like any other.
"""

import ast
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from recall_claims.judge.methods import Array, Method, Student
from recall_claims.judge.rules.base import Sample
from recall_claims.judge.rules.means import MeanDifference, MeanRatio, Means
from recall_claims.model.errors import ClaimError

FUNCTIONS: dict[str, Any] = {"sqrt": np.sqrt, "log": np.log, "exp": np.exp, "pi": math.pi}
"""Names that a formula may use in addition to observables."""


def left_out(values: Array) -> Array:
    """Return the means with each replicate left out in turn, shape (..., replicates)."""
    count = values.shape[-1]
    found: Array = (count * values.mean(axis=-1, keepdims=True) - values) / (count - 1)
    return found


def pseudo_values(function: Callable[[Array], Any], values: Array) -> Array:
    """Return the pseudo-values of a function of means, shape (..., replicates).

    Args:
        function: takes means, shape (rows, ...), and combines them along the first axis.
        values: values to average, shape (rows, ..., replicates).
    """
    count = values.shape[-1]
    whole = np.asarray(function(values.mean(axis=-1)))
    found: Array = count * whole[..., None] - (count - 1) * function(left_out(values))
    return found


class Jackknife(Means):
    """Common part of rules about pseudo-values, which have no range."""

    methods: ClassVar[tuple[type[Method], ...]] = (Student,)
    depends_on_all: ClassVar[bool] = True

    def _shown(self, sample: Sample) -> Array | None:
        return self.values(sample, sample.replicates)


@dataclass(frozen=True)
class Variance(Jackknife, MeanRatio):
    """Ratio of the variance to its prediction, per cell or averaged over groups of cells.

    `Variance(Region(0.95, 1.05))`: in each cell the variance is within 5 per cent of its
    prediction.
    """

    estimand: ClassVar[str] = (
        "Observed variance over prediction, as a mean of jackknife pseudo-values."
    )

    def values(self, sample: Sample, count: int) -> Array:
        values = sample[self.observable][..., :count]
        # Far from 0, rounding of squares would hide the variance.
        off = values - values.mean(axis=-1, keepdims=True)
        return pseudo_values(lambda m: m[1] - m[0] ** 2, np.stack([off, off * off]))


@dataclass(frozen=True)
class Functional(Jackknife, MeanDifference):
    """A function of the means of several observables, less its prediction.

    `Functional(Region(-0.1, 0.1), formula="fourth / second**2")`: in each cell the mean of "fourth"
    over the squared mean of "second" is within 0.1 of its prediction. A formula is text, so that
    the registration holds all of it; it may use sqrt, log, exp and pi.

    Raises:
        ClaimError: the formula is no Python expression, or contains no observable.
    """

    formula: str = ""
    estimand: ClassVar[str] = (
        "A function of means minus its prediction, as a mean of jackknife pseudo-values."
    )

    def __post_init__(self) -> None:
        with suppress(SyntaxError):
            if self._names:
                return
        raise ClaimError(
            f'formula={self.formula!r} is no formula of observables, such as "fourth / second**2"'
        )

    @property
    def _names(self) -> list[str]:
        nodes = ast.walk(ast.parse(self.formula, mode="eval"))
        return sorted({node.id for node in nodes if isinstance(node, ast.Name)} - FUNCTIONS.keys())

    def values(self, sample: Sample, count: int) -> Array:
        names, code = self._names, compile(self.formula, "formula", "eval")

        def function(means: Array) -> Any:
            known = FUNCTIONS | dict(zip(names, means, strict=True))
            return eval(code, {"__builtins__": {}}, known)

        with np.errstate(all="ignore"):  # undefined values are NaN
            values = np.stack([sample[name][..., :count] for name in names])
            found_values = pseudo_values(function, values)
        defined = np.isfinite(found_values).all(axis=-1, keepdims=True)
        return np.where(defined, found_values, math.nan)
