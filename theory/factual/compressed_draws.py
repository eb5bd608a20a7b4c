"""Random facts for compressed values. No draw depends on the MLP's width: all are made once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from theory.laws.quadrature import Array

Indices = NDArray[np.int64]


@lru_cache(maxsize=1)  # 100 MB or so; a search for a width draws once
def narrow(
    subjects: int, relations: int, answers: int, group: int, head_dim: int, frequency: float
) -> list[tuple[Array, Array, Array, Array, tuple[Indices, Indices]]]:
    """Draw eight sets of 1000 facts.

    A set has the logits without noise, (1000, relations * answers), and their sum of squares per
    fact, (1000,). Two arrays shaped like logits have each answer's number of facts and standard
    normal noise. Last is the right answers' index.
    """
    rng, size, found = np.random.default_rng(20241209), relations * answers, []
    for _ in range(8):
        near = 2 * rng.beta((head_dim - 1) / 2, (head_dim - 1) / 2, (2, 1000, group)) - 1
        near[:, :, 0] = 1.0
        subject, relation = np.exp(-(frequency**2) * (1 - near))
        chosen = rng.integers(answers, size=(1000, group, group))
        # Axes: fact, neighbouring subject, neighbouring relation, answer of that relation.
        told = (chosen[..., None] == np.arange(answers)) * subject[:, :, None, None]
        logits = np.zeros((1000, size))
        logits[:, : group * answers] = (told.sum(1) * relation[..., None]).reshape(1000, -1)
        crowd = rng.binomial(subjects, 1 / answers, logits.shape).astype(np.float64)
        standard = rng.standard_normal(logits.shape)
        own = np.arange(1000), chosen[:, 0, 0]
        found.append((logits, (logits**2).sum(1), crowd, standard, own))
    return found
