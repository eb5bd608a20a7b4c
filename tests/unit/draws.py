"""Draws that tests in many folders share."""

import itertools
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch
from hypothesis import strategies as st
from numpy.random import SeedSequence
from numpy.typing import NDArray
from torch import Tensor

from simulation.attention import sampling
from simulation.attention.sampling import Batch, Facts
from simulation.attention.three_steps import Attended
from simulation.memory.optimal import Pairs

T = TypeVar("T")


def end(path: Iterable[T]) -> T:
    (last,) = deque(path, maxlen=1)
    return last


def generators(count: int, seed: int = 0) -> list[np.random.Generator]:
    """Make one generator per replicate, as simulations take them."""
    return [np.random.default_rng([seed, index]) for index in range(count)]


def unit_vectors(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    """Draw vectors uniform on the sphere, along the last axis."""
    vectors = rng.standard_normal(shape)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


VOCABULARY = ("z", "u", "trigger", "query", "permutation")
LAWS = ("sphere", "gaussian", "orthonormal")


@st.composite
def batches(
    draw: st.DrawFn, *, most: tuple[int, int, int, int], laws: tuple[str, ...] = LAWS
) -> Batch:
    """Draw a batch of one to three replicates.

    `most` limits vocabulary, length, samples and dimension. Orthonormal embeddings instead have 2
    to 6 dimensions more than the vocabulary has tokens.
    """
    vocab_size, law = draw(st.integers(2, most[0])), draw(st.sampled_from(laws))
    enough = st.integers(vocab_size + 2, vocab_size + 6)
    seed = draw(st.integers(0, 2**32 - 1))
    return sampling.draw(
        generators(draw(st.integers(1, 3)), seed),
        vocab_size=vocab_size,
        length=draw(st.integers(2, most[1])),
        samples=draw(st.integers(1, most[2])),
        dim=draw(enough if law == "orthonormal" else st.integers(1, most[3])),
        embeddings=law,
        trigger_in_values=draw(st.booleans()),
    )


def every_batch(template: Batch, length: int, samples: int) -> Batch:
    """Make all possible training sets, once each, with the vocabulary of a one-replicate batch."""
    sequences = itertools.product(range(template.vocab_size), repeat=length)
    one = [(tokens, position) for tokens in sequences for position in range(length)]
    sets = list(itertools.product(one, repeat=samples))
    tokens = torch.tensor([[tokens for tokens, _ in batch] for batch in sets])
    positions = torch.tensor([[position for _, position in batch] for batch in sets])
    vocabulary = {name: getattr(template, name) for name in VOCABULARY}
    many = {name: one.expand(len(tokens), *one.shape[1:]) for name, one in vocabulary.items()}
    labels = many["permutation"].gather(1, informative(tokens, positions))
    return replace(template, **many, tokens=tokens, positions=positions, labels=labels)


def informative(tokens: Tensor, positions: Tensor) -> Tensor:
    return tokens.gather(2, positions[..., None])[..., 0]


def perfectly_seen(batch: Batch) -> tuple[Attended, Facts]:
    """Return a batch's attended tokens under perfect attention, and the facts for recall."""
    seen = informative(batch.tokens, batch.positions)
    counts = [torch.bincount(row, minlength=batch.vocab_size) for row in seen]
    facts = Facts(
        **{name: getattr(batch, name) for name in VOCABULARY},
        trigger_in_values=batch.trigger_in_values,
        counts=torch.stack(counts).to(batch.z.dtype),
    )
    return Attended(tokens=seen, informative=torch.ones_like(seen, dtype=torch.bool)), facts


def pcg(rngs: Iterable[np.random.Generator]) -> list[np.random.Generator]:
    """Make PCG64 generators with the seeds of these generators."""
    seeds = [rng.bit_generator.seed_seq for rng in rngs]
    return [np.random.default_rng(seed) for seed in seeds if isinstance(seed, SeedSequence)]


def pairs_of_numpy(rngs: list[np.random.Generator], *, dim: int, associations: int) -> Pairs:
    """Make pairs from numpy's normal numbers, for cases that once failed."""
    drawn = [[unit_vectors(rng, associations, dim) for _ in range(2)] for rng in rngs]
    inputs, outputs = torch.from_numpy(np.array(drawn)).unbind(1)
    return Pairs(inputs=inputs, outputs=outputs)
