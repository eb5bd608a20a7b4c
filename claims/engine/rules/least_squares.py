"""Scaling exponents as least-squares functionals of the logarithms of independent estimates.

The exponents of a law y ~ prod_p p^{e_p} on a given grid are defined as the ordinary
least-squares coefficients of log y on the log parameters. Being a fixed linear functional of the
vector log y, they are well-defined even where the law bends, the same functional applied to the
theory's own values gives what the theory predicts for this very grid, and their standard errors
follow exactly from those of the log estimates, with no assumption on the residuals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from claims.engine.cell import Cell
from claims.engine.errors import ClaimError
from claims.engine.region import EVERYTHING, Component, Interval, Region
from claims.engine.rules.base import Array, Predict, number


def functional(cells: Sequence[Cell], parameters: Sequence[str]) -> Array:
    """Matrix of shape (parameters, cells) that maps log values to exponents.

    Raises:
        ClaimError: a parameter is missing, not positive, or does not vary independently.
    """
    for cell in cells:
        for name in parameters:
            if name not in cell or cell.number(name) <= 0:
                raise ClaimError(f"an exponent in {name} needs a positive {name} at {cell.id}")
    logs = np.log([[cell.number(name) for name in parameters] for cell in cells])
    if np.linalg.matrix_rank(logs - logs.mean(axis=0)) < len(parameters):
        raise ClaimError(
            f"the grid does not vary {', '.join(parameters)} independently, so their exponents "
            "cannot be told apart; add cells"
        )
    design = np.column_stack([np.ones(len(cells)), logs])
    return np.linalg.pinv(design)[1:]


def components(
    cells: Sequence[Cell],
    log_values: Array,
    log_errors: Array,
    degrees: int,
    exponents: Mapping[str, float],
    half_width: float | Mapping[str, float],
    predict: Predict | None,
    alpha: float,
) -> tuple[Component, ...]:
    """A component per exponent.

    Args:
        cells: the grid.
        log_values: estimated log y, shape (cells,); NaN where unknown.
        log_errors: their standard errors, shape (cells,).
        degrees: degrees of freedom of each standard error.
        exponents: the region's centres.
        half_width: the regions' half width, one for all or one each.
        predict: if given, the regions are centred on the exponents that the predictions have on
            this grid, in place of `exponents`.
        alpha: probability that some interval misses.
    """
    names = list(exponents)
    matrix = functional(cells, names)
    estimates = matrix @ log_values
    errors = np.sqrt(matrix**2 @ log_errors**2)
    quantile = stats.t.isf(alpha / len(names) / 2, degrees)
    centres = np.array([exponents[name] for name in names])
    if predict is not None:
        centres = matrix @ np.log([number(predict, cell) for cell in cells])
    result = []
    for name, estimate, error, centre in zip(names, estimates, errors, centres, strict=True):
        width = half_width[name] if isinstance(half_width, Mapping) else half_width
        known = np.isfinite(estimate) and np.isfinite(error)
        reach = quantile * error
        interval = Interval(estimate - reach, estimate + reach) if known else EVERYTHING
        region = Region.around(float(centre), width)
        result.append(Component(name, float(estimate), interval, region, "exponent"))
    return tuple(result)
