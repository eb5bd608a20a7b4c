"""Variants of the task that each relax one assumption of the theorem.

Functions take a batch of `sampling.draw`, with the trigger in the keys only. Some return a variant
of the batch. The others train on the batch, except `zipf`, which trains on new sequences. They then
test on `FRESH` sequences per replicate of the same law, and return a mean over these: (R,).
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
    """Measure the share of fresh sequences localised after three steps on ``batch``: (R,)."""
    return _found(sampling.fresh(batch, rngs, samples=FRESH), three_steps.token_scores(batch))


def correlated(batch: Batch, *, overlap: float) -> Batch:
    """Give unit input embeddings a common direction; pairs have a mean overlap near ``overlap``."""
    common = batch.query[:, None]
    z = (1 - overlap) ** 0.5 * batch.z + overlap**0.5 * common
    return replace(batch, z=z / z.norm(dim=2, keepdim=True))


def quieter(batch: Batch, *, norm: float) -> Batch:
    """Return the batch with a trigger of this norm instead of 1."""
    return replace(batch, trigger=norm * batch.trigger)


def zipf(batch: Batch, rngs: Rngs, *, power: float) -> torch.Tensor:
    """Measure the share localised if a token's probability is proportional to rank^-power.

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
    """Measure the share localised if the attention step has other sequences than the value step."""
    second = sampling.fresh(batch, rngs, samples=batch.samples)
    scores = three_steps.token_scores(second, memory=three_steps.value_memory(batch))
    return _found(sampling.fresh(batch, rngs, samples=FRESH), scores)


def attention_weight(batch: Batch, rngs: Rngs, *, sharpness: float) -> torch.Tensor:
    """Average the softmax weight of the informative position at finite gamma: (R,).

    ``sharpness``: gamma eta, the product of the sizes of the attention step and the first value
    step. It is the factor of the scores of :func:`three_steps.token_scores`.
    """
    test = sampling.fresh(batch, rngs, samples=FRESH)
    scores = three_steps.token_scores(batch)
    keys = scores.theta.gather(1, test.tokens.flatten(1)).view(test.tokens.shape)
    informative = test.positions[..., None]
    keys.scatter_add_(2, informative, scores.trigger[:, None, None].expand(informative.shape))
    return torch.softmax(sharpness * keys, 2).gather(2, informative).mean((1, 2))


def trained(batch: Batch, rngs: Rngs, *, optimiser: str, steps: int, rate: float) -> torch.Tensor:
    """Measure the share localised after many steps from zero on the batch's cross-entropy.

    Each step moves both the value matrix and the attention vector ``W_KQ query``. ``optimiser``:
    "SGD", here plain gradient descent on the full batch, or "Adam", on the entries of matrix and
    vector. Attention is softmax during training and hard in testing.
    """
    head = _Head(batch)
    descent = getattr(torch.optim, optimiser)([head.value, head.direction], lr=rate)
    for _ in range(steps):
        descent.zero_grad()
        torch.autograd.backward(_loss(batch, [head]))
        descent.step()
    return _found(sampling.fresh(batch, rngs, samples=FRESH), head.scores(batch))


def two_heads(batch: Batch, rngs: Rngs, *, eta: float) -> torch.Tensor:
    """Measure the share localised by the first of two heads after value and attention step.

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
    """Measure the share localised if embeddings are `moved` between value and attention step."""
    learned = moved(batch, share=share)
    scores = three_steps.token_scores(learned, memory=three_steps.value_memory(batch))
    return _found(sampling.fresh(learned, rngs, samples=FRESH), scores)


def moved(batch: Batch, *, share: float) -> Batch:
    """Move the embeddings of tokens and labels by a gradient step that follows the value step.

    Trigger and query stay. ``share``: mean length of the moves over mean norm of the embeddings,
    both for tokens and for labels.
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
        """Compute this head's part of the logits, under softmax attention: (R, N, V)."""
        theta = (batch.z @ self.direction[:, :, None])[..., 0]
        keys = theta.gather(1, batch.tokens.flatten(1)).view(batch.tokens.shape)
        marked = (batch.trigger * self.direction).sum(1)[:, None, None]
        keys = keys.scatter_add(2, batch.positions[..., None], marked.expand(*keys.shape[:2], 1))
        weights = torch.softmax(keys, 2)
        # Weights (R, N, V) of the vocabulary's tokens avoid an (R, N, L, d) tensor of values.
        spread = weights.new_zeros(*keys.shape[:2], batch.vocab_size)
        attended = spread.scatter_add(2, batch.tokens, weights) @ batch.z
        return attended @ self.value.mT @ batch.u.mT

    def scores(self, batch: Batch) -> three_steps.Scores:
        """Score tokens and trigger along the head's direction, for hard attention."""
        direction = self.direction.detach()
        return three_steps.Scores(
            direction=direction,
            theta=(batch.z @ direction[:, :, None])[..., 0],
            trigger=(batch.trigger * direction).sum(1),
            rounding=direction.new_zeros(batch.replicates),
        )


def _length(vectors: torch.Tensor) -> torch.Tensor:
    """Average the norm of (R, n, d) vectors: (R, 1, 1)."""
    length: torch.Tensor = vectors.norm(dim=2).mean(1)
    return length[:, None, None]


def _loss(batch: Batch, heads: Sequence[_Head]) -> torch.Tensor:
    """Sum the mean cross-entropy over replicates, which have separate parameters: a scalar."""
    logits = torch.stack([head.logits(batch) for head in heads]).sum(0)
    return cross_entropy(logits.flatten(0, 1), batch.labels.flatten()) * batch.replicates


def _found(test: Batch, scores: three_steps.Scores) -> torch.Tensor:
    """Measure the share of test sequences whose informative position scores highest: (R,)."""
    return three_steps.attend(test, scores).informative.to(scores.theta.dtype).mean(1)
