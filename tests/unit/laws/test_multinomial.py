"""theory/laws/multinomial.py against enumeration and the binomial law."""

import itertools

import numpy as np
import pytest
from scipy import stats

from theory.laws import multinomial


@pytest.mark.parametrize(("cells", "total"), [(1, 3), (2, 4), (3, 5), (4, 0)])
def test_mean_of_a_product_by_enumeration(cells: int, total: int) -> None:
    weight = np.random.default_rng(0).uniform(size=total + 1)
    products = [
        np.prod(weight[np.bincount(np.array(placed, dtype=int), minlength=cells)])
        for placed in itertools.product(range(cells), repeat=total)
    ]
    assert multinomial.product_mean(weight, cells, total) == pytest.approx(np.mean(products))


def test_two_cells_are_binomial() -> None:
    allowed = (np.abs(np.arange(301) - 150) <= 12).astype(float)
    expected = stats.binom.cdf(162, 300, 0.5) - stats.binom.cdf(137, 300, 0.5)
    assert multinomial.product_mean(allowed, 2, 300) == pytest.approx(expected)
