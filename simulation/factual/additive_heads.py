"""Linear programmes that decide whether codes exist that store facts without an MLP.

A code is the vector that heads output for a subject or for a relation. A fact's logits are then its
subject's logits plus its relation's logits. The embeddings of answers are independent N(0, I/d)
vectors, in R = ``relations`` blocks of D = ``answers`` vectors.
"""

import numpy as np
import numpy.typing as npt
from scipy import optimize

from simulation.streams import Streams

Floats = npt.NDArray[np.float64]


def subject_code_exists(
    rng: np.random.Generator, *, relations: int, answers: int, dim: int
) -> bool:
    """Check whether a code exists that prefers a given answer in each of the R blocks.

    Raises ValueError if a size is below 1, and RuntimeError if the programme is not solved.

    >>> subject_code_exists(np.random.default_rng(0), relations=4, answers=3, dim=12)
    True
    >>> subject_code_exists(np.random.default_rng(0), relations=4, answers=3, dim=1)
    False
    """
    outputs = _gaussian(rng, relations, answers, dim)
    return _feasible((outputs[:, :1] - outputs[:, 1:]).reshape(-1, dim))


def relation_code_exists(
    rng: np.random.Generator, *, relations: int, answers: int, dim: int
) -> bool:
    """Check whether a code exists that scores all outputs of relation 1 above all others.

    Raises ValueError if a size is below 1, and RuntimeError if the programme is not solved.

    >>> relation_code_exists(np.random.default_rng(0), relations=2, answers=2, dim=4)
    True
    """
    outputs = _gaussian(rng, relations, answers, dim)
    # With a free threshold between the two sets, R D constraints replace D (R - 1) D.
    signs = np.where(np.arange(relations)[:, None, None] == 0, 1.0, -1.0)
    rows = np.concatenate([outputs, -np.ones((relations, answers, 1))], 2) * signs
    return _feasible(rows.reshape(-1, dim + 1))


def _gaussian(rng: np.random.Generator, relations: int, answers: int, dim: int) -> Floats:
    for name, size in {"relations": relations, "answers": answers, "dim": dim}.items():
        if size < 1:
            raise ValueError(f"{name} is {size}: give at least 1")
    outputs: Floats = (Streams([rng]).normal(relations, answers, dim)[0] / dim**0.5).numpy()
    return outputs


def _feasible(rows: Floats) -> bool:
    """Check whether a vector y exists with rows @ y > 0.

    The linear programme maximises the least entry of rows @ y over y from -1 to 1.
    """
    count, size = rows.shape
    result = optimize.linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=np.column_stack([-rows, np.ones(count)]),
        b_ub=np.zeros(count),
        bounds=[(-1, 1)] * size + [(0, 1)],
        method="highs",
    )
    if result.status != 0:
        raise RuntimeError(f"the linear programme was not solved: {result.message}")
    return bool(-result.fun > 1e-7)
