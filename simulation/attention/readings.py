r"""How a training batch reads what it has stored, split by what is random in a sample.

Given the embeddings, the covariance of a sample is :math:`\Sigma_i = \bar\Sigma + \Sigma^I_i +
\Sigma^C_i`: its expectation, the part that depends on the informative token alone, and the part of
its random context (paper A, A7 and A9; derived). Everything is kept as weights of the tokens,
the trigger apart, so that no (N, L, d) tensor is needed.
"""

from dataclasses import dataclass

import torch

from simulation.attention.sampling import Batch


def apply(matrix: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
    """Matrices (r, m, n) applied to vectors (r, n)."""
    return (matrix @ vector[..., None])[..., 0]


@dataclass(frozen=True)
class Readings:
    """Embeddings, and counts by informative token; r replicates.

    ``z``, ``out``: (r, V, d), a token's embedding and the centred output embedding of its label.
    ``trigger``: (r, d). ``tokens``: (r, N L). ``owner``: (r, N), the informative tokens.
    ``counts``: (r, V, V), how often the column's token stands in samples whose informative token is
    the row's. ``shares``: (r, V), the shares of the samples by informative token.
    """

    z: torch.Tensor
    out: torch.Tensor
    trigger: torch.Tensor
    tokens: torch.Tensor
    owner: torch.Tensor
    counts: torch.Tensor
    shares: torch.Tensor
    trigger_in_values: bool

    @classmethod
    def of(cls, batch: Batch, which: slice) -> "Readings":
        """The readings of some replicates of a batch."""
        z, tokens, size = batch.z[which], batch.tokens[which], batch.vocab_size
        owner = tokens.gather(2, batch.positions[which][..., None])
        label = batch.permutation[which][..., None].expand_as(z)
        pairs = (owner * size + tokens).flatten(1)
        counts = z.new_zeros(z.shape[0], size * size)
        counts.scatter_add_(1, pairs, torch.ones_like(pairs, dtype=z.dtype))
        counts = counts.view(-1, size, size)
        return cls(
            z=z,
            out=(batch.u[which] - batch.u[which].mean(1, keepdim=True)).gather(1, label),
            trigger=batch.trigger[which],
            tokens=tokens.flatten(1),
            owner=owner[..., 0],
            counts=counts,
            shares=counts.sum(2) / (batch.samples * batch.length),
            trigger_in_values=batch.trigger_in_values,
        )

    @property
    def samples(self) -> int:
        return self.owner.shape[1]

    @property
    def length(self) -> int:
        return self.tokens.shape[1] // self.owner.shape[1]

    @property
    def vocab_size(self) -> int:
        return self.z.shape[1]

    @property
    def contexts(self) -> torch.Tensor:
        """``counts`` without the informative tokens, less their expectation."""
        expected = self.shares[..., None] * (self.samples * (self.length - 1) / self.vocab_size)
        return self.counts - torch.diag_embed(self.shares * self.samples) - expected

    def memory(self, stored: torch.Tensor) -> torch.Tensor:
        """What a sample reads, by informative token, of ``stored`` (r, V, k): (r, V, k)."""
        return self.out @ (self.out.mT @ stored)

    def mean(self, field: torch.Tensor) -> torch.Tensor:
        r"""Weights of :math:`N^{-1}\sum_i\bar\Sigma m_i`; ``field[v, a]`` is z_v . m_a."""
        read = apply(field, self.shares)
        return (1 - 1 / self.length) / self.vocab_size * (read - read.mean(1, keepdim=True))

    def informative(self, field: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        r"""Weights of :math:`\sum_a p_a\Sigma^I_a m_a` for given ``shares`` p."""
        own, mean = field.diagonal(dim1=1, dim2=2), field.mean(1)
        constant = (shares * (2 * mean - own)).sum(1, keepdim=True)
        spread = (constant - apply(field, shares)) / self.vocab_size
        return (1 - 1 / self.length) / self.length * (shares * (own - mean) + spread)

    def context(self, field: torch.Tensor) -> torch.Tensor:
        r"""Weights of :math:`N^{-1}\sum_i\Sigma^C_i m_i`."""
        first = (self.counts.mT * field).sum(2) / (self.samples * self.length)
        columns = self.owner.repeat_interleave(self.length, dim=1)
        scores = field.flatten(1).gather(1, self.tokens * self.vocab_size + columns)
        sums = scores.view(*self.owner.shape, -1).sum(2)
        second = torch.zeros_like(first)
        second.scatter_add_(1, self.tokens, sums.repeat_interleave(self.length, dim=1))
        second /= self.samples * self.length**2
        return first - second - self.mean(field) - self.informative(field, self.shares)

    def within_sample(self) -> tuple[torch.Tensor, torch.Tensor]:
        r"""Weights of what a sample is expected to read of its own memory, :math:`g_{ii}/N^2` in
        all.

        First :math:`E[\Sigma^C_i h^C_i]` given its informative token; then the expectation of that
        and of :math:`\Sigma^I_i h^I_i` over the informative token as well.
        """
        size, length = self.vocab_size, self.length
        gram = self.z @ self.z.mT
        norms, ones = gram.diagonal(dim1=1, dim2=2), gram.sum(2)
        whole, trace = ones.sum(1, keepdim=True), norms.sum(1, keepdim=True)
        spread, reading = trace - whole / size, ones - whole / size
        own = self.shares * self.out.square().sum(2) / self.samples
        total, read = own.sum(1, keepdim=True), apply(gram, own)

        # Second and third moments of one context token, in turn.
        second = (length - 1) / (length * size**2) * (spread + reading)
        third = (norms - (2 * ones + trace) / size + 2 * whole / size**2) / (size * length)
        context = (norms - ones / size) / size - second - third
        context = (length - 1) / length**2 * total * context
        slope = (length - 1) / (length**3 * size)
        given = context - slope * (spread * own + read - read.mean(1, keepdim=True))
        informative = slope * total * (norms - (ones + reading + spread) / size)
        average = context - slope * total * (spread + reading) / size + informative
        return given, average

    def along_trigger(self, stored: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        """Weights that keys without the trigger get, in expectation, from values that hold it."""
        along = shares * apply(stored, self.trigger)
        return (1 - 1 / self.length) / self.length * (along - along.mean(1, keepdim=True))

    def trigger_coefficient(self, stored: torch.Tensor) -> torch.Tensor:
        """The weight of the trigger itself, from keys that hold it, reading ``stored``: (r,)."""
        own = self.z * stored * self.shares[..., None]
        read = (self.counts @ self.z) * stored / (self.samples * self.length)
        coefficient = (own - read).sum((1, 2)) / self.length
        if self.trigger_in_values:
            along = (self.shares * apply(stored, self.trigger)).sum(1)
            coefficient = coefficient + (1 - 1 / self.length) / self.length * along
        return coefficient
