"""Readings of a memory, a table of vectors: a sample reads the row of its informative token.

`simulation.attention.noise_decomposition` explains the letters of formulas, and computes the pieces
of scores from the readings. `Readings.counts`, (V, V), counts how often token v (column) occurs in
samples with informative token a (row). If most counts would be 0, no table is made.
"""

from dataclasses import dataclass
from functools import cached_property

import torch

from simulation.attention.contractions import occurrences, sum_bags, sum_by_label
from simulation.attention.sampling import Batch

DENSE_COUNTS = 2
"""Largest V^2 / (N L) at which `Readings.counts` makes its table. Decides speed only."""


def apply(matrix: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
    """Apply matrices (r, m, n) to vectors (r, n)."""
    return (matrix @ vector[..., None])[..., 0]


def _rows(tokens: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """Convert tokens (r, ...) to row numbers in the replicates' concatenated tables."""
    first = vocab_size * torch.arange(len(tokens), device=tokens.device)
    return tokens + first.view(-1, *[1] * (tokens.ndim - 1))


@dataclass(frozen=True)
class Readings:
    """Embeddings and samples of r replicates.

    ``z``, ``out``: (r, V, d), a token's embedding and the centred output embedding of its label.
    ``trigger``: (r, d). ``tokens``: (r, N L), sample by sample. ``owner``: (r, N), each sample's
    informative token. ``shares``: (r, V), the share of samples with each informative token.

    A ``memory`` in the methods is an (r, V, d) table of the vectors that samples read, by
    informative token.
    """

    z: torch.Tensor
    out: torch.Tensor
    trigger: torch.Tensor
    tokens: torch.Tensor
    owner: torch.Tensor
    shares: torch.Tensor
    trigger_in_values: bool

    @classmethod
    def of(cls, batch: Batch, which: slice) -> "Readings":
        """Make the readings of some replicates of a batch."""
        batch = batch[which]
        z, owner = batch.z, batch.informative
        label = batch.permutation[..., None].expand_as(z)
        shares = z.new_zeros(z.shape[:2]).scatter_add_(
            1, owner, torch.ones_like(owner, dtype=z.dtype)
        )
        return cls(
            z=z,
            out=(batch.u - batch.u.mean(1, keepdim=True)).gather(1, label),
            trigger=batch.trigger,
            tokens=batch.tokens.flatten(1),
            owner=owner,
            shares=shares / batch.samples,
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

    @cached_property
    def counts(self) -> torch.Tensor | None:
        """Counts (r, V, V) of tokens (columns) in samples with each informative token (rows).

        None if most of this table would be empty.
        """
        size = self.vocab_size
        if size**2 > DENSE_COUNTS * self.tokens.shape[1]:
            return None
        pairs = self.owner.repeat_interleave(self.length, dim=1) * size + self.tokens
        counts = self.z.new_zeros(len(self.z), size**2)
        counts.scatter_add_(1, pairs, torch.ones_like(pairs, dtype=counts.dtype))
        return counts.view(-1, size, size)

    @cached_property
    def sums(self) -> torch.Tensor:
        """Sum of the embeddings of each sample's tokens: (r, N, d)."""
        ends = self.length * torch.arange(1, self.owner.numel() + 1, device=self.z.device)
        rows = _rows(self.tokens, self.vocab_size).flatten()
        return sum_bags(self.z.flatten(0, 1), rows, ends).view(*self.owner.shape, -1)

    @cached_property
    def by_token(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows of informative tokens, (r N L, 1), and number of occurrences of each token, (r, V).

        Each occurrence of a token in a sample gives one entry: the table row of this sample's
        informative token. Entries are sorted by the token that occurs.
        """
        rows = _rows(self.tokens, self.vocab_size).flatten()
        owner = _rows(self.owner, self.vocab_size).flatten().repeat_interleave(self.length)
        counts = occurrences(rows, self.shares.numel())
        return owner[rows.argsort(), None], counts.view_as(self.shares)

    @cached_property
    def owned(self) -> torch.Tensor:
        """Sum of the embeddings of all tokens in samples with each informative token: (r, V, d)."""
        if self.counts is not None:
            return self.counts @ self.z
        rows = _rows(self.owner, self.vocab_size).flatten()
        found = torch.zeros_like(self.z).flatten(0, 1)
        return found.index_add_(0, rows, self.sums.flatten(0, 1)).view_as(self.z)

    def beside(self, memory: torch.Tensor) -> torch.Tensor:
        """Sum, over each token's occurrences, the vectors that their samples read: (r, V, d)."""
        if self.counts is not None:
            return self.counts.mT @ memory
        return sum_by_label(memory, *self.by_token)

    def within(self, memory: torch.Tensor) -> torch.Tensor:
        """Sum the overlaps of a sample's tokens with the vector that the sample reads: (r, N)."""
        if self.counts is None:
            read = memory.gather(1, self.owner[..., None].expand_as(self.sums))
            return (self.sums * read).sum(2)
        columns = self.owner.repeat_interleave(self.length, dim=1)
        scores = (self.z @ memory.mT).flatten(1)
        found = scores.gather(1, self.tokens * self.vocab_size + columns)
        return found.view(*self.owner.shape, -1).sum(2)

    def scatter(self, numbers: torch.Tensor) -> torch.Tensor:
        """Sum the samples' numbers (r, N) over all occurrences of each token: (r, V)."""
        each = numbers.repeat_interleave(self.length, dim=1)
        return torch.zeros_like(self.shares).scatter_add_(1, self.tokens, each)

    def memory(self, stored: torch.Tensor) -> torch.Tensor:
        """Compute sum_b (out_a . out_b) stored_b for every token a: (r, V, k)."""
        return self.out @ (self.out.mT @ stored)

    def read(self, memory: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        r"""Compute :math:`\sum_a z_v\cdot m_a\,p_a` for every token v and ``shares`` p: (r, V).

        Row a of ``memory`` is :math:`m_a`.
        """
        return apply(self.z, apply(memory.mT, shares))

    def mean(self, memory: torch.Tensor) -> torch.Tensor:
        r"""Compute the weights, (r, V), of the tokens in :math:`N^{-1}\sum_i\bar\Sigma m_i`.

        The row of ``memory`` for sample i's informative token is :math:`m_i`.
        """
        read = self.read(memory, self.shares)
        return (1 - 1 / self.length) / self.vocab_size * (read - read.mean(1, keepdim=True))

    def informative(self, memory: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        r"""Compute the weights, (r, V), of :math:`\sum_a p_a\Sigma^I_a m_a` for ``shares`` p.

        Row a of ``memory`` is :math:`m_a`.
        """
        own, mean = (self.z * memory).sum(2), apply(memory, self.z.mean(1))
        constant = (shares * (2 * mean - own)).sum(1, keepdim=True)
        spread = (constant - self.read(memory, shares)) / self.vocab_size
        return (1 - 1 / self.length) / self.length * (shares * (own - mean) + spread)

    def context(self, memory: torch.Tensor) -> torch.Tensor:
        r"""Compute the weights, (r, V), of :math:`N^{-1}\sum_i\Sigma^C_i m_i`."""
        first = (self.z * self.beside(memory)).sum(2)
        second = self.scatter(self.within(memory)) / self.length
        written = (first - second) / (self.samples * self.length)
        return written - self.mean(memory) - self.informative(memory, self.shares)

    def within_sample(self) -> tuple[torch.Tensor, torch.Tensor]:
        r"""Compute the weights, (r, V) each, of two expected readings of samples' own values.

        Each is a sum, over samples i, of :math:`g_{ii}/N^2` times an expectation. The first has
        :math:`E[\Sigma^C_i h^C_i]` given sample i's informative token. The second has
        :math:`E[\Sigma^C_i h^C_i + \Sigma^I_i h^I_i]` for a random informative token.
        """
        size, length = self.vocab_size, self.length
        norms, ones = self.z.square().sum(2), apply(self.z, self.z.sum(1))
        whole, trace = ones.sum(1, keepdim=True), norms.sum(1, keepdim=True)
        spread, reading = trace - whole / size, ones - whole / size
        own = self.shares * self.out.square().sum(2) / self.samples
        total, read = own.sum(1, keepdim=True), self.read(self.z, own)

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
        """Compute what the trigger in the values adds to the tokens' expected weights: (r, V).

        ``stored``: the memory that the samples read.  ``shares``: shares of samples, by informative
        token. The part from keys with the trigger is left out: `trigger_coefficient` computes it.
        """
        along = shares * apply(stored, self.trigger)
        return (1 - 1 / self.length) / self.length * (along - along.mean(1, keepdim=True))

    def trigger_coefficient(self, stored: torch.Tensor) -> torch.Tensor:
        """Compute the trigger's weight, (r,), from keys with the trigger.

        ``stored``: the memory that the samples read.
        """
        own = self.z * stored * self.shares[..., None]
        read = self.owned * stored / (self.samples * self.length)
        coefficient = (own - read).sum((1, 2)) / self.length
        if self.trigger_in_values:
            along = (self.shares * apply(stored, self.trigger)).sum(1)
            coefficient = coefficient + (1 - 1 / self.length) / self.length * along
        return coefficient
