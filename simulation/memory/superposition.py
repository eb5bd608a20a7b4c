"""Facts in learned embeddings: subjects are superpositions, and a fixed MLP selects a relation.

Every relation maps the subjects one to one onto as many attributes. A subject's embedding is the
sum over relations of its attributes' vectors, their signs flipped by the relation's own pattern. An
MLP of ReLU neurons, gated by the relation, flips them back; the answer is the attribute of largest
score (after arXiv 2605.12426, whose construction is not public here).
"""

import torch

from simulation.embeddings import unit_vectors
from simulation.streams import Rngs, Streams


def selector(
    signs: torch.Tensor, largest: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The MLP's weights: of its 2 R d neurons on an embedding (2Rd, d), on the relation, one hot,
    (2Rd, R), their bias (2Rd,), and of its answer (d, 2Rd).

    Neurons see each coordinate and its negative, once a relation, and are silent by ``largest``, no
    coordinate being larger, unless the relation is theirs.

    >>> embed, gate, bias, out = selector(torch.tensor([[1.0, -1.0], [1.0, 1.0]]), 9.0)
    >>> subject, relation = torch.tensor([2.0, -3.0]), torch.tensor([1.0, 0.0])
    >>> (out @ torch.relu(embed @ subject + gate @ relation + bias)).tolist()
    [2.0, 3.0]
    """
    relations, dim = signs.shape
    eye = torch.eye(dim).to(signs)
    embed = torch.cat([eye, -eye]).repeat(relations, 1)
    gate = largest * torch.eye(relations).to(signs).repeat_interleave(2 * dim, 0)
    out = torch.cat([part for sign in signs.diag_embed() for part in (sign, -sign)], 1)
    return embed, gate, torch.full_like(gate[:, 0], -largest), out


def accuracy(
    rngs: Rngs,
    *,
    attributes: int,
    relations: int,
    dim: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> torch.Tensor:
    """(R,): share of the facts that are answered rightly, one set of facts from each generator.

    Raises ValueError for fewer than 2 attributes, or less than 1 relation or dimension.
    """
    if attributes < 2 or relations < 1 or dim < 1:
        raise ValueError(
            f"{attributes} attributes, {relations} relations, dim {dim}: give at least 2, 1 and 1"
        )
    streams = Streams(rngs, device, dtype)
    drawn = (
        unit_vectors(streams, attributes, dim),
        streams.signs(relations, dim),
        streams.permutation(attributes, relations),
    )
    found = []
    for vectors, signs, facts in zip(*drawn, strict=True):
        subjects = (signs[:, None] * vectors[facts]).sum(0)
        embed, gate, bias, out = selector(signs, float(subjects.abs().max()))
        seen = subjects @ embed.T + bias
        right = [
            ((seen + gate[:, r]).relu() @ out.T @ vectors.T).argmax(1) == facts[r]
            for r in range(relations)
        ]
        found.append(torch.stack(right).to(dtype).mean())
    return torch.stack(found)
