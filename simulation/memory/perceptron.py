"""Perceptrons of random patterns: the labels that real or one-bit weights can give.

The n patterns in d dimensions have independent normal coordinates. Each row of an array is a
pattern times its label, 1 or -1. So weights are right on a pattern if their product with its row is
positive.
"""

import itertools
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linprog

from simulation.streams import Rngs, Streams

Floats = NDArray[np.float64]


def separable(patterns: Floats) -> bool:
    """Check by a linear programme whether some weights have a positive product with every row.

    The programme maximises the margin, the least product, over weights from -1 to 1. The largest
    margin is 0 or clearly positive.

    >>> separable(np.array([[1.0, 2.0], [-1.0, 1.0]])), separable(np.array([[1.0], [-1.0]]))
    (True, False)
    """
    count, dim = patterns.shape
    found = linprog(
        np.append(np.zeros(dim), -1.0),
        A_ub=np.column_stack([-patterns, np.ones(count)]),
        b_ub=np.zeros(count),
        bounds=[(-1, 1)] * dim + [(0, None)],
    )
    return bool(found.x[-1] > 1e-6)


def random_labels(rngs: Rngs, *, patterns: int, dim: int) -> torch.Tensor:
    """Return 1 where some weights classify every pattern correctly, else 0: (R,)."""
    found = [separable(points) for points in Streams(rngs).normal(patterns, dim).numpy()]
    return torch.tensor(found, dtype=torch.float64)


def dichotomies(rngs: Rngs, *, patterns: int, dim: int) -> torch.Tensor:
    """Count the labellings, of all 2^n, that some weights give: (R,)."""
    found = []
    for points in Streams(rngs).normal(patterns, dim).numpy():
        signs = ((1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=patterns - 1))
        found.append(2 * sum(separable(points * np.array(each)[:, None]) for each in signs))
    return torch.tensor(found, dtype=torch.float64)


def binary_patterns(rngs: Rngs, *, dim: int, sequences: int = 16) -> torch.Tensor:
    """Count random patterns until no one-bit weights are right on all: the mean count, (R,).

    The last pattern is not counted. The mean is over ``sequences`` sequences. The number of draws
    depends on the patterns, so each replicate draws on the host.
    """
    found = []
    for rng in rngs:
        counts = []
        for _ in range(sequences):
            left, count = _binary_weights(dim), -1
            while len(left):
                left, count = left[left @ rng.standard_normal(dim) > 0], count + 1
            counts.append(count)
        found.append(np.mean(counts))
    return torch.tensor(found, dtype=torch.float64)


@lru_cache(maxsize=4)
def _binary_weights(dim: int) -> Floats:
    return np.array(list(itertools.product((1.0, -1.0), repeat=dim)))
