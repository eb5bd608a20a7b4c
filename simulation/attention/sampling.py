"""Training batches of the retrieval task, one independent draw per replicate.

A sequence has ``length`` tokens, and the trigger embedding marks one position. A fixed permutation
maps the token there to the label (paper A, statements A1, A2 and A6). Embeddings have one of the
laws of `simulation.embeddings`. The key at position j is ``z[x_j] + 1{j = position} trigger``. The
value is equal to the key if ``trigger_in_values``, and else ``z[x_j]``.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import torch

from simulation.embeddings import LAWS, embed
from simulation.streams import Rngs, Streams


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Embeddings and the map to learn, for R replicates, V tokens and labels, and dimension d.

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
        """Select the replicates ``which``, without copies."""
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
        """Value of each token at an informative position: (R, V, d)."""
        return self.z + self.trigger[:, None] if self.trigger_in_values else self.z


@dataclass(frozen=True, kw_only=True)
class Batch(Vocabulary):
    """A vocabulary, and one training set of N sequences of L positions per replicate.

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
        """Token at the informative position of each sequence: (R, N)."""
        return self.tokens.gather(2, self.positions[..., None])[..., 0]


@dataclass(frozen=True, kw_only=True)
class Facts(Vocabulary):
    """A vocabulary, and the number of training sequences in which each token is informative.

    ``counts``: (R, V) in the dtype of the embeddings.
    """

    counts: torch.Tensor


def draw(
    rngs: Rngs,
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

    Tokens and positions are independent and uniform; with ``balanced`` every token is informative
    equally often. Embeddings ``"orthonormal"`` are basis vectors: a common rotation of z, trigger
    and query, or of u, changes no score and no logit, so none is drawn.

    Raises ValueError for an empty list of generators, an unknown law, ``vocab_size`` or ``length``
    below 2, or ``samples`` or ``dim`` below 1. ``"orthonormal"`` needs ``dim`` of at least
    vocab_size + 2, and ``balanced`` needs ``samples`` that are a multiple of ``vocab_size``.
    """
    _check_sizes(vocab_size=vocab_size, length=length, samples=samples)
    streams = Streams(rngs, device, dtype)
    with streams.together():
        drawn = _draw_vocabulary(streams, vocab_size, dim, embeddings)
        positions, tokens = _draw_sequences(streams, vocab_size, length, samples)
    if balanced:
        each = torch.arange(vocab_size, device=streams.device)
        informative = each.repeat_interleave(_per_token(samples, vocab_size))[:, None]
        tokens.scatter_(2, positions[..., None], informative.expand(len(streams), -1, 1))
    known = Vocabulary(**_named(*drawn), trigger_in_values=trigger_in_values)
    return with_sequences(known, tokens, positions)


def fresh(batch: Batch, rngs: Rngs, *, samples: int) -> Batch:
    """Draw new sequences of uniform tokens and positions over the vocabulary of ``batch``.

    Raises ValueError unless there is one generator per replicate and ``samples`` is positive.
    """
    _check_sizes(samples=samples)
    if len(rngs) != batch.replicates:
        raise ValueError(
            f"{len(rngs)} generators for {batch.replicates} replicates: pass one per replicate"
        )
    streams = Streams.like(rngs, batch.z)
    with streams.together():
        positions, tokens = _draw_sequences(streams, batch.vocab_size, batch.length, samples)
    return with_sequences(batch, tokens, positions)


def draw_facts(
    rngs: Rngs,
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
    """Draw a vocabulary and counts of ``samples`` uniform informative tokens, but no sequences.

    A memory trained at perfect localisation depends on nothing else. Parameters and errors are as
    for :func:`draw`.
    """
    _check_sizes(vocab_size=vocab_size, samples=samples)
    streams = Streams(rngs, device, dtype)
    with streams.together():
        drawn = _draw_vocabulary(streams, vocab_size, dim, embeddings)
        if balanced:
            counts = torch.full_like(drawn[0][..., 0], _per_token(samples, vocab_size))
        else:
            counts = streams.counts(samples, [1 / vocab_size] * vocab_size)
    return Facts(**_named(*drawn), counts=counts, trigger_in_values=trigger_in_values)


def _draw_vocabulary(
    streams: Streams, vocab_size: int, dim: int, embeddings: str
) -> tuple[torch.Tensor, ...]:
    """Draw z, the pair of trigger and query (R, 2, d), u, and the permutation."""
    _check_sizes(dim=dim)
    if not streams:
        raise ValueError("no generator given: pass one numpy Generator per replicate")
    if embeddings not in LAWS:
        raise ValueError(f"unknown embeddings {embeddings!r}: choose one of {', '.join(LAWS)}")
    if embeddings == "orthonormal" and dim < vocab_size + 2:
        raise ValueError(
            f"{vocab_size} tokens, trigger and query cannot be orthonormal in dim {dim}: "
            f"raise dim to at least {vocab_size + 2} or choose another embedding law"
        )
    z = embed(streams, vocab_size, dim, embeddings)
    special = embed(streams, 2, dim, embeddings, first=vocab_size)
    u = embed(streams, vocab_size, dim, embeddings)
    return z, special, u, streams.permutation(vocab_size)


def _named(
    z: torch.Tensor, special: torch.Tensor, u: torch.Tensor, permutation: torch.Tensor
) -> dict[str, torch.Tensor]:
    trigger, query = (part.contiguous() for part in special.unbind(1))
    query = query / query.norm(dim=1, keepdim=True)
    return {"z": z, "u": u, "trigger": trigger, "query": query, "permutation": permutation}


def _draw_sequences(
    streams: Streams, vocab_size: int, length: int, samples: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw uniform positions (R, N) and tokens (R, N, L)."""
    positions = streams.integers(length, samples)
    return positions, streams.integers(vocab_size, samples, length)


def with_sequences(vocabulary: Vocabulary, tokens: torch.Tensor, positions: torch.Tensor) -> Batch:
    """Make a batch from tokens (R, N, L) and informative positions (R, N)."""
    known = {field.name: getattr(vocabulary, field.name) for field in fields(Vocabulary)}
    labels = vocabulary.permutation.gather(1, tokens.gather(2, positions[..., None])[..., 0])
    return Batch(**known, tokens=tokens, positions=positions, labels=labels)


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
