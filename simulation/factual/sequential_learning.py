"""Gradient flow and minibatch SGD on facts, with one-hot tokens and linear attention.

A prompt holds a subject, a relation, noise tokens and EOS, the query; logits are the sum over its
tokens of attention weight times value. Noise tokens start equal and have the same mean gradient.
One row represents all of them, and its count in a prompt of T tokens is T - 3. So in SGD noise
tokens learn from mean counts instead of counts in each prompt; tests/unit compares this SGD
with SGD on whole prompts.

Tensors have the shape (B, tokens) or (B, tokens, answers), with B replicates and the tokens in the
order: S subjects, R relations, EOS, noise. Each relation has D answers.
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
    """Make the published dictionary (S, R): the answer to (s, r) is floor(D s / S) + D r.

    The answer depends on the relation r and on the kind of the subject s, floor(D s / S).

    Raises ValueError if ``answers`` does not divide ``subjects``.

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
    """Draw answers (B, S, R): an answer to relation r is uniform among D r, ..., D r + D - 1."""
    drawn = Streams(rngs, device).integers(answers, subjects, relations)
    return drawn + answers * torch.arange(relations, device=device)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Trained weights of linear attention.

    ``attention``: (B, tokens), each token's weight under the query EOS.  ``values``: (B, tokens,
    answers).
    """

    attention: torch.Tensor
    values: torch.Tensor

    def moved(self, gradient: "Weights", step: float) -> "Weights":
        """Return the weights after a step along ``gradient``."""
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
        length: number of tokens of a prompt, with subject, relation and EOS.
        noise: number of different noise tokens.

    Raises ValueError if ``length`` is below 3, ``noise`` is below 1, or an answer is outside the
    block of its relation.
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
        """Make initial weights: attention is ``attention``, a token's values are its ``shift``.

        ``shift`` is broadcast to (B, tokens, answers).
        """
        tokens = self.subjects + self.relations + 2
        values = self.target.new_zeros(self.replicates, tokens, self.target.shape[3]) + shift
        return Weights(attention=torch.full_like(values[..., 0], attention), values=values)

    def logits(self, weights: Weights) -> torch.Tensor:
        """Compute all answers' logits for prompts with each pair: (B, S, R, answers)."""
        scores = weights.attention[..., None] * weights.values
        s, r = self.subjects, self.relations
        background = scores[:, s + r] + self.noise_count * scores[:, s + r + 1]
        return scores[:, :s, None] + (scores[:, s : s + r] + background[:, None])[:, None]

    def losses(self, weights: Weights) -> Losses:
        """Compute the two parts of the population loss, (B,) each."""
        p = self.logits(weights).softmax(3)
        blocks = p.view(*p.shape[:3], self.relations, self.answers).sum(4)
        relation = -blocks.diagonal(dim1=2, dim2=3).log().mean((1, 2))
        total = -(self.target * p).sum(3).log().mean((1, 2))
        return Losses(relation=relation, subject=total - relation)

    def gradient(self, weights: Weights, frequencies: torch.Tensor | float) -> Weights:
        """Compute minus the gradient of the loss over pairs of subject and relation.

        ``frequencies``: of the pairs, (B, S, R, 1), or one number for all.
        """
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
    """Average over facts the prediction's total-variation distance from four laws: (B,) each.

    The laws are the answer's law given the "relation", the "subject", "nothing", or the "fact".
    """
    predicted, target = task.logits(weights).softmax(3), task.target
    known = {
        "relation": target.mean(1, keepdim=True),
        "subject": target.mean(2, keepdim=True),
        "nothing": target.mean((1, 2), keepdim=True),  # how often each answer occurs
        "fact": target,
    }
    return {name: (predicted - told).abs().sum(3).mean((1, 2)) / 2 for name, told in known.items()}


def growth_rates(before: Weights, after: Weights, duration: float) -> torch.Tensor:
    """Compute the rate of each token's attention, (B, tokens), if it grows as cosh(rate time)."""
    return torch.arccosh(after.attention / before.attention) / duration


def flow(task: FactPrompts, weights: Weights, *, duration: float, steps: int) -> Iterator[Weights]:
    """Follow gradient flow by the classical Runge-Kutta method, and yield the weights of each step.

    With a step of h, the rate lambda of early growth has a relative error of (lambda h)^4 / 120.
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
    """Compute the losses at the start of a path and at every ``every``-th step: (points, B)."""
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
    """Run stochastic gradient descent on fresh prompts, and yield the weights of each step.

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
    """Average, over relations, the entropy of a random subject's answer: (B,), in nats.

    >>> open_entropy(FactPrompts([product_dictionary(4, 3, 2)], answers=2)).exp().tolist()
    [2.0]
    """
    entropies: torch.Tensor = torch.special.entr(task.target.mean(1)).sum(2)
    return entropies.mean(1)


def half_step(path: torch.Tensor) -> torch.Tensor:
    """Find the step (B,), interpolated linearly, at which a loss (steps + 1, B) is halved.

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
    """Find the total loss (B,), in nats, at the point of slowest fall in log time.

    Only points between the `half_step` of the loss's two parts count.
    """
    total = losses.total
    halves = torch.stack([half_step(losses.relation), half_step(losses.subject)])
    steps = torch.arange(1, total.shape[0] - 1, device=total.device)[:, None]
    fall = steps * (total[:-2] - total[2:])
    outside = (steps < halves.amin(0)) | (steps > halves.amax(0))
    place = fall.masked_fill(outside, math.inf).argmin(0, keepdim=True)
    return total[1:-1].gather(0, place)[0]
