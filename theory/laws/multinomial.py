"""Counts of items that fall independently into equally likely cells."""

import numpy as np
from scipy import fft

from theory.laws.quadrature import Array, poisson_chance


def product_mean(weight: Array, cells: int, total: int) -> float:
    """Mean of prod_c weight[n_c] if n_c of ``total`` items fall into cell c of ``cells``.

    With weights of 0 and 1 this mean is the probability that every count has weight 1. Exact:
    multinomial counts are independent Poisson variables given their sum.

    >>> round(product_mean(np.array([1.0, 1.0, 0.0]), 5, 2), 9)
    0.8

    Args:
        weight: weights of the counts 0, ..., ``total``, between 0 and 1.
        cells: number of cells.
        total: number of items.
    """
    each = weight * poisson_chance(np.arange(total + 1), total / cells)
    # Sums that wrap around to ``total`` exceed five times the mean, which is very rare.
    size = fft.next_fast_len(4 * total + 64, real=True)
    sums = fft.irfft(fft.rfft(each, size) ** cells, size)
    return float(sums[total] / poisson_chance(np.array(total), total))
