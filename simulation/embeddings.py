"""Embeddings drawn by their laws, a table of them for each replicate.

Laws: ``"sphere"``, uniform unit vectors; ``"gaussian"``, N(0, I/d) vectors; ``"orthonormal"``,
orthonormal vectors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_TILE = 2**18


def unit_vectors(rng: np.random.Generator, count: int, dim: int) -> Floats:
    """``count`` independent vectors, uniform on the unit sphere: (count, dim).

    >>> np.linalg.norm(unit_vectors(np.random.default_rng(0), 2, 3), axis=1).round(12).tolist()
    [1.0, 1.0]
    """
    vectors: Floats = rng.standard_normal((count, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def embed(
    rng: np.random.Generator, table: npt.NDArray[Any], embeddings: str = "sphere", *, first: int = 0
) -> None:
    """Fill ``table`` (n, d), of any floating-point type, with embeddings of this law.

    They are drawn in float64, a tile of rows at a time, so that no second table is held.
    ``first``: the number of the first row, which only orthonormal embeddings depend on.
    """
    count, dim = table.shape
    size = max(1, _TILE // dim)
    for start in range(0, count, size):
        rows = table[start : start + size]
        rows[:] = LAWS[embeddings](rng, first + start, *rows.shape)


LAWS: dict[str, Callable[[np.random.Generator, int, int, int], Floats]] = {
    "sphere": lambda rng, first, count, dim: unit_vectors(rng, count, dim),
    "gaussian": lambda rng, first, count, dim: rng.standard_normal((count, dim)) / np.sqrt(dim),
    "orthonormal": lambda rng, first, count, dim: np.eye(count, dim, first),
}
"""Some vectors of each law, (count, dim), of which the first has this number; basis vectors need no
chance."""
