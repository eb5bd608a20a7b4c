"""The memory of `softmax_memory`, reduced by symmetry to groups of equally frequent items.

Exchanging items of a group, together with their answers, changes nothing. So all entries of W that
such exchanges map to each other are equal, and a table has each value once, with a column for each
group of items. The first row has an item's score for its own answer. The second row has its score
for any other answer. If steps mix columns of W (``apart``), each group of other answers has a row
instead. Tables are `Weights`. For 100,000 items in 1,000 groups, two rows have 2,000 numbers.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from simulation.spectral.singular_values import NO_SINGULAR_VALUE, polar
from simulation.spectral.softmax_memory import Rule, Weights


@dataclass(frozen=True)
class Groups:
    """M groups of equally many items.

    Attributes:
        items: K, a multiple of M; at least 2 M with ``apart``.
        frequencies: probability of one item of each group, (M,).
        noise: share of labels drawn from all answers.
        apart: whether rows distinguish other answers by their group.
    """

    items: int
    frequencies: Tensor
    noise: float = 0.0
    apart: bool = False

    @classmethod
    def of(
        cls, items: int, groups: int, power: float, noise: float, like: Tensor, *, apart: bool
    ) -> "Groups":
        """Represent the items of `Memory.grouped` by their groups, of equal size.

        Raises ValueError if ``items`` is not a multiple of ``groups``, or groups are too small.
        """
        least = 2 if apart else 1
        if items % groups or items < least * groups:
            raise ValueError(f"{items} items make no {groups} groups of one size, from {least} on")
        weights = torch.arange(1, groups + 1).to(like) ** -power
        return cls(items, weights / weights.sum() * groups / items, noise, apart)

    @property
    def size(self) -> int:
        """Number of items of a group."""
        return self.items // self.frequencies.numel()

    @cached_property
    def counts(self) -> Tensor:
        """Number of answers that share an entry of the table: (rows, M)."""
        one = torch.ones_like(self.frequencies)[None]
        if not self.apart:
            return torch.cat([one, (self.items - 1) * one])
        own = torch.eye(self.frequencies.numel(), out=one.new_empty(0))
        return torch.cat([one, self.size - own])

    @cached_property
    def labels(self) -> Tensor:
        """Probability that a given answer with this entry is the label: (rows, M)."""
        labels = torch.full_like(self.counts, self.noise / self.items)
        labels[0] += 1 - self.noise
        return labels

    def start(self) -> Weights:
        """Return the initial table, W = 0."""
        return Weights(torch.zeros_like(self.counts))

    def _log_chances(self, weights: Weights) -> Tensor:
        """Compute the log probability of a given answer with each entry: (rows, M)."""
        several = self.counts.log()
        found: Tensor = (weights.matrix + several).log_softmax(0) - several
        return found

    def gradient(self, weights: Weights) -> Weights:
        """Compute minus the mean cross-entropy's derivative in each single entry of W: a table."""
        return Weights((self.labels - self._log_chances(weights).exp()) * self.frequencies)

    def mean_excess(self, weights: Weights) -> Tensor:
        """Compute the mean cross-entropy above the entropy of the labels, a scalar in nats."""
        above = torch.special.xlogy(self.labels, self.labels)
        above = above - self.labels * self._log_chances(weights)
        found: Tensor = self.size * self.frequencies @ (self.counts * above).sum(0)
        return found

    @property
    def polar(self) -> Rule:
        """Rule that takes the polar factor of the whole matrix, as a table; needs ``apart``.

        W multiplies each vector that is nonzero in one group only, and sums to zero there, by a
        number. W maps vectors that are constant on groups to vectors constant on groups. These
        subspaces are orthogonal, and each has its own polar factor.
        """

        def rule(table: Tensor) -> Tensor:
            within = table[0] - table[1:].diagonal()
            between = self.size * table[1:] + within.diag()
            signs = within.sign()
            between = between * (between.abs().max() > NO_SINGULAR_VALUE * within.abs().max())
            blocks = (polar(between) - signs.diag()) / self.size
            return torch.cat([(signs + blocks.diagonal())[None], blocks])

        return rule
