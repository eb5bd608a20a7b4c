"""Variants of the task that each relax one assumption of the theorem.

Functions take a batch of `sampling.draw`, with the trigger in the keys only. Some return a variant
of the batch. The others train, and return a rate per replicate, (R,), on fresh sequences of the
same law, which they draw by one generator per replicate.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch.nn.functional import cross_entropy

from simulation.attention import sampling, three_steps
from simulation.attention.sampling import Batch
from simulation.streams import Rngs, Streams

FRESH = 256
"""Fresh sequences per replicate."""


def localised(batch: Batch, rngs: Rngs) -> torch.Tensor:
    """Share of fresh sequences that the three steps on ``batch`` localise: (R,)."""
    return _found(sampling.fresh(batch, rngs, samples=FRESH), three_steps.token_scores(batch))


def correlated(batch: Batch, *, overlap: float) -> Batch:
    """Give unit input embeddings a common direction, with mean inner product ``overlap``."""
    common = batch.query[:, None]
    z = (1 - overlap) ** 0.5 * batch.z + overlap**0.5 * common
    return replace(batch, z=z / z.norm(dim=2, keepdim=True))


def quieter(batch: Batch, *, norm: float) -> Batch:
    """Return the batch with a trigger of this norm instead of 1."""
    return replace(batch, trigger=norm * batch.trigger)


def zipf(batch: Batch, rngs: Rngs, *, power: float) -> torch.Tensor:
    """Share localised if tokens have probability proportional to rank^-power.

    Tokens have this law in training and in testing, at informative and at other positions.
    """

    streams = Streams.like(rngs, batch.z)
    weights = torch.arange(1, batch.vocab_size + 1, dtype=torch.float64) ** -power
    law = (weights / weights.sum()).tolist()

    def draws(samples: int) -> Batch:
        with streams.together():
            tokens = streams.category(law, samples, batch.length)
            positions = streams.integers(batch.length, samples)
        return sampling.with_sequences(batch, tokens, positions)

    return _found(draws(FRESH), three_steps.token_scores(draws(batch.samples)))


def fresh_per_step(batch: Batch, rngs: Rngs) -> torch.Tensor:
    """Share localised if the attention step has other sequences than the value step."""
    second = sampling.fresh(batch, rngs, samples=batch.samples)
    scores = three_steps.token_scores(second, memory=three_steps.value_memory(batch))
    return _found(sampling.fresh(batch, rngs, samples=FRESH), scores)


def attention_weight(batch: Batch, rngs: Rngs, *, sharpness: float) -> torch.Tensor:
    """Mean softmax weight of the informative position at finite gamma: (R,).

    ``sharpness``: gamma eta, the factor of the scores of :func:`three_steps.token_scores`.
    """
    test = sampling.fresh(batch, rngs, samples=FRESH)
    scores = three_steps.token_scores(batch)
    keys = scores.theta.gather(1, test.tokens.flatten(1)).view(test.tokens.shape)
    informative = test.positions[..., None]
    keys.scatter_add_(2, informative, scores.trigger[:, None, None].expand(informative.shape))
    return torch.softmax(sharpness * keys, 2).gather(2, informative).mean((1, 2))


def trained(batch: Batch, rngs: Rngs, *, optimiser: str, steps: int, rate: float) -> torch.Tensor:
    """Share localised after many steps from zero on the true loss.

    The value matrix and the attention vector ``W_KQ query`` are trained at once. ``optimiser``:
    "SGD" (full batch, plain gradient descent) or "Adam", on the entries of this vector. Attention
    is softmax during training and hard in testing.
    """
    head = _Head(batch)
    descent = getattr(torch.optim, optimiser)([head.value, head.direction], lr=rate)
    for _ in range(steps):
        descent.zero_grad()
        torch.autograd.backward(_loss(batch, [head]))
        descent.step()
    return _found(sampling.fresh(batch, rngs, samples=FRESH), head.scores(batch))


def two_heads(batch: Batch, rngs: Rngs, *, eta: float) -> torch.Tensor:
    """Share localised by the first of two heads after the value and the attention step.

    Each head has its own value and attention matrix; the logits are the sum over heads.
    ``eta``: step size of the value step.
    """
    heads = [_Head(batch), _Head(batch)]
    values = [head.value for head in heads]
    steps = torch.autograd.grad(_loss(batch, heads), values)
    for head, step in zip(heads, steps, strict=True):
        head.value = (-eta * step).requires_grad_()
    (attention, _) = torch.autograd.grad(_loss(batch, heads), [h.direction for h in heads])
    heads[0].direction = -attention
    return _found(sampling.fresh(batch, rngs, samples=FRESH), heads[0].scores(batch))


def learned_embeddings(batch: Batch, rngs: Rngs, *, share: float) -> torch.Tensor:
    """Share localised if embeddings have :func:`moved` between value and attention step."""
    learned = moved(batch, share=share)
    scores = three_steps.token_scores(learned, memory=three_steps.value_memory(batch))
    return _found(sampling.fresh(learned, rngs, samples=FRESH), scores)


def moved(batch: Batch, *, share: float) -> Batch:
    """Embeddings of tokens and labels after a gradient step that follows the value step.

    Trigger and query stay. ``share``: mean length of the moves over mean norm of the embeddings,
    for tokens and for labels.
    """
    head, z, u = _Head(batch), batch.z.clone().requires_grad_(), batch.u.clone().requires_grad_()
    head.value = 1e-3 * three_steps.value_memory(batch)
    moves = torch.autograd.grad(_loss(replace(batch, z=z, u=u), [head]), [z, u])
    z, u = (
        old - share * (_length(old) / _length(move)) * move
        for old, move in zip((batch.z, batch.u), moves, strict=True)
    )
    return replace(batch, z=z, u=u)


class _Head:
    """Parameters of one head, zero at the start: ``value`` (R, d, d), ``direction`` (R, d)."""

    def __init__(self, batch: Batch) -> None:
        replicates, _, dim = batch.z.shape
        self.value = batch.z.new_zeros(replicates, dim, dim, requires_grad=True)
        self.direction = batch.z.new_zeros(replicates, dim, requires_grad=True)

    def logits(self, batch: Batch) -> torch.Tensor:
        """Part of the logits from this head, under softmax attention: (R, N, V)."""
        theta = (batch.z @ self.direction[:, :, None])[..., 0]
        keys = theta.gather(1, batch.tokens.flatten(1)).view(batch.tokens.shape)
        marked = (batch.trigger * self.direction).sum(1)[:, None, None]
        keys = keys.scatter_add(2, batch.positions[..., None], marked.expand(*keys.shape[:2], 1))
        weights = torch.softmax(keys, 2)
        # Attended values through the vocabulary: (R, N, V) weights, no (R, N, L, d) tensor.
        spread = weights.new_zeros(*keys.shape[:2], batch.vocab_size)
        attended = spread.scatter_add(2, batch.tokens, weights) @ batch.z
        return attended @ self.value.mT @ batch.u.mT

    def scores(self, batch: Batch) -> three_steps.Scores:
        """Scores of tokens and trigger along the head's direction, for hard attention."""
        direction = self.direction.detach()
        return three_steps.Scores(
            direction=direction,
            theta=(batch.z @ direction[:, :, None])[..., 0],
            trigger=(batch.trigger * direction).sum(1),
            rounding=direction.new_zeros(batch.replicates),
        )


def _length(vectors: torch.Tensor) -> torch.Tensor:
    """Mean norm of (R, n, d) vectors: (R, 1, 1)."""
    length: torch.Tensor = vectors.norm(dim=2).mean(1)
    return length[:, None, None]


def _loss(batch: Batch, heads: Sequence[_Head]) -> torch.Tensor:
    """Cross-entropy, summed over replicates; replicates have separate parameters."""
    logits = torch.stack([head.logits(batch) for head in heads]).sum(0)
    return cross_entropy(logits.flatten(0, 1), batch.labels.flatten()) * batch.replicates


def _found(test: Batch, scores: three_steps.Scores) -> torch.Tensor:
    """Share of the test sequences whose informative position has the highest score: (R,)."""
    return three_steps.attend(test, scores).informative.to(scores.theta.dtype).mean(1)
