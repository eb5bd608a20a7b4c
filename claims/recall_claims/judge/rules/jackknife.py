"""Pseudo-values: functions of means as means, by the jackknife.

An estimand f(m), such as a variance, a kurtosis or a ratio of two means, is not a mean of
replicates. It is nearly the mean of its pseudo-values, n f(m) - (n - 1) f(m without the i-th) (J.
W. Tukey, 1958). That mean estimates it without the bias of order 1/n, and a t interval for the mean
bounds it, certified like any other.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from recall_claims.judge.methods import Array


def left_out(values: Array) -> Array:
    """Means without one replicate each, of the shape of the values: (..., replicates)."""
    count = values.shape[-1]
    found: Array = (count * values.mean(axis=-1, keepdims=True) - values) / (count - 1)
    return found


def pseudo_values(function: Callable[[Array], Any], values: Array) -> Array:
    """Pseudo-values of a function of means, shape (..., replicates).

    Args:
        function: of means, shape (rows, ...), along the first axis.
        values: whose means they are, shape (rows, ..., replicates).
    """
    count = values.shape[-1]
    whole = np.asarray(function(values.mean(axis=-1)))
    found: Array = count * whole[..., None] - (count - 1) * function(left_out(values))
    return found
