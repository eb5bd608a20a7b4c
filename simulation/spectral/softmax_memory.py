"""Linear memory of K items under softmax and cross-entropy: exact gradient, and steps of any rule.

Queries and answers are orthonormal. `Weights.matrix` is W in their basis: scores of item j are
column j. By symmetry smaller tables would suffice (`softmax_groups`), but here the matrix is whole.
`in_bases` gives queries and answers any orthonormal coordinates, different for each replicate.
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
        """Return the weights after a step in ``direction``."""
        return Weights(torch.add(self.matrix, direction.matrix, alpha=step))

    def mapped(self, function: Rule) -> "Weights":
        """Apply a function to the matrix."""
        return Weights(function(self.matrix))


@dataclass(frozen=True)
class Memory:
    """Items with ``frequencies`` (K,), and the share of labels drawn uniformly from all answers."""

    frequencies: Tensor
    noise: float = 0.0

    @classmethod
    def grouped(cls, items: int, groups: int, power: float, noise: float, like: Tensor) -> "Memory":
        """Make groups of equally many items; group g has a probability proportional to g^-power.

        Args:
            items: K, a multiple of the number of groups.
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
        """Return the initial weights, W = 0."""
        return Weights(torch.zeros_like(self.labels))

    def gradient(self, weights: Weights) -> Weights:
        """Compute minus the gradient of the mean cross-entropy."""
        return Weights((self.labels - weights.matrix.softmax(-2)) * self.frequencies)

    def excess(self, weights: Weights) -> Tensor:
        """Compute each item's cross-entropy above the entropy of its labels: (K,), in nats."""
        labels = self.labels
        entropy: Tensor = -torch.special.xlogy(labels, labels).sum(0)
        cross = -(labels * weights.matrix.log_softmax(0)).sum(0)
        return cross - entropy

    def mean_excess(self, weights: Weights) -> Tensor:
        """Average `excess` over items by frequency: a scalar, in nats."""
        found: Tensor = self.frequencies @ self.excess(weights)
        return found


class Learned(Protocol):
    """A memory of items, or of groups of items."""

    def start(self) -> Weights: ...
    def gradient(self, weights: Weights, /) -> Weights: ...


def steps(memory: Learned, rule: Rule, rate: float, count: int) -> Iterator[Weights]:
    """Yield the weights at the start and after each of ``count`` steps along ``rule``."""
    now = memory.start()
    yield now
    for _ in range(count):
        now = now.moved(memory.gradient(now).mapped(rule), rate)
        yield now


def in_basis(rule: Rule, basis: Tensor) -> Rule:
    """Make a rule that applies ``rule`` in another orthonormal basis of queries and answers."""
    return in_bases(rule, basis, basis)


def in_bases(rule: Rule, answers: Tensor, queries: Tensor) -> Rule:
    """Make a rule that applies ``rule`` in other orthonormal bases, (K, K) or (R, K, K).

    The columns of ``answers`` and ``queries`` are the answers and queries in these bases.
    """
    return lambda matrix: answers.mT @ rule(answers @ matrix @ queries.mT) @ queries


def adam_steps(
    memory: Memory, answers: Tensor, queries: Tensor, *, rate: float, count: int
) -> Weights:
    """Take ``count`` steps of Adam in the bases of `in_bases`, and return weights (R, K, K).

    Adam has its usual constants.
    """
    given = torch.zeros_like(answers, memory_format=torch.contiguous_format)
    adam = Adam([given], [rate] * len(given))
    for _ in range(count):
        scores = Weights(answers.mT @ given @ queries)
        ascent = answers @ memory.gradient(scores).matrix @ queries.mT
        adam.step([given], [-ascent.contiguous()])
    return Weights(answers.mT @ given @ queries)


def leads(scores: Tensor) -> Tensor:
    """Subtract from each item's own score the mean of its other scores: (..., K).

    >>> leads(torch.tensor([[1.0, 0.0], [3.0, 2.0]])).tolist()
    [-2.0, 2.0]
    """
    own = scores.diagonal(dim1=-2, dim2=-1)
    found: Tensor = own - (scores.sum(-2) - own) / (scores.shape[-1] - 1)
    return found


def failing(scores: Tensor) -> Tensor:
    """Compute the log odds that an item's answer is wrong: (..., K)."""
    others = scores - scores.diagonal(dim1=-2, dim2=-1)[..., None, :]
    return others.masked_fill(_own(scores), -torch.inf).logsumexp(-2)


def worst_gap(direction: Tensor, error: float, halvings: int = 50) -> Tensor:
    """Compute the gap in log odds of an error between worst and best item after a step: (...,).

    Args:
        direction: scores after a step of size 1, (..., K, K); the best item's own score is largest.
        error: the best item's error probability, which sets the step's size.
        halvings: number of halvings of the interval in which the size lies.
    """
    wanted = math.log(error / (1 - error))
    own = direction.diagonal(dim1=-2, dim2=-1)
    others = direction.masked_fill(_own(direction), -torch.inf).amax(-2)
    # At this size the item of largest margin has at most the wanted error, even if all rivals tie.
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
