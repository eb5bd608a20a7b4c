r"""A rival to the product law: the critical number of samples as a sum, $aV + bL + c/d$.

We do not predict this law. It is the best law of a form in which V, L and d do not multiply, and
the evidence can refute it.
"""

from functools import cache
from itertools import product

import numpy as np
from scipy.optimize import nnls

from theory.attention import critical
from theory.attention.problem import Problem
from theory.laws.quadrature import Array

_GRID = tuple(product((512, 1024, 2048), (8, 16, 32, 64), (12, 16, 24, 32, 48)))


def critical_samples(problem: Problem) -> float:
    """Sum $aV + bL + c/d$ at the sizes of ``problem``, a number of samples.

    The coefficients, none of them negative, minimise the mean squared relative difference from
    `critical.threshold` over a grid: V from 512 to 2048, L from 8 to 64, d from 12 to 48.
    """
    return float(_coefficients() @ _features(problem.vocab_size, problem.length, problem.dim))


def _features(vocab_size: float, length: float, dim: float) -> Array:
    return np.array([vocab_size, length, 1 / dim])


@cache
def _coefficients() -> Array:
    wanted = [critical.threshold(vocab_size=v, length=n, dim=d) for v, n, d in _GRID]
    rows = np.array([_features(*sizes) for sizes in _GRID]) / np.array(wanted)[:, None]
    solution, _ = nnls(rows, np.ones(len(wanted)))
    return np.asarray(solution)
