"""Linear memory of K items under softmax and cross-entropy: exact gradient, flows and steps.

Queries and answers are orthonormal. `Weights.matrix` is W in their basis: scores of item j are
column j. The code does not use that one number per item would suffice.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

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
        return Weights((self.labels - weights.matrix.softmax(0)) * self.frequencies)

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
    return lambda matrix: basis.mT @ rule(basis @ matrix @ basis.mT) @ basis
