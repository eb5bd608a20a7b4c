"""The linear associative memory W = sum_k u_k e_k^T, and versions of it of low rank or one bit.

An input ``e`` is answered by the output ``u_j`` of largest score ``u_j . W e`` (paper B, statement
B1). R replicates, n associations, dimension d.
"""

from dataclasses import dataclass

import torch

from simulation import decoding
from simulation.embeddings import unit_vectors
from simulation.streams import Rngs, Streams


@dataclass(frozen=True, kw_only=True)
class Associations:
    """Pairs to store: ``inputs``, ``outputs`` of shape (R, n, d); row k of one belongs to row k of
    the other."""

    inputs: torch.Tensor
    outputs: torch.Tensor


def draw(
    rngs: Rngs,
    *,
    associations: int,
    dim: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Associations:
    """Independent uniform unit vectors, one set of pairs from each generator.

    Raises ValueError for fewer than 2 associations or less than 1 dimension.
    """
    if associations < 2 or dim < 1:
        raise ValueError(
            f"{associations} associations in dim {dim}: give at least 2 and at least 1 dimension"
        )
    streams = Streams(rngs, device, dtype)
    inputs, outputs = (unit_vectors(streams, associations, dim) for _ in range(2))
    return Associations(inputs=inputs, outputs=outputs)


def orthonormal(
    *,
    replicates: int,
    associations: int,
    dim: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Associations:
    """Pairs of basis vectors, which any other orthonormal vectors equal up to rotations.

    Raises ValueError for more associations than dimensions.
    """
    if associations > dim:
        raise ValueError(f"{associations} vectors cannot be orthonormal in dim {dim}: raise dim")
    basis = torch.eye(associations, dim, device=device, dtype=dtype)
    basis = basis.expand(replicates, associations, dim)
    return Associations(inputs=basis, outputs=basis.flip(1))


def subspaces(
    rngs: Rngs,
    *,
    dim: int,
    width: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> torch.Tensor:
    """Orthonormal bases (R, d, m) of uniform random subspaces of dimension m = ``width``.

    Raises ValueError unless 0 < width <= dim.
    """
    if not 0 < width <= dim:
        raise ValueError(f"width {width} must be above 0 and at most dim={dim}")
    basis: torch.Tensor = torch.linalg.qr(Streams(rngs, device, dtype).normal(dim, width))[0]
    return basis


def hebbian(pairs: Associations) -> torch.Tensor:
    """The sum of outer products sum_k u_k e_k^T: (R, d, d).

    >>> pairs = orthonormal(replicates=1, associations=2, dim=2)
    >>> hebbian(pairs)[0].tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return pairs.outputs.mT @ pairs.inputs


def low_rank(memory: torch.Tensor, basis: torch.Tensor) -> torch.Tensor:
    """The memory behind a projector, W P P^T with P (R, d, m): two factors of m d parameters each.

    >>> low_rank(torch.eye(2)[None], torch.tensor([[[1.0], [0.0]]]))[0].tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    return memory @ basis @ basis.mT


def one_bit(memory: torch.Tensor) -> torch.Tensor:
    """The memory with the sign of each entry alone.

    >>> one_bit(torch.tensor([[0.5, -2.0]])).tolist()
    [[1.0, -1.0]]
    """
    return memory.sign()


def recalled(
    pairs: Associations, memory: torch.Tensor, *, queries: int | None = None
) -> torch.Tensor:
    """Whether each of the first ``queries`` inputs, by default all, gets its own output among the
    outputs of all n associations: (R, queries) bool."""
    answers = decoding.predict(pairs.outputs, memory, pairs.inputs[:, :queries])
    return answers == torch.arange(answers.shape[1], device=answers.device)


def recalled_share(
    pairs: Associations, memory: torch.Tensor, *, queries: int | None = None
) -> torch.Tensor:
    """Share recalled of the first ``queries`` associations, by default of all: (R,)."""
    return recalled(pairs, memory, queries=queries).to(memory.dtype).mean(1)


def all_recalled(pairs: Associations, memory: torch.Tensor) -> torch.Tensor:
    """1 where every association is recalled, else 0: (R,)."""
    return recalled(pairs, memory).all(1).to(memory.dtype)
