"""Linear memory of K items under softmax and cross-entropy: exact gradient, flows and steps.

Queries and answers are orthonormal. `Weights.matrix` is W in their basis: scores of item j are
column j. The code does not use that one number per item would suffice. `in_bases` gives queries and
answers any orthonormal coordinates, different for each replicate.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from simulation.adam import Adam

Rule = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Weights:
    """Weights ``matrix``: (K answers, K items)."""

    matrix: Tensor

    def moved(self, direction: "Weights", step: float) -> "Weights":
        """Weights after a step in a direction."""
        return Weights(torch.add(self.matrix, direction.matrix, alpha=step))

    def mapped(self, function: Rule) -> "Weights":
        """Apply a function to the matrix."""
        return Weights(function(self.matrix))


@dataclass(frozen=True)
class Memory:
    """Items with frequencies, (K,), and the share of labels drawn from all answers."""

    frequencies: Tensor
    noise: float = 0.0

    @classmethod
    def grouped(cls, items: int, groups: int, power: float, noise: float, like: Tensor) -> "Memory":
        """Make groups of equally many items; group g has a probability proportional to g^-power.

        Args:
            items: K, a multiple of the groups.
            groups: number of groups.
            power: exponent of the groups' probabilities.
            noise: share of labels drawn from all answers.
            like: a tensor whose type and device the memory gets.
        """
        weights = torch.arange(1, groups + 1).to(like) ** -power
        each = weights / weights.sum() * groups / items
        return cls(each.repeat_interleave(items // groups), noise)

    @property
    def labels(self) -> Tensor:
        """Probability that an answer is an item's label: (K answers, K items)."""
        size = self.frequencies.numel()
        own = torch.eye(size, dtype=self.frequencies.dtype, device=self.frequencies.device)
        return (1 - self.noise) * own + self.noise / size

    def start(self) -> Weights:
        """Initial weights, W = 0."""
        return Weights(torch.zeros_like(self.labels))

    def gradient(self, weights: Weights) -> Weights:
        """Negative gradient of the mean cross-entropy."""
        return Weights((self.labels - weights.matrix.softmax(-2)) * self.frequencies)

    def excess(self, weights: Weights) -> Tensor:
        """Each item's cross-entropy above the entropy of its labels: (K,)."""
        labels = self.labels
        entropy: Tensor = -torch.special.xlogy(labels, labels).sum(0)
        cross = -(labels * weights.matrix.log_softmax(0)).sum(0)
        return cross - entropy

    def mean_excess(self, weights: Weights) -> Tensor:
        """Mean excess loss, a number."""
        found: Tensor = self.frequencies @ self.excess(weights)
        return found


class Learned(Protocol):
    """A memory of items, or of groups of items."""

    def start(self) -> Weights: ...
    def gradient(self, weights: Weights, /) -> Weights: ...


def steps(memory: Learned, rule: Rule, rate: float, count: int) -> Iterator[Weights]:
    """Weights at the start and after each step in the direction of ``rule``."""
    now = memory.start()
    yield now
    for _ in range(count):
        now = now.moved(memory.gradient(now).mapped(rule), rate)
        yield now


def in_basis(rule: Rule, basis: Tensor) -> Rule:
    """Apply a rule to the entries in another orthonormal basis of queries and answers."""
    return in_bases(rule, basis, basis)


def in_bases(rule: Rule, answers: Tensor, queries: Tensor) -> Rule:
    """Apply a rule to the entries in other orthonormal bases, one (K, K) or a batch (R, K, K).

    Vectors of a basis are columns, as they are in `in_basis`.
    """
    return lambda matrix: answers.mT @ rule(answers @ matrix @ queries.mT) @ queries


def adam_steps(
    memory: Memory, answers: Tensor, queries: Tensor, *, rate: float, count: int
) -> Weights:
    """Weights (R, K, K) after steps of Adam, with its usual constants, in bases of `in_bases`."""
    given = torch.zeros_like(answers, memory_format=torch.contiguous_format)
    adam = Adam([given], [rate] * len(given))
    for _ in range(count):
        scores = Weights(answers.mT @ given @ queries)
        ascent = answers @ memory.gradient(scores).matrix @ queries.mT
        adam.step([given], [-ascent.contiguous()])
    return Weights(answers.mT @ given @ queries)


def leads(scores: Tensor) -> Tensor:
    """Score of each item's own answer less the mean of its other scores: (..., K).

    >>> leads(torch.tensor([[1.0, 0.0], [3.0, 2.0]])).tolist()
    [-2.0, 2.0]
    """
    own = scores.diagonal(dim1=-2, dim2=-1)
    found: Tensor = own - (scores.sum(-2) - own) / (scores.shape[-1] - 1)
    return found


def failing(scores: Tensor) -> Tensor:
    """Log odds that an item's answer is wrong: (..., K)."""
    others = scores - scores.diagonal(dim1=-2, dim2=-1)[..., None, :]
    return others.masked_fill(_own(scores), -torch.inf).logsumexp(-2)


def worst_gap(direction: Tensor, error: float, halvings: int = 50) -> Tensor:
    """Log odds of an error of the worst item, less the best item's, after a step: (...,).

    Args:
        direction: scores after a step of size 1, (..., K, K); the best item's own score is largest.
        error: error of the best item, to which the step's size leads.
        halvings: number of halvings of the interval in which the size lies.
    """
    wanted = math.log(error / (1 - error))
    own = direction.diagonal(dim1=-2, dim2=-1)
    others = direction.masked_fill(_own(direction), -torch.inf).amax(-2)
    # There the item with the largest margin is good enough, even if all others score as high.
    enough = math.log(direction.shape[-1] - 1) - wanted
    high = (enough / (own - others).amax(-1))[..., None, None]
    low = torch.zeros_like(high)
    for _ in range(halvings):
        middle = (low + high) / 2
        reached = failing(middle * direction).amin(-1)[..., None, None] <= wanted
        low, high = torch.where(reached, low, middle), torch.where(reached, middle, high)
    return failing(high * direction).amax(-1) - wanted


def _own(scores: Tensor) -> Tensor:
    return torch.eye(scores.shape[-1], dtype=torch.bool, device=scores.device)
