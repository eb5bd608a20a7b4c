"""Facts in learned embeddings: subjects are superpositions, and a fixed MLP selects a relation.

Every relation maps the subjects one to one onto as many attributes. A subject's embedding is the
sum over relations of its attributes' vectors, with signs flipped by the relation's pattern. An MLP
of ReLU neurons, gated by the relation, flips the signs back. The answer is the attribute of largest
score (after the abstract of arXiv 2605.12426).
"""

import torch

from simulation.embeddings import unit_vectors
from simulation.streams import Rngs, Streams
from simulation.tiles import groups


def selector(
    signs: torch.Tensor, largest: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Weights of an MLP of 2 R d neurons, in four parts.

    The parts are weights on an embedding (2Rd, d), weights on the one-hot relation (..., 2Rd, R),
    biases (..., 2Rd), and weights of the answer (..., d, 2Rd).

    ``signs``: (..., R, d).  ``largest``: (...).

    For each relation and coordinate, one neuron reads the coordinate and a second neuron reads its
    negative. A bias of minus ``largest``, which no coordinate may exceed, keeps both at zero unless
    the relation is given.

    >>> signs, largest = torch.tensor([[1.0, -1.0], [1.0, 1.0]]), torch.tensor(9.0)
    >>> embed, gate, bias, out = selector(signs, largest)
    >>> subject, relation = torch.tensor([2.0, -3.0]), torch.tensor([1.0, 0.0])
    >>> (out @ torch.relu(embed @ subject + gate @ relation + bias)).tolist()
    [2.0, 3.0]
    """
    relations, dim = signs.shape[-2:]
    own, eye = (torch.eye(n, dtype=signs.dtype, device=signs.device) for n in (relations, dim))
    embed = torch.cat([eye, -eye]).repeat(relations, 1)
    gate = largest[..., None, None] * own.repeat_interleave(2 * dim, 0)
    flips = signs.diag_embed()
    out = torch.cat([flips, -flips], -1).movedim(-3, -2).flatten(-2)
    return embed, gate, -largest[..., None].expand(gate.shape[:-1]), out


def accuracy(
    rngs: Rngs,
    *,
    attributes: int,
    relations: int,
    dim: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> torch.Tensor:
    """Share of facts answered correctly, (R,), for a set of facts from each generator.

    Raises ValueError for fewer than 2 attributes, or fewer than 1 relation or dimension.
    """
    if attributes < 2 or relations < 1 or dim < 1:
        raise ValueError(
            f"{attributes} attributes, {relations} relations, dim {dim}: give at least 2, 1 and 1"
        )
    streams = Streams(rngs, device, dtype)
    with streams.together():
        drawn = (
            unit_vectors(streams, attributes, dim),
            streams.signs(relations, dim),
            streams.permutation(attributes, relations),
        )
    found = []
    for r in groups(len(rngs), 2 * attributes * relations * dim, streams):
        vectors, signs, facts = (table[r] for table in drawn)
        rows = facts.flatten(1)[..., None].expand(-1, -1, dim)
        shown = vectors.gather(1, rows).view(*facts.shape, dim)
        subjects = (signs[:, :, None] * shown).sum(1)
        embed, gate, bias, out = selector(signs, subjects.abs().amax((1, 2)))
        seen = subjects @ embed.T + bias[:, None]
        right = [
            ((seen + on[:, None]).relu() @ out.mT @ vectors.mT).argmax(2) == asked
            for on, asked in zip(gate.unbind(2), facts.unbind(1), strict=True)
        ]
        found.append(torch.stack(right).to(dtype).mean((0, 2)))
    return torch.cat(found)
