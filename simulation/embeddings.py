"""Random embeddings, a table for each replicate.

Laws: ``"sphere"``, uniform unit vectors; ``"gaussian"``, N(0, I/d) vectors in d dimensions;
``"orthonormal"``, orthonormal vectors.
"""

from collections.abc import Callable

import torch

from simulation.streams import Streams


def unit_vectors(streams: Streams, count: int, dim: int) -> torch.Tensor:
    """Draw ``count`` independent vectors, uniform on the unit sphere: (R, count, dim).

    >>> import numpy as np
    >>> vectors = unit_vectors(Streams([np.random.default_rng(0)]), 2, 3)
    >>> vectors.norm(dim=2).round(decimals=9).tolist()
    [[1.0, 1.0]]
    """
    vectors = streams.normal(count, dim)
    streams.then(lambda: vectors.div_(vectors.norm(dim=2, keepdim=True)))
    return vectors


def gaussian(streams: Streams, count: int, dim: int) -> torch.Tensor:
    """Draw ``count`` independent N(0, I/dim) vectors: (R, count, dim)."""
    vectors = streams.normal(count, dim)
    streams.then(lambda: vectors.div_(dim**0.5))
    return vectors


def embed(
    streams: Streams, count: int, dim: int, embeddings: str = "sphere", *, first: int = 0
) -> torch.Tensor:
    """Draw vectors of the law named ``embeddings``: (R, count, dim).

    ``first``: index of the first basis vector, used only by the orthonormal law. This law is not
    random, and needs ``dim`` of at least first + count: further vectors would be zero.

    Raises KeyError for an unknown law.
    """
    return LAWS[embeddings](streams, count, dim, first)


def _basis(streams: Streams, count: int, dim: int, first: int) -> torch.Tensor:
    table = torch.eye(first + count, dim, device=streams.device, dtype=streams.dtype)[first:]
    return table.repeat(len(streams), 1, 1)


LAWS: dict[str, Callable[[Streams, int, int, int], torch.Tensor]] = {
    "sphere": lambda streams, count, dim, first: unit_vectors(streams, count, dim),
    "gaussian": lambda streams, count, dim, first: gaussian(streams, count, dim),
    "orthonormal": _basis,
}
