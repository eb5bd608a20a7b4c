"""Facts in learned embeddings: subjects are superpositions, and a fixed MLP selects a relation.

Every relation maps the subjects one to one onto as many attributes. A subject's embedding is the
sum over relations of its attributes' vectors, with signs flipped by the relation's pattern. An MLP
of ReLU neurons, gated by the relation, flips the signs back. The answer is the attribute of largest
score (after the abstract of arXiv 2605.12426). In a query of several hops attributes are subjects
too, and the query asks for a relation of a relation of a subject. An MLP can also be trained to
select.
"""

import torch

from simulation.embeddings import unit_vectors
from simulation.memory import mlp
from simulation.streams import Rngs, Streams
from simulation.tiles import groups


def selector(
    signs: torch.Tensor, largest: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Make the weights of an MLP of 2 R d neurons that selects one of R relations, in four parts.

    The parts are weights on an embedding (2Rd, d), weights on the one-hot relation (..., 2Rd, R),
    biases (..., 2Rd), and weights of the answer (..., d, 2Rd).

    ``signs``: (..., R, d), a pattern for each of R relations.  ``largest``: (...), a bound on the
    absolute values of coordinates.

    For each relation and coordinate, one neuron reads the coordinate and a second neuron reads its
    negative. A bias of minus ``largest`` keeps both neurons at zero unless the relation is given.

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


def compositions(maps: torch.Tensor, hops: int) -> torch.Tensor:
    """Follow every sequence of ``hops`` maps, from M maps of S subjects: (..., M^hops, S).

    ``maps``: (..., M, S): map m takes subject s to subject ``maps[m, s]``.

    >>> compositions(torch.tensor([[1, 2, 0], [0, 2, 1]]), 2).tolist()
    [[2, 0, 1], [2, 1, 0], [1, 0, 2], [0, 1, 2]]
    """
    found = maps
    for _ in range(hops - 1):
        shape = (*found.shape[:-1], *maps.shape[-2:])
        last, before = maps[..., None, :, :].expand(shape), found[..., :, None, :].expand(shape)
        found = last.gather(-1, before).flatten(-3, -2)
    return found


def accuracy(
    rngs: Rngs,
    *,
    attributes: int,
    relations: int,
    dim: int,
    hops: int = 1,
    chain: bool = False,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> torch.Tensor:
    """Measure the share of queries answered correctly, (replicates,), a replicate per generator.

    ``hops``: relations in a query; all sequences are asked of all subjects.  ``chain``: whether
    the model answers each hop, and takes its answer as the next hop's subject. If not, every
    sequence counts as a relation, so that subjects are superpositions of relations^hops vectors.

    Raises ValueError for fewer than 2 attributes, or fewer than 1 relation, dimension or hop.
    """
    if attributes < 2 or min(relations, dim, hops) < 1:
        raise ValueError(
            f"{attributes} attributes, {relations} relations, dim {dim}, {hops} hops: give at "
            "least 2, 1, 1 and 1"
        )
    streams, stored = Streams(rngs, device, dtype), 1 if chain else hops
    shown = relations**stored
    with streams.together():
        drawn = (
            unit_vectors(streams, attributes, dim),
            streams.signs(shown, dim),
            streams.permutation(attributes, relations),
        )
    found = []
    for r in groups(len(rngs), 2 * attributes * shown * dim, streams):
        vectors, signs, maps = (table[r] for table in drawn)
        facts = compositions(maps, stored)
        rows = facts.flatten(1)[..., None].expand(-1, -1, dim)
        parts = vectors.gather(1, rows).view(*facts.shape, dim)
        subjects = (signs[:, :, None] * parts).sum(1)
        embed, gate, bias, out = selector(signs, subjects.abs().amax((1, 2)))
        seen = subjects @ embed.T + bias[:, None]
        said = [
            ((seen + on[:, None]).relu() @ out.mT @ vectors.mT).argmax(2) for on in gate.unbind(2)
        ]
        more = hops if chain else 1
        right = compositions(torch.stack(said, 1), more) == compositions(facts, more)
        found.append(right.to(dtype).mean((1, 2)))
    return torch.cat(found)


def transferred(
    rngs: Rngs,
    *,
    attributes: int,
    relations: int,
    dim: int,
    sets: int,
    steps: int = 64,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> dict[str, torch.Tensor]:
    """Train an MLP to select a relation, and test it on its training facts and on new facts.

    The MLP has as many neurons as `selector`. It reads a subject's embedding and the one-hot
    relation. Each set of facts maps its own subjects to the same attributes.

    Args:
        rngs: one generator per replicate.
        attributes: number of attributes, and of subjects in a set of facts.
        relations: number of relations.
        dim: dimension of the embeddings.
        sets: number of sets of facts to train on.
        steps: number of steps of Adam, as in `mlp.trained`.
        device: torch device of the result.
        dtype: torch dtype of the result.

    Returns:
        Shares of right answers, each (replicates,): ``value`` for a new set of facts, ``known`` for
        the sets trained on.

    Raises ValueError for fewer than 2 attributes, or fewer than 1 relation, dimension or set.
    """
    if attributes < 2 or min(relations, dim, sets) < 1:
        raise ValueError(
            f"{attributes} attributes, {relations} relations, dim {dim}, {sets} sets: give at "
            "least 2, 1, 1 and 1"
        )
    streams = Streams(rngs, device, dtype)
    with streams.together():
        vectors = unit_vectors(streams, attributes, dim)
        signs = streams.signs(relations, dim)
        maps = streams.permutation(attributes, (1 + sets) * relations)
    maps = maps.view(-1, 1 + sets, relations, attributes)
    new, known = (facts_of(vectors, signs, some) for some in (maps[:, :1], maps[:, 1:]))
    network = mlp.trained(known, rngs, width=2 * relations * dim, steps=steps)
    return {
        name: facts.correct(network(facts.z)).to(dtype).mean(1)
        for name, facts in (("value", new), ("known", known))
    }


def facts_of(vectors: torch.Tensor, signs: torch.Tensor, maps: torch.Tensor) -> mlp.Associations:
    """Write K sets of facts as pairs of an input and an attribute, for B replicates.

    The sets have R relations and C attributes in common.

    An input is the subject's embedding, followed by the one-hot relation. Pairs are in the order of
    set, relation and attribute.

    ``vectors``: (B, C, d), of the attributes.  ``signs``: (B, R, d).  ``maps``: (B, K, R, C), the
    subjects' attributes.

    >>> vectors, signs = torch.eye(2)[None], torch.tensor([[[1.0, 1.0], [-1.0, -1.0]]])
    >>> facts = facts_of(vectors, signs, torch.tensor([[[[1, 0], [0, 1]]]]))
    >>> facts.z[0, 0].tolist(), facts.targets.tolist()  # attribute 0 of subject 1 by relation 0
    ([1.0, -1.0, 1.0, 0.0], [0, 1, 0, 1])
    """
    sets, relations, attributes = maps.shape[1:]
    rows = maps.flatten(1)[..., None].expand(-1, -1, vectors.shape[-1])
    parts = vectors.gather(1, rows).view(-1, sets, relations, attributes, vectors.shape[-1])
    subjects = (signs[:, None, :, None] * parts).sum(2)
    asked = maps.argsort(-1).flatten(2)[..., None].expand(-1, -1, -1, vectors.shape[-1])
    one_hot = torch.eye(relations, dtype=vectors.dtype, device=vectors.device)
    given = one_hot.repeat_interleave(attributes, 0).expand(len(maps), sets, -1, -1)
    return mlp.Associations(
        z=torch.cat([subjects.gather(2, asked), given], -1).flatten(1, 2),
        u=vectors,
        targets=torch.arange(attributes, device=maps.device).repeat(sets * relations),
    )
