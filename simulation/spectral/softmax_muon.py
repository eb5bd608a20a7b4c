"""Muon as it is used, on the memory of `softmax_memory`: momentum, batches, other embeddings."""

from dataclasses import dataclass

import torch
from torch import Tensor

from simulation.embeddings import embed, unit_vectors
from simulation.spectral.singular_values import polar
from simulation.spectral.softmax_memory import Memory, Rule
from simulation.streams import Rngs, Streams


@dataclass(frozen=True)
class Muon:
    """Settings of Muon as it is used; by default, the exact polar factor of the whole gradient.

    Attributes:
        rule: map from a mean of gradients to a direction.
        momentum: share of the old mean in the new mean.
        batch: number of items drawn for a step, by their frequencies; all items if not given.
        dim: dimension of random unit vectors as queries and answers, at least the number of items;
            orthonormal vectors if not given.
    """

    rule: Rule = polar
    momentum: float = 0.0
    batch: int | None = None
    dim: int | None = None

    def excess(self, memory: Memory, rngs: Rngs, *, rate: float, count: int) -> Tensor:
        """Compute the mean loss less the labels' entropy, in nats: (R,) for R replicates.

        The loss is taken after ``count`` steps of size ``rate``, from weights of zero.
        """
        labels, items = memory.labels, memory.frequencies.numel()
        streams = Streams.like(rngs, labels)
        queries, answers = (self._embedded(streams, items) for _ in range(2))
        if self.batch is not None:
            chances = memory.frequencies.double()
            drawn = streams.counts(self.batch, (chances / chances.sum()).tolist(), count)
        weights = mean = torch.zeros_like(answers.mT @ queries)
        for step in range(count + 1):
            scores = answers @ weights @ queries.mT
            if step == count:
                break
            often = memory.frequencies
            if self.batch is not None:
                often = (drawn[:, step, None] / self.batch).expand(-1, items, -1)
            new = answers.mT @ ((labels - scores.softmax(1)) * often) @ queries
            mean = self.momentum * mean + (1 - self.momentum) * new
            weights = weights + rate * self.rule(mean)
        entropy = -torch.special.xlogy(labels, labels).sum(0)
        cross = -(labels * scores.log_softmax(1)).sum(1)
        found: Tensor = (cross - entropy) @ memory.frequencies
        return found

    def _embedded(self, streams: Streams, items: int) -> Tensor:
        """Draw embeddings (R, items, items), in coordinates of their span, which no step leaves."""
        if self.dim is None:
            return embed(streams, items, items, "orthonormal")
        triangular: Tensor = torch.linalg.qr(unit_vectors(streams, items, self.dim).mT)[1]
        return triangular.mT
