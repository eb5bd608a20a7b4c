"""Crossings: the argument at which a monotone function, rising or falling, passes a level.

A function that has not reached the level at the bracket's upper end crosses the level at infinity.
A function that has already passed the level at the lower end crosses it "before": `root` returns
minus infinity, `log_root` 0, and `integer_root` and `least_integer` the lower end. Callers that
promise a finite number check for these values. `bisected` stays inside its bracket.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from theory.laws.quadrature import Array

_MOST = 2**40


def root(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    level: float = 0.0,
    tolerance: float = 2e-12,
) -> float:
    """Argument between ``low`` and ``high`` at which a monotone function has this value.

    Args:
        function: rising or falling, and continuous.
        low: lower end of the bracket.
        high: upper end.
        level: the value.
        tolerance: absolute tolerance of the argument.

    Returns:
        Infinity if the level lies beyond ``high``, or if the function is constant at another
        value; minus infinity if the level lies before ``low``.

    >>> round(root(lambda x: -x**3, 0, 9, level=-8), 9), root(lambda x: x, 0, 1, level=7)
    (2.0, inf)
    """

    @cache
    def excess(x: float) -> float:
        return function(x) - level

    low, high = float(low), float(high)  # the cache distinguishes 0 from 0.0
    if excess(low) * excess(high) > 0:
        return math.inf if abs(excess(high)) <= abs(excess(low)) else -math.inf
    return float(brentq(excess, low, high, xtol=tolerance))


def log_root(
    function: Callable[[float], float],
    low: float,
    high: float | None = None,
    *,
    level: float = 0.0,
    tolerance: float,
) -> float:
    """Positive argument at which a monotone function has this value, found on a logarithmic axis.

    Args:
        function: rising or falling, and continuous.
        low: lower end of the bracket.
        high: upper end; None doubles it until a *rising* function reaches the level.
        level: the value.
        tolerance: relative tolerance of the argument.

    Returns:
        Infinity if the level lies beyond ``high``, 0 if before ``low``.

    >>> round(log_root(lambda x: x**2, 1.0, level=1e6, tolerance=1e-9), 5)
    1000.0
    """
    if high is None:
        high = 2 * low
        while function(high) < level:
            high *= 2
            if math.isinf(high):
                return math.inf
    bracket = math.log(low), math.log(high)
    found = root(lambda x: function(math.exp(x)), *bracket, level=level, tolerance=tolerance)
    return math.exp(found)


def integer_root(
    function: Callable[[int], float], *, level: float, most: int = _MOST, within: float
) -> float:
    """Positive real number at which a rising function of integers has the value ``level``.

    The search bisects down to neighbours, or to a bracket of relative width ``within``, and
    interpolates in the logarithm of the argument.

    Returns:
        1 if the function reaches the level at 1; infinity if it is below the level at every power
        of 2 up to ``most``.

    >>> round(integer_root(lambda n: math.log(n), level=math.log(1000), within=0.01))
    1000
    """

    @cache
    def excess(n: int) -> float:
        return function(n) - level

    if excess(1) >= 0:
        return 1.0
    high = _doubled(lambda n: excess(n) >= 0, 1, most)
    if high is None:
        return math.inf
    low = high // 2
    while high - low > 1 and high > low * (1 + within):
        middle = (low + high) // 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    share = excess(low) / (excess(low) - excess(high))
    return float(low * (high / low) ** share)


def least_integer(holds: Callable[[int], bool], low: int, high: int | None = None) -> float:
    """Least integer from ``low`` on that meets a condition; once true, the condition stays true.

    Args:
        holds: the condition.
        low: where the search begins, at least 1.
        high: an integer at which the condition is known to hold, if any.

    Returns:
        Infinity if the condition holds at none of low, 2 low, 4 low, ... up to 2^40.

    Raises ValueError for ``low`` below 1.

    >>> least_integer(lambda n: n**2 > 90, 1)
    10.0
    """
    if low < 1:
        raise ValueError(f"the search begins at 1 or above, not at {low}")
    if holds(low):
        return float(low)
    if high is None:
        high = _doubled(holds, low, _MOST)
        if high is None:
            return math.inf
        low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return float(high)


def bisected(
    passed: Callable[[Array], NDArray[np.bool_]], low: Array, high: Array, *, steps: int
) -> Array:
    """Elementwise crossings between ``low`` and ``high``, within 2^-steps of their distance.

    ``passed`` returns which trial arguments, shaped like ``low``, lie at or beyond their crossing.

    >>> bisected(lambda x: x**2 > np.array([4.0, 9.0]), np.zeros(2), np.full(2, 8.0), steps=40)
    array([2., 3.])
    """
    for _ in range(steps):
        middle = (low + high) / 2
        beyond = passed(middle)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return (low + high) / 2


def _doubled(reached: Callable[[int], bool], start: int, most: int) -> int | None:
    """First number of 2 start, 4 start, ..., up to ``most``, that meets a condition."""
    high = 2 * start
    while high <= most:
        if reached(high):
            return high
        high *= 2
    return None
