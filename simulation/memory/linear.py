"""Linear associative memory W = sum_k u_k e_k^T, and its versions of low rank or one bit.

The answer to an input ``e`` is the output ``u_j`` of largest score ``u_j . W e`` (paper B,
statement B1). In shapes, n is the number of associations and d the dimension.
"""

from dataclasses import dataclass

import torch

from simulation import decoding
from simulation.embeddings import unit_vectors
from simulation.streams import Rngs, Streams


@dataclass(frozen=True, kw_only=True)
class Associations:
    """Pairs to store: rows k of ``inputs`` (R, n, d) and of ``outputs`` (R, n, d) form a pair."""

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
    """Draw a set of pairs of independent uniform unit vectors from each generator.

    Raises ValueError if ``associations`` is below 2 or ``dim`` below 1.
    """
    if associations < 2 or dim < 1:
        raise ValueError(
            f"{associations} associations in dim {dim}: give at least 2 associations and 1 "
            "dimension"
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
    """Make pairs of basis vectors; a rotation would turn them into any other orthonormal vectors.

    Raises ValueError if there are more associations than dimensions.
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
    """Draw orthonormal bases (R, d, m) of uniform random subspaces of dimension m = ``width``.

    Raises ValueError unless 0 < width <= dim.
    """
    if not 0 < width <= dim:
        raise ValueError(f"width {width} must be above 0 and at most dim={dim}")
    basis: torch.Tensor = torch.linalg.qr(Streams(rngs, device, dtype).normal(dim, width))[0]
    return basis


def hebbian(pairs: Associations) -> torch.Tensor:
    """Sum the outer products u_k e_k^T of all pairs: (R, d, d).

    >>> pairs = orthonormal(replicates=1, associations=2, dim=2)
    >>> hebbian(pairs)[0].tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return pairs.outputs.mT @ pairs.inputs


def low_rank(memory: torch.Tensor, basis: torch.Tensor) -> torch.Tensor:
    """Multiply a memory W by a projector: W P P^T, (R, d, d), with ``basis`` P (R, d, m).

    The product has two factors of m d parameters each, W P and P.

    >>> low_rank(torch.eye(2)[None], torch.tensor([[[1.0], [0.0]]]))[0].tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    return memory @ basis @ basis.mT


def one_bit(memory: torch.Tensor) -> torch.Tensor:
    """Replace each entry of a memory by its sign, -1, 0 or 1.

    >>> one_bit(torch.tensor([[0.5, -2.0]])).tolist()
    [[1.0, -1.0]]
    """
    return memory.sign()


def recalled(
    pairs: Associations, memory: torch.Tensor, *, queries: int | None = None
) -> torch.Tensor:
    """Check whether the first ``queries`` inputs, or all, are recalled: (R, queries) bool.

    Outputs of all n associations compete.
    """
    answers = decoding.predict(pairs.outputs, memory, pairs.inputs[:, :queries])
    return answers == torch.arange(answers.shape[1], device=answers.device)


def recalled_share(
    pairs: Associations, memory: torch.Tensor, *, queries: int | None = None
) -> torch.Tensor:
    """Measure the share recalled of the first ``queries`` associations, or of all: (R,)."""
    return recalled(pairs, memory, queries=queries).to(memory.dtype).mean(1)


def all_recalled(pairs: Associations, memory: torch.Tensor) -> torch.Tensor:
    """Return 1 where every association is recalled, else 0: (R,)."""
    return recalled(pairs, memory).all(1).to(memory.dtype)
