"""Training batches of the retrieval task, one independent draw per replicate.

A sequence holds ``length`` tokens; the trigger embedding marks one position; the label is a fixed
permutation of the token at that position (paper A, statements A1, A2 and A6).  Embeddings have one
of the laws of `simulation.embeddings`.  Keys and values are
``z[x_j] + 1{j = position} trigger``, the value only where ``trigger_in_values`` is set.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch

from simulation.embeddings import LAWS, embed

Array = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Embeddings and the map to learn; R replicates, V tokens and labels, dimension d.

    ``z``, ``u``: (R, V, d) input embeddings by token, output embeddings by label.
    ``trigger``, ``query``: (R, d); the query (EOS) has unit norm under every embedding law.
    ``permutation``: (R, V) int64, the label of each token.
    ``trigger_in_values``: whether the trigger is added to the values as well as to the keys.
    """

    z: torch.Tensor
    u: torch.Tensor
    trigger: torch.Tensor
    query: torch.Tensor
    permutation: torch.Tensor
    trigger_in_values: bool

    def __getitem__(self, which: slice) -> Self:
        """The replicates ``which``, nothing copied."""
        parts: dict[str, Any] = {
            name: value[which] for name, value in vars(self).items() if name != "trigger_in_values"
        }
        return replace(self, **parts)

    @property
    def replicates(self) -> int:
        return self.z.shape[0]

    @property
    def vocab_size(self) -> int:
        return self.z.shape[1]

    @property
    def dim(self) -> int:
        return self.z.shape[2]

    @property
    def informative_values(self) -> torch.Tensor:
        """(R, V, d): the value of each token at an informative position."""
        return self.z + self.trigger[:, None] if self.trigger_in_values else self.z


