"""Gradient flow and minibatch SGD on facts, with one-hot tokens and linear attention.

A prompt holds a subject, a relation, noise tokens and EOS, the query; logits are the sum over its
tokens of attention weight times value. Noise tokens start equal and have the same mean gradient.
One row represents all of them, and its count in a prompt is the number of noise tokens. In SGD
noise tokens therefore learn from mean counts instead of counts in each prompt; tests/unit compares
this with SGD on whole prompts.

Tensors have the shape (replicates, tokens) or (replicates, tokens, answers), the tokens in the
order: S subjects, R relations, EOS, noise.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from simulation.streams import Rngs, Streams

Integers = npt.NDArray[np.int64]


def product_dictionary(subjects: int, relations: int, answers: int) -> Integers:
    """Answers (S, R): the answer to subject s and relation r is floor(D s / S) + D r.

    This is the published dictionary, a product of the relation and a kind of subject.

    >>> product_dictionary(4, 3, 2).tolist()
    [[0, 2, 4], [0, 2, 4], [1, 3, 5], [1, 3, 5]]
    """
    if subjects % answers:
        raise ValueError(f"{subjects} subjects do not divide evenly among {answers} answers")
    kinds = np.arange(subjects) * answers // subjects
    return kinds[:, None] + answers * np.arange(relations)


def random_dictionaries(
    rngs: Rngs,
    subjects: int,
    relations: int,
    answers: int,
    *,
    device: str | torch.device = "cpu",
) -> torch.Tensor:
    """Answers (B, S, R): the answer to relation r is uniform among D r, ..., D r + D - 1."""
    drawn = Streams(rngs, device).integers(answers, subjects, relations)
    return drawn + answers * torch.arange(relations, device=device)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """``attention``: (B, tokens), each token's weight under the query EOS.
    ``values``: (B, tokens, answers)."""

    attention: torch.Tensor
    values: torch.Tensor

    def moved(self, gradient: "Weights", step: float) -> "Weights":
        """Weights after a step along the gradient."""
        return Weights(
            attention=self.attention + step * gradient.attention,
            values=self.values + step * gradient.values,
        )

    @property
    def imbalance(self) -> torch.Tensor:
        """Squared attention weight minus squared norm of the values: (B, tokens)."""
        return self.attention**2 - self.values.square().sum(2)


@dataclass(frozen=True, kw_only=True)
class Losses:
    """Population cross-entropies in nats, (B,) or, over time, (steps + 1, B).

    ``relation``: loss of the answer's block.  ``subject``: loss of the answer given its block.
    """

    relation: torch.Tensor
    subject: torch.Tensor

    @property
    def total(self) -> torch.Tensor:
        return self.relation + self.subject


class FactPrompts:
    """Facts to learn, one dictionary per replicate, and the prompts that show them.

    Args:
        dictionaries: (B, S, R) answers; relation r has answers D r to D r + D - 1.
        answers: D.
        length: tokens of a prompt, with subject, relation and EOS.
        noise: number of different noise tokens.
    """

    def __init__(
        self,
        dictionaries: torch.Tensor | Sequence[Integers],
        *,
        answers: int,
        length: int = 32,
        noise: int = 20,
        device: str | torch.device = "cpu",
        dtype: torch.dtype = torch.float64,
    ) -> None:
        if length < 3 or noise < 1:
            raise ValueError(f"prompts of length {length} with {noise} noise tokens: too few")
        if not isinstance(dictionaries, torch.Tensor):
            dictionaries = torch.from_numpy(np.stack(dictionaries))
        self.dictionary = dictionaries.to(device)
        self.subjects, self.relations = self.dictionary.shape[1:]
        block = torch.arange(self.relations, device=device)
        if not (self.dictionary // answers == block).all():
            raise ValueError("some answer lies outside the block of its relation")
        self.answers, self.noise, self.noise_count = answers, noise, length - 3
        self.target = torch.nn.functional.one_hot(self.dictionary, answers * self.relations)
        self.target = self.target.to(dtype)

    @property
    def replicates(self) -> int:
        return self.dictionary.shape[0]

    def start(self, attention: float, shift: torch.Tensor | float = 0.0) -> Weights:
        """Initial weights: attention is ``attention``, a token's values are its ``shift``.

        ``shift`` is broadcast to (B, tokens, answers).
        """
        tokens = self.subjects + self.relations + 2
        values = self.target.new_zeros(self.replicates, tokens, self.target.shape[3]) + shift
        return Weights(attention=torch.full_like(values[..., 0], attention), values=values)

    def logits(self, weights: Weights) -> torch.Tensor:
        """Logits of each answer to a prompt with each subject and relation: (B, S, R, answers)."""
        scores = weights.attention[..., None] * weights.values
        s, r = self.subjects, self.relations
        background = scores[:, s + r] + self.noise_count * scores[:, s + r + 1]
        return scores[:, :s, None] + (scores[:, s : s + r] + background[:, None])[:, None]

    def losses(self, weights: Weights) -> Losses:
        """Population loss, in its two parts."""
        p = self.logits(weights).softmax(3)
        blocks = p.view(*p.shape[:3], self.relations, self.answers).sum(4)
        relation = -blocks.diagonal(dim1=2, dim2=3).log().mean((1, 2))
        total = -(self.target * p).sum(3).log().mean((1, 2))
        return Losses(relation=relation, subject=total - relation)

    def gradient(self, weights: Weights, frequencies: torch.Tensor | float) -> Weights:
        """Negative gradient of the loss over pairs of these frequencies, (B, S, R, 1)."""
        residual = (self.target - self.logits(weights).softmax(3)) * frequencies
        by_subject = residual.sum(2)
        everything = by_subject.sum(1, keepdim=True)
        per_noise_token = self.noise_count / self.noise
        values = torch.cat(
            [by_subject, residual.sum(1), everything, per_noise_token * everything], 1
        )
        return Weights(
            attention=(weights.values * values).sum(2), values=weights.attention[..., None] * values
        )


def distances(task: FactPrompts, weights: Weights) -> dict[str, torch.Tensor]:
    """Mean total-variation distances, (B,), of the model's prediction from four reference laws.

    They are the answer's law given the "relation", the "subject", "nothing", or the "fact".
    """
    predicted, target = task.logits(weights).softmax(3), task.target
    known = {
        "relation": target.mean(1, keepdim=True),
        "subject": target.mean(2, keepdim=True),
        "nothing": target.mean((1, 2), keepdim=True),  # but how often each answer occurs
        "fact": target,
    }
    return {name: (predicted - told).abs().sum(3).mean((1, 2)) / 2 for name, told in known.items()}


def growth_rates(before: Weights, after: Weights, duration: float) -> torch.Tensor:
    """Growth rate of each token's attention, (B, tokens), if it grew as a hyperbolic cosine."""
    return torch.arccosh(after.attention / before.attention) / duration


