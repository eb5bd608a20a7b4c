"""What tests of many rooms draw from."""

import itertools

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from simulation.attention.sampling import Batch, Facts
from simulation.attention.three_steps import Attended


def generators(count: int, seed: int = 0) -> list[np.random.Generator]:
    """One generator a replicate, as simulations take them."""
    return [np.random.default_rng([seed, index]) for index in range(count)]


def unit_vectors(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    """Uniform on the sphere, along the last axis."""
    vectors = rng.standard_normal(shape)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def every_batch(template: Batch, length: int, samples: int) -> Batch:
    """All possible training sets, once each, with the vocabulary of a batch of one replicate."""
    sequences = itertools.product(range(template.vocab_size), repeat=length)
    one = [(tokens, position) for tokens in sequences for position in range(length)]
    sets = list(itertools.product(one, repeat=samples))
    tokens = torch.tensor([[tokens for tokens, _ in batch] for batch in sets])
    positions = torch.tensor([[position for _, position in batch] for batch in sets])
    vocabulary = {
        name: getattr(template, name).expand(len(tokens), *getattr(template, name).shape[1:])
        for name in ("z", "u", "trigger", "query", "permutation")
    }
    return Batch(
        **vocabulary,
        tokens=tokens,
        positions=positions,
        labels=vocabulary["permutation"].gather(1, informative(tokens, positions)),
        trigger_in_values=template.trigger_in_values,
    )


def informative(tokens: Tensor, positions: Tensor) -> Tensor:
    """The informative token of each sequence."""
    return tokens.gather(2, positions[..., None])[..., 0]


def perfectly_seen(batch: Batch) -> tuple[Attended, Facts]:
    """What perfect attention sees of a batch, and the facts that recall makes of it."""
    seen = informative(batch.tokens, batch.positions)
    counts = [torch.bincount(row, minlength=batch.vocab_size) for row in seen]
    facts = Facts(
        z=batch.z,
        u=batch.u,
        trigger=batch.trigger,
        query=batch.query,
        permutation=batch.permutation,
        trigger_in_values=batch.trigger_in_values,
        counts=torch.stack(counts).to(batch.z.dtype),
    )
    return Attended(tokens=seen, informative=torch.ones_like(seen, dtype=torch.bool)), facts
