r"""Least squares with fewer measurements than weights, by Muon's flow from W = 0.

W moves along the polar factor of minus the gradient, so that times are in units of singular values.
There are two kinds of measurements. In a regression they are outputs for given inputs. Outputs, and
inputs that are not orthonormal, have Gaussian coordinates and mean square length 1. Gaussian
measurements are inner products of W (p rows, q columns) and Gaussian matrices of mean square length
1/q. The vector of their targets has length 1. $\rho$ is the number of measurements per weight.
Derivation: underdetermined.md.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from recall_claims import Regime, log_range, prediction
from theory.laws import quadrature

_SOURCE = "arXiv 2606.08388, H1; derived"
_NODES = 200
Array = NDArray[np.float64]
Law = Callable[[Array], Array]

REGRESSION = Regime(
    "n >= 12; inputs and outputs in 4 n dimensions and more; t up to 0.25, before the first "
    "singular value stops",
    {
        "samples": log_range(12, 64),
        "dim": log_range(48, 512),
        "outputs": log_range(48, 512),
        "time": (0.05, 0.15, 0.25),
    },
    holds=lambda cell: min(cell["dim"], cell["outputs"]) >= 4 * cell["samples"],
)
"""Regime in which `regression_loss` states its error."""

ORTHONORMAL = Regime(
    "orthonormal inputs; n >= 16; outputs in 2 n dimensions and more; t from 0.2 to 1.4",
    {
        "samples": log_range(16, 128),
        "dim": log_range(17, 512),
        "outputs": log_range(32, 512),
        "time": (0.2, 0.6, 1.0, 1.4),
    },
    holds=lambda cell: cell["dim"] > cell["samples"] and cell["outputs"] >= 2 * cell["samples"],
)
"""Regime in which `kept_share` states its error."""

FEW = Regime(
    "at least 8 times as many weights as measurements; t up to 0.6, half the time to fit these",
    {
        "rows": log_range(8, 64),
        "columns": log_range(8, 64),
        "measurements": log_range(2, 512),
        "time": (0.2, 0.4, 0.6),
    },
    holds=lambda cell: (
        cell["columns"] <= cell["rows"]
        and 8 * cell["measurements"] <= cell["rows"] * cell["columns"]
    ),
)
"""Regime in which the bounds of the loss on Gaussian measurements are close."""

FEWER = Regime(
    "at least 32 times as many weights as measurements",
    {
        "rows": log_range(8, 64),
        "columns": log_range(8, 64),
        "measurements": log_range(2, 128),
    },
    holds=lambda cell: (
        cell["columns"] <= cell["rows"]
        and 32 * cell["measurements"] <= cell["rows"] * cell["columns"]
    ),
)
"""Regime in which the bounds of the speed on Gaussian measurements are close."""


def _check(**sizes: float) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} = {size}: give at least 1")


def mean_value(first: float, second: float = 0.0) -> float:
    r"""Mean singular value $\frac2\pi\int_0^1\sqrt{(1-p)(1-ap)(1-bp)/p}\,dp$ for ratios a and b.

    The matrix is m x n, large, with N(0, 1/m) entries and n/m = a. For nonzero b it is multiplied
    by an independent n x l matrix with N(0, 1/l) entries and n/l = b. The mean is over n values.

    Raises:
        ValueError: a ratio is not in [0, 1].

    >>> round(mean_value(1.0) * 3 * math.pi / 8, 9)
    1.0
    """
    if not (0 <= first <= 1 and 0 <= second <= 1):
        raise ValueError(f"ratios {first} and {second}: give numbers from 0 to 1")
    nodes, weights = quadrature.legendre(_NODES)
    # With p = sin^2 the roots at both ends are smooth.
    angle = (nodes + 1) * math.pi / 4
    share = np.sin(angle) ** 2
    values = np.cos(angle) ** 2 * np.sqrt((1 - first * share) * (1 - second * share))
    return float(weights @ values)


def speed(rows: int, columns: int) -> float:
    r"""Mean singular value $c$ of a rows x columns matrix of N(0, 1/rows) entries.

    The formula includes the correction of order 1/columns. For square matrices it is 1.2% too small
    at 4 columns, 0.4% at 8 and 0.1% at 16. Raises ValueError for more columns than rows, or none.

    >>> round(speed(16, 16), 4)
    0.8403
    """
    return _mean(np.sqrt, rows, columns)


def _mean(statistic: Callable[[Array], Array], rows: int, columns: int) -> float:
    """Mean of a statistic of the squared singular values of a matrix of N(0, 1/rows) entries.

    The mean is from the law of Marchenko and Pastur, with the correction of order 1/columns for
    real entries (Z. Bai and J. Silverstein, Ann. Probab. 32, 553, 2004).
    """
    _check(columns=columns)
    if columns > rows:
        raise ValueError(f"{columns} columns of {rows} rows: give at most as many")
    nodes, weights = quadrature.legendre(_NODES)
    ratio = columns / rows
    angle = (nodes + 1) * math.pi / 2
    squares = 1 + ratio - 2 * math.sqrt(ratio) * np.cos(angle)
    values = statistic(squares)
    limit = weights @ (values * np.sin(angle) ** 2 / squares)
    ends = statistic((1 + np.array([-1.0, 1.0]) * math.sqrt(ratio)) ** 2)
    return float(limit + (ends.sum() - weights @ values) / (4 * columns))


def flat_time(samples: int) -> Law:
    r"""Exact law of the time $t_*$ up to which W has n equal singular values, for n orthonormal
    inputs and n + 1 dimensions of outputs: $P(t_*>t)=\exp(-\frac{n(n+1)}2t^2)$.

    Returns the distribution function. Raises ValueError for no samples.
    """
    _check(samples=samples)

    def law(time: Array) -> Array:
        exponent = samples * (samples + 1) / 2 * np.maximum(time, 0) ** 2
        return -np.expm1(-exponent)

    return law


@prediction(
    latex=r"\frac{L(t)}{L(0)}=1-2tf+t^2,\quad "
    r"f=\frac2\pi\int_0^1\sqrt{\tfrac{(1-p)(1-ap)(1-bp)}p}\,dp",
    source=_SOURCE,
    error=0.006,
    regime=REGRESSION,
)
def regression_loss(samples: int, dim: int, outputs: int, time: float) -> float:
    r"""Loss over initial loss while all n singular values are equal; a = n/dim and b = n/outputs.

    Within {error} of the initial loss. Raises ValueError for more samples than dimensions or
    outputs, or none.
    """
    _check(samples=samples)
    return 1 - 2 * time * mean_value(samples / dim, samples / outputs) + time**2


@prediction(
    latex=r"\frac{\|W(t)\|_F^2}{nt^2}=E\min\left(1,\frac st\right)^2,\quad s^2\sim MP(n/m)",
    source=_SOURCE,
    error=0.01,
    regime=ORTHONORMAL,
)
def kept_share(samples: int, outputs: int, time: float) -> float:
    """Mean squared singular value over squared time, on orthonormal inputs.

    Singular value i of W is min(time, s_i), where s_i is singular value i of the outputs. The
    s_i^2 follow Marchenko and Pastur's law. Within {error}.

    Raises:
        ValueError: more samples than outputs, no samples, or a time not above 0.
    """
    if time <= 0:
        raise ValueError(f"at {time}: give a time after the start")
    return _mean(lambda squares: np.minimum(1.0, squares / time**2), outputs, samples)


@prediction(
    latex=r"(1-ct)^2\le E\frac{L(t)}{L(0)}\le(1-ct)^2+\rho t^2",
    source=_SOURCE,
)
def sensing_loss(rows: int, columns: int, measurements: int, time: float) -> float:
    """Loss over initial loss on few Gaussian measurements: the middle of two exact bounds.

    The bounds are rho t^2 / 2 from this middle, at most 0.0225 in the regime `FEW`. Both use
    `speed`, and so share its error. Raises ValueError for more columns than rows.
    """
    missing = max(0.0, 1 - speed(rows, columns) * time)
    return missing**2 + _density(rows, columns, measurements) * time**2 / 2


@prediction(
    latex=r"c-\sqrt\rho\le E\,T^{-1}\le c",
    source=_SOURCE,
)
def sensing_speed(rows: int, columns: int, measurements: int) -> float:
    """Inverse of the time in which few Gaussian measurements are fitted: the middle of two bounds.

    The bounds are sqrt(rho) / 2 from it, at most 0.0884 in `FEWER`. Both use `speed`,
    and so share its error. Raises ValueError for more columns than rows.
    """
    return speed(rows, columns) - math.sqrt(_density(rows, columns, measurements)) / 2


@prediction(
    latex=r"E\frac{\|W\|_F^2}{q\|W\|^2}\ge"
    r"1-\frac43\sqrt{\frac3\pi\cdot\frac{\rho t}{2(1-ct)}}",
    source=_SOURCE,
)
def flat_share(columns: int, measurements: int, time: float) -> float:
    r"""Lower bound on the expected ratio of mean to largest squared singular value of square W:
    $1-\frac43\sqrt{\frac{3}{\pi}\cdot\frac{\rho t}{2(1-ct)}}$.

    With few measurements singular values are nearly equal. Raises ValueError once all measurements
    may be fitted.
    """
    left = 1 - speed(columns, columns) * time
    if left <= 0:
        raise ValueError(f"all measurements may be fitted at {time}: give a time before")
    lost = _density(columns, columns, measurements) * time / (2 * left)
    return 1 - 4 / 3 * math.sqrt(3 * lost / math.pi)


@prediction(
    latex=r"E\frac{q\sum\sigma_i^4}{(\sum\sigma_i^2)^2}=q\,\frac{p+q+1}{pq+2}",
    source="arXiv 2606.08388, H2; derived",
)
def gradient_concentration(rows: int, columns: int) -> float:
    r"""Exact mean of $q\sum\sigma^4/(\sum\sigma^2)^2$, with sums over the q singular values,
    under gradient descent on Gaussian measurements: $q\frac{p+q+1}{pq+2}$ for q <= p.

    The formula holds at every time, for any number of measurements and steps of any size. Equal
    singular values give 1. Raises ValueError for more columns than rows.

    >>> gradient_concentration(1, 1)
    1.0
    """
    _check(columns=columns)
    if columns > rows:
        raise ValueError(f"{columns} columns of {rows} rows: give at most as many")
    return columns * (rows + columns + 1) / (rows * columns + 2)


def _density(rows: int, columns: int, measurements: int) -> float:
    return measurements / (rows * columns)