def flow(task: FactPrompts, weights: Weights, *, duration: float, steps: int) -> Iterator[Weights]:
    """Follow gradient flow by the classical Runge-Kutta method: the weights after each step.

    With a step of h the early growth at rate lambda has relative error (lambda h)^4 / 120.
    """
    h, uniform = duration / steps, 1 / (task.subjects * task.relations)
    for _ in range(steps):
        first = task.gradient(weights, uniform)
        second = task.gradient(weights.moved(first, h / 2), uniform)
        third = task.gradient(weights.moved(second, h / 2), uniform)
        fourth = task.gradient(weights.moved(third, h), uniform)
        for slope, share in ((first, 1 / 6), (second, 1 / 3), (third, 1 / 3), (fourth, 1 / 6)):
            weights = weights.moved(slope, share * h)
        yield weights


def losses_along(
    task: FactPrompts, start: Weights, path: Iterable[Weights], *, every: int = 1
) -> Losses:
    """Losses at the start of a path and at every ``every``-th step: (points, B)."""
    looks = itertools.islice(itertools.chain([start], path), 0, None, every)
    return stacked(map(task.losses, looks))


def stacked(path: Iterable[Losses]) -> Losses:
    """Stack the losses of all points of a path, one row per point."""
    relation, subject = zip(*((point.relation, point.subject) for point in path), strict=True)
    return Losses(relation=torch.stack(relation), subject=torch.stack(subject))


def sgd(
    task: FactPrompts,
    weights: Weights,
    rngs: Rngs,
    *,
    rate: float,
    batch: int,
    steps: int,
) -> Iterator[Weights]:
    """Run stochastic gradient descent on fresh prompts: the weights after each step.

    Subject and relation of a prompt are uniform; a batch enters through its counts of pairs.
    """
    pairs = task.subjects * task.relations
    shape = (task.replicates, task.subjects, task.relations, 1)
    streams = Streams.like(rngs, task.target)
    for start in range(0, steps, 256):
        size = min(256, steps - start)
        frequencies = streams.counts(batch, [1 / pairs] * pairs, size) / batch
        for step in range(size):
            gradient = task.gradient(weights, frequencies[:, step].reshape(shape))
            weights = weights.moved(gradient, rate)
            yield weights


def open_entropy(task: FactPrompts) -> torch.Tensor:
    """Mean entropy (B,), in nats, of a relation's answers over its subjects.

    >>> open_entropy(FactPrompts([product_dictionary(4, 3, 2)], answers=2)).exp().tolist()
    [2.0]
    """
    entropies: torch.Tensor = torch.special.entr(task.target.mean(1)).sum(2)
    return entropies.mean(1)


def half_step(path: torch.Tensor) -> torch.Tensor:
    """Step (B,), interpolated linearly, at which half of a loss, (steps + 1, B), is gone.

    Raises ValueError if a loss never falls to half.
    """
    level = path[0] / 2
    below = path < level
    if not below.any(0).all():
        raise ValueError("a loss is not halved: train longer")
    after = below.to(torch.int8).argmax(0, keepdim=True)
    high, low = path.gather(0, after - 1)[0], path.gather(0, after)[0]
    return after[0] - (level - low) / (high - low)


def flattest(losses: Losses) -> torch.Tensor:
    """Loss (B,) where it falls least per logarithm of time, between the two half times."""
    total = losses.total
    halves = torch.stack([half_step(losses.relation), half_step(losses.subject)])
    steps = torch.arange(1, total.shape[0] - 1, device=total.device)[:, None]
    fall = steps * (total[:-2] - total[2:])
    outside = (steps < halves.amin(0)) | (steps > halves.amax(0))
    place = fall.masked_fill(outside, math.inf).argmin(0, keepdim=True)
    return total[1:-1].gather(0, place)[0]
