"""Scaling exponents as least-squares functionals of the logarithms of independent estimates.

The exponents e_p of a law y ~ prod_p p^{e_p} in parameters p, on a given grid, are defined as the
ordinary least-squares coefficients of log y on the log parameters. They are a fixed linear
functional of the vector log y, well-defined even where the law bends. The same functional of the
theory's values is the prediction for this grid. We assume nothing about the residuals of the fit.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from recall_claims.judge.methods import STUDENT, Array, Deterministic, Method, Student
from recall_claims.judge.rules.base import Components, Evidence, Part, Predict, Rule, number
from recall_claims.judge.rules.functional import left_out, pseudo_values
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import EVERYTHING, Interval, Region, Scale

LEVER = 4
"""Factor by which a hunt varies a parameter to measure its exponent."""


def functional(cells: Sequence[Cell], parameters: Sequence[str]) -> Array:
    """Return the matrix of shape (parameters, cells) that maps log values to exponents.

    Raises:
        ClaimError: there is no parameter, or a parameter is missing, not positive, or does not vary
            independently.
        TypeError: a parameter is text.
    """
    if not parameters:
        raise ClaimError("exponents= names no parameter; give at least one exponent")
    for cell in cells:
        for name in parameters:
            if name not in cell or cell.number(name) <= 0:
                raise ClaimError(f"an exponent in {name} needs a positive {name} at {cell.id}")
    logs = np.log([[cell.number(name) for name in parameters] for cell in cells])
    if np.linalg.matrix_rank(logs - logs.mean(axis=0)) < len(parameters):
        raise ClaimError(
            f"the grid does not vary {', '.join(parameters)} independently, so the data "
            "cannot separate their exponents; add cells"
        )
    design = np.column_stack([np.ones(len(cells)), logs])
    return np.linalg.pinv(design)[1:]


@dataclass(frozen=True)
class ExponentRule(Rule):
    """Common part of rules about joint exponents.

    With reference="asymptotic" the regions are centred on the numbers in `exponents`. With
    "prediction", they are centred on the exponents of `predict` itself on this finite grid.
    """

    exponents: Mapping[str, float]
    half_width: float | Mapping[str, float]
    observable: str = "value"
    reference: Literal["asymptotic", "prediction"] = "asymptotic"
    scale: ClassVar[Scale] = "exponent"
    needs_prediction: ClassVar[bool] = False

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        super().check(cells, predict)
        self._regions(self.points(cells), predict)

    def points(self, cells: Sequence[Cell]) -> Sequence[Cell]:
        """Return a cell for each estimate that enters the fit."""
        return cells

    def with_exponents_off(self, powers: Mapping[str, float]) -> Rule | None:
        if self.reference == "prediction":
            return None
        if strange := powers.keys() - self.exponents.keys():
            raise ClaimError(f"the rule has no exponent of {', '.join(sorted(strange))} to change")
        off = {name: value + powers.get(name, 0.0) for name, value in self.exponents.items()}
        return replace(self, exponents=off)

    def compared(
        self,
        points: Sequence[Cell],
        read: Sequence[Cell],
        estimates: Sequence[float],
        bounds: Sequence[Callable[[float], Interval]],
        predict: Predict | None,
        alpha: float,
    ) -> Components:
        """Make a component per exponent, in the order of `exponents`.

        Args:
            points: as returned by `points`.
            read: cells whose further replicates may help.
            estimates: an estimate per exponent.
            bounds: per exponent, a function from a level to an interval; each end misses the
                exponent with probability at most the level.
            predict: the theory's prediction.
            alpha: the claim's alpha at this look.
        """
        ids = [cell.id for cell in read]
        rows = zip(estimates, bounds, self._regions(points, predict).items(), strict=True)
        parts = (
            Part(name, float(found), bounded, ids, {}, region)
            for found, bounded, (name, region) in rows
        )
        return self.joint(parts, alpha)

    def _regions(self, points: Sequence[Cell], predict: Predict | None) -> dict[str, Region]:
        centres, matrix = self.exponents, functional(points, list(self.exponents))
        if self.reference == "prediction":
            values = [number(predict, point) for point in points]
            if min(values) <= 0:
                raise ClaimError(f"an exponent needs positive predictions, not {min(values):g}")
            centres = dict(zip(self.exponents, (matrix @ np.log(values)).tolist(), strict=True))
        widths = self.half_width
        if not isinstance(widths, Mapping):
            widths = dict.fromkeys(centres, widths)
        if widths.keys() != centres.keys():
            raise ClaimError(f"half_width= is for {[*widths]}, and exponents= for {[*centres]}")
        return {name: Region.around(centre, widths[name]) for name, centre in centres.items()}


@dataclass(frozen=True)
class Exponents(ExponentRule):
    """Exponents of mean(observable) in the parameters that `exponents` names, jointly.

    `Exponents({"vocab_size": -1, "length": -2}, half_width=0.1)`: the mean falls as
    1 / (vocab_size length^2), where each exponent may be off by 0.1. With `reference="prediction"`
    the numbers are not used: the exponents follow from `predict` on this grid, even if the law
    bends.
    """

    method: Method = STUDENT
    methods: ClassVar[tuple[type[Method], ...]] = (Student, Deterministic)
    depends_on_all: ClassVar[bool] = True
    estimand: ClassVar[str] = (
        "Least-squares exponents of the log cell means on this grid, as means of their jackknife "
        "pseudo-values."
    )

    def alone(self, point: Cell, predict: Predict | None) -> tuple[Cell, ...]:
        """Return the point, and for each exponent a cell with its parameter times `LEVER`."""
        far = (point.replace(**{name: point[name] * LEVER}) for name in self.exponents)
        return (point, *far)

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        cells = [sample.cell for sample in evidence]
        fewest = min(sample.replicates for sample in evidence)
        values = np.stack([sample[self.observable][..., :fewest] for sample in evidence])
        names, means = list(self.exponents), values.mean(axis=-1)
        errors = values.std(axis=-1, ddof=1) / np.sqrt(fewest)
        # A mean that is not clearly positive has no reliable logarithm.
        positive = (means > 4 * errors).all(axis=0) & (left_out(values) > 0).all(axis=(0, -1))
        if not positive.any():
            nothing = [lambda _: EVERYTHING] * len(names)
            return self.compared(cells, cells, [math.nan] * len(names), nothing, predict, alpha)
        matrix = functional(cells, names)
        with np.errstate(all="ignore"):
            pseudo = pseudo_values(lambda m: np.tensordot(matrix, np.log(m), 1), values)
        pseudo = np.where(positive[..., None], pseudo, math.nan)
        bounds = [partial(self.method.bounds, row) for row in pseudo]
        return self.compared(
            cells, cells, list(pseudo.reshape(len(names), -1).mean(axis=1)), bounds, predict, alpha
        )
