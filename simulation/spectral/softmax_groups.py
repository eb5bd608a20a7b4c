"""The memory of `softmax_memory` by its symmetry: groups of equally frequent items, any number.

Exchanging items of a group, with their answers, changes nothing. So all entries of W that such
exchanges take to each other are equal, and a table has each of them once. The first row has an
item's score for its own answer, the others its score for any other answer, group by group. One row
for all other answers suffices as long as the columns of W do not see each other. Tables are
`Weights`, one column per group. 100,000 items are 1,000 numbers, or 10,000.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from simulation.spectral.flows import NO_SINGULAR_VALUE, polar
from simulation.spectral.softmax_memory import Rule, Weights


@dataclass(frozen=True)
class Groups:
    """Groups of equally many items; group g has a probability of order g^-power.

    Attributes:
        items: K, a multiple of the groups; at least twice as many where others are kept apart.
        frequencies: of one item of each group, (M,).
        noise: share of labels drawn from all answers.
        apart: whether other answers are kept apart by their group.
    """

    items: int
    frequencies: Tensor
    noise: float = 0.0
    apart: bool = False

    @classmethod
    def of(
        cls, items: int, groups: int, power: float, noise: float, like: Tensor, *, apart: bool
    ) -> "Groups":
        """Make groups as `Memory.grouped`. Raises ValueError for groups of other sizes, or of too
        few items."""
        least = 2 if apart else 1
        if items % groups or items < least * groups:
            raise ValueError(f"{items} items make no {groups} groups of one size, from {least} on")
        weights = torch.arange(1, groups + 1).to(like) ** -power
        return cls(items, weights / weights.sum() * groups / items, noise, apart)

    @property
    def size(self) -> int:
        """Items of a group."""
        return self.items // self.frequencies.numel()

    @cached_property
    def counts(self) -> Tensor:
        """(rows, M): of how many answers an entry of the table is the score."""
        one = torch.ones_like(self.frequencies)[None]
        if not self.apart:
            return torch.cat([one, (self.items - 1) * one])
        own = torch.eye(self.frequencies.numel(), out=one.new_empty(0))
        return torch.cat([one, self.size - own])

    @cached_property
    def labels(self) -> Tensor:
        """(rows, M): how often one of these answers is the label."""
        labels = torch.full_like(self.counts, self.noise / self.items)
        labels[0] += 1 - self.noise
        return labels

    def start(self) -> Weights:
        """W = 0."""
        return Weights(torch.zeros_like(self.counts))

    def _log_chances(self, weights: Weights) -> Tensor:
        """(rows, M): logarithm of the softmax, of one answer."""
        several = self.counts.log()
        found: Tensor = (weights.matrix + several).log_softmax(0) - several
        return found

    def gradient(self, weights: Weights) -> Weights:
        """Minus the gradient of the mean cross-entropy, an entry of W for each of the table."""
        return Weights((self.labels - self._log_chances(weights).exp()) * self.frequencies)

    def mean_excess(self, weights: Weights) -> Tensor:
        """The mean cross-entropy above the entropy of the labels."""
        above = torch.special.xlogy(self.labels, self.labels)
        above = above - self.labels * self._log_chances(weights)
        found: Tensor = self.size * self.frequencies @ (self.counts * above).sum(0)
        return found

    @property
    def polar(self) -> Rule:
        """Return the polar factor of the whole matrix, as a table; others must be kept apart.

        W maps vectors that sum to zero over a group to multiples of themselves, and constants on
        the groups to constants. These parts are orthogonal, and each has its own polar factor.
        """

        def rule(table: Tensor) -> Tensor:
            within = table[0] - table[1:].diagonal()
            between = self.size * table[1:] + within.diag()
            signs = within.sign()
            between = between * (between.abs().max() > NO_SINGULAR_VALUE * within.abs().max())
            blocks = (polar(between) - signs.diag()) / self.size
            return torch.cat([(signs + blocks.diagonal())[None], blocks])

        return rule
