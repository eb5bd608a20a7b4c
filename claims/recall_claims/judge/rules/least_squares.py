"""Scaling exponents as least-squares functionals of the logarithms of independent estimates.

The exponents of a law y ~ prod_p p^{e_p} on a given grid are defined as the ordinary
least-squares coefficients of log y on the log parameters. Being a fixed linear functional of the
vector log y, they are well-defined even where the law bends, and the same functional applied to
the theory's own values gives what the theory predicts for this very grid. No assumption is made
on the residuals of the fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recall_claims.declare.cell import Cell
from recall_claims.errors import ClaimError
from recall_claims.judge.region import Component, Interval, Region
from recall_claims.judge.rules.base import Array, Predict, number


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
    exponents: Mapping[str, float],
    estimates: Sequence[float],
    intervals: Sequence[Interval],
    half_width: float | Mapping[str, float],
    predict: Predict | None,
) -> tuple[Component, ...]:
    """A component per exponent.

    Args:
        cells: the grid.
        exponents: the regions' centres by parameter.
        estimates: the estimated exponents, in the same order.
        intervals: their intervals.
        half_width: the regions' half width, one for all or one each.
        predict: if given, the regions are centred on the exponents that the predictions have on
            this grid, in place of `exponents`.
    """
    names = list(exponents)
    centres = [exponents[name] for name in names]
    if predict is not None:
        logs = np.log([number(predict, cell) for cell in cells])
        centres = list(functional(cells, names) @ logs)
    return tuple(
        Component(
            name,
            estimate,
            interval,
            Region.around(
                float(centre), half_width[name] if isinstance(half_width, Mapping) else half_width
            ),
            "exponent",
        )
        for name, estimate, interval, centre in zip(
            names, estimates, intervals, centres, strict=True
        )
    )
