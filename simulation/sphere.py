"""Vectors uniform on the unit sphere."""

import numpy as np
import numpy.typing as npt


def unit_vectors(rng: np.random.Generator, count: int, dim: int) -> npt.NDArray[np.float64]:
    """``count`` independent vectors, uniform on the unit sphere: (count, dim).

    >>> np.linalg.norm(unit_vectors(np.random.default_rng(0), 2, 3), axis=1).round(12).tolist()
    [1.0, 1.0]
    """
    vectors: npt.NDArray[np.float64] = rng.standard_normal((count, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