@dataclass(frozen=True, kw_only=True)
class Batch(Vocabulary):
    """A vocabulary and one training set per replicate, of N sequences of L positions.

    ``tokens``: (R, N, L) int64.  ``positions``, ``labels``: (R, N) int64, the informative position
    and the label of the token there.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    labels: torch.Tensor

    @property
    def samples(self) -> int:
        return self.tokens.shape[1]

    @property
    def length(self) -> int:
        return self.tokens.shape[2]

    @property
    def informative(self) -> torch.Tensor:
        """(R, N): the token at the informative position of each sequence."""
        return self.tokens.gather(2, self.positions[..., None])[..., 0]


@dataclass(frozen=True, kw_only=True)
class Facts(Vocabulary):
    """A vocabulary and how often training shows each token as the informative one.

    ``counts``: (R, V) in the dtype of the embeddings.
    """

    counts: torch.Tensor


def draw(
    rngs: Sequence[np.random.Generator],
    *,
    vocab_size: int,
    length: int,
    samples: int,
    dim: int,
    embeddings: str = "sphere",
    trigger_in_values: bool = False,
    balanced: bool = False,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Batch:
    """Draw one training set from each generator.

    Every replicate is drawn on the CPU, in float64, from its own generator alone, so that it does
    not depend on how replicates are grouped, on the device or on the dtype.

    Tokens and positions are independent and uniform; ``balanced`` makes every token the
    informative one equally often instead.  Under ``"orthonormal"`` the embeddings are basis
    vectors: a common rotation of z, trigger and query, or of u, changes no score and no logit, so
    drawing one would be wasted.

    Raises ValueError, naming cause and remedy, for an empty list of generators, ``vocab_size`` or
    ``length`` below 2, ``samples`` or ``dim`` below 1, an unknown law, ``dim < vocab_size + 2``
    under ``"orthonormal"``, or ``samples`` not a multiple of ``vocab_size`` under ``balanced``.
    """
    _check_sizes(vocab_size=vocab_size, length=length, samples=samples)
    vocabulary = _draw_vocabulary(rngs, vocab_size, dim, embeddings, device, dtype)
    positions, tokens = _draw_sequences(rngs, vocab_size, length, samples)
    if balanced:
        informative = np.repeat(np.arange(vocab_size), _per_token(samples, vocab_size))
        np.put_along_axis(tokens, positions[..., None], informative[:, None], axis=2)
    known = Vocabulary(**vocabulary, trigger_in_values=trigger_in_values)
    return with_sequences(known, tokens, positions)


def fresh(batch: Batch, rngs: Sequence[np.random.Generator], *, samples: int) -> Batch:
    """New sequences over the vocabulary of ``batch``, drawn by the law of :func:`draw`.

    Raises ValueError unless there is one generator per replicate and ``samples`` is positive.
    """
    _check_sizes(samples=samples)
    if len(rngs) != batch.replicates:
        raise ValueError(
            f"{len(rngs)} generators for {batch.replicates} replicates: pass one per replicate"
        )
    positions, tokens = _draw_sequences(rngs, batch.vocab_size, batch.length, samples)
    return with_sequences(batch, tokens, positions)


def draw_facts(
    rngs: Sequence[np.random.Generator],
    *,
    vocab_size: int,
    samples: int,
    dim: int,
    embeddings: str = "sphere",
    trigger_in_values: bool = False,
    balanced: bool = False,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Facts:
    """Draw a vocabulary and the counts of ``samples`` uniform informative tokens, no sequences.

    All that a memory trained at perfect localisation depends on.  Errors as in :func:`draw`.
    """
    _check_sizes(vocab_size=vocab_size, samples=samples)
    vocabulary = _draw_vocabulary(rngs, vocab_size, dim, embeddings, device, dtype)
    if balanced:
        counts = np.full((len(rngs), vocab_size), _per_token(samples, vocab_size))
    else:
        uniform = np.full(vocab_size, 1 / vocab_size)
        counts = np.stack([rng.multinomial(samples, uniform) for rng in rngs])
    shown = torch.from_numpy(counts).to(device=device, dtype=dtype)
    return Facts(**vocabulary, counts=shown, trigger_in_values=trigger_in_values)


def _draw_vocabulary(
    rngs: Sequence[np.random.Generator],
    vocab_size: int,
    dim: int,
    embeddings: str,
    device: str | torch.device,
    dtype: torch.dtype,
) -> dict[str, Any]:
    _check_sizes(dim=dim)
    if not rngs:
        raise ValueError("no generator given: pass one numpy Generator per replicate")
    if embeddings not in LAWS:
        raise ValueError(f"unknown embeddings {embeddings!r}: choose one of {', '.join(LAWS)}")
    if embeddings == "orthonormal" and dim < vocab_size + 2:
        raise ValueError(
            f"{vocab_size} tokens, trigger and query cannot be orthonormal in dim {dim}: "
            f"raise dim to at least {vocab_size + 2} or choose another embedding law"
        )
    z, u = (torch.empty(len(rngs), vocab_size, dim, dtype=dtype) for _ in range(2))
    special = np.empty((len(rngs), 2, dim))
    permutation = np.empty((len(rngs), vocab_size), dtype=np.int64)
    inputs, outputs = z.numpy(), u.numpy()
    for index, rng in enumerate(rngs):
        embed(rng, inputs[index], embeddings)
        embed(rng, special[index], embeddings, first=vocab_size)
        embed(rng, outputs[index], embeddings)
        permutation[index] = rng.permutation(vocab_size)
    special[:, 1] /= np.linalg.norm(special[:, 1], axis=1, keepdims=True)
    trigger, query = (part.contiguous() for part in torch.from_numpy(special).to(dtype).unbind(1))
    drawn = {"z": z, "u": u, "trigger": trigger, "query": query}
    drawn["permutation"] = torch.from_numpy(permutation)
    return {name: tensor.to(device) for name, tensor in drawn.items()}


def _draw_sequences(
    rngs: Sequence[np.random.Generator], vocab_size: int, length: int, samples: int
) -> tuple[Array, Array]:
    """Uniform positions (R, N) and tokens (R, N, L)."""
    positions = np.empty((len(rngs), samples), dtype=np.int64)
    tokens = np.empty((len(rngs), samples, length), dtype=np.int64)
    for index, rng in enumerate(rngs):
        positions[index] = rng.integers(length, size=samples)
        tokens[index] = rng.integers(vocab_size, size=(samples, length))
    return positions, tokens


def with_sequences(vocabulary: Vocabulary, tokens: Array, positions: Array) -> Batch:
    """A batch of these tokens (R, N, L) and informative positions (R, N) over a vocabulary."""
    known = {field.name: getattr(vocabulary, field.name) for field in fields(Vocabulary)}
    words, places = (torch.from_numpy(a).to(vocabulary.z.device) for a in (tokens, positions))
    labels = vocabulary.permutation.gather(1, words.gather(2, places[..., None])[..., 0])
    return Batch(**known, tokens=words, positions=places, labels=labels)


def _check_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        least = 2 if name in ("vocab_size", "length") else 1
        if size < least:
            raise ValueError(f"{name} is {size}: give at least {least}")


def _per_token(samples: int, vocab_size: int) -> int:
    if samples % vocab_size:
        raise ValueError(
            f"{samples} samples cannot show each of {vocab_size} tokens equally often: "
            "make samples a multiple of vocab_size"
        )
    return samples // vocab_size
