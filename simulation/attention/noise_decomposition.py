r"""Noise decomposition: the token scores as an exact sum of one piece for each mechanism of noise.

The score direction is :math:`w = N^{-1}\sum_i\Sigma_i m_i` with
:math:`m_i = N^{-1}\sum_{i'} g_{ii'}\bar h_{i'}` what sample i reads of the memory (see
`simulation.attention.three_steps`; paper A, A7 and A9; derived). Given the embeddings, covariance
and mean value of a sample are their expectation, the part that depends on its informative token
alone (I), and the part of its random context (C); what is read splits with the mean value:

.. math:: \Sigma_i = \bar\Sigma + \Sigma^I_i + \Sigma^C_i,\qquad
          \bar h_i = \mu + \tau z_{trig}/L + h^I_i + h^C_i,\qquad
          m_i = g_i(\mu + \tau z_{trig}/L) + m^I_i + m^C_i .

Products of these, with expectations within a sample taken exactly, are the pieces: the properties
of `NoiseDecomposition` that `PIECES` names by the symbols of the theory. Vectors in the span of the
embeddings are kept as weights of the tokens, the trigger apart, so that no (N, L, d) tensor is
needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from simulation.attention.sampling import Batch

PIECES = {
    "T": "trigger_direction",
    "A": "mean_bias",
    "B": "stored_context",
    "C": "gradient_noise",
    "D": "label_counts",
    "E": "read_mean",
    "H": "own_memory",
    "C2": "informative_slots",
    "F": "population_floor",
}
"""Names of the pieces by symbol."""

_TILE = 2**16


def decompose(batch: Batch, symbols: Sequence[str] = tuple(PIECES)) -> dict[str, torch.Tensor]:
    """The part of every token's score that each mechanism contributes.

    Returns the pieces by symbol as (R, V) tensors in units ``gamma * eta = 1``; the sum of all is
    the ``theta`` of `simulation.attention.three_steps.token_scores`. Needs (V, V) memory per
    replicate.

    Raises ValueError for an unknown symbol.
    """
    unknown = sorted(set(symbols) - set(PIECES))
    if unknown:
        raise ValueError(f"unknown piece {', '.join(unknown)}: choose from {', '.join(PIECES)}")
    step = max(1, _TILE // batch.vocab_size**2)
    tiles = [
        NoiseDecomposition(Readings.of(batch, slice(first, first + step)))
        for first in range(0, batch.replicates, step)
    ]
    return {
        symbol: torch.cat([getattr(tile, PIECES[symbol]) for tile in tiles]) for symbol in symbols
    }


def variances(batch: Batch, symbols: Sequence[str] = tuple(PIECES)) -> dict[str, torch.Tensor]:
    """Unbiased variance over the tokens of each piece: (R,) each."""
    return {symbol: piece.var(dim=1) for symbol, piece in decompose(batch, symbols).items()}


def covariance(batch: Batch, first: str, second: str) -> torch.Tensor:
    """Unbiased covariance over the tokens of two pieces: (R,)."""
    one, other = decompose(batch, (first, second)).values()
    spread = one - one.mean(1, keepdim=True)
    return (spread * other).sum(1) / (batch.vocab_size - 1)


def trigger_coefficient_noise(batch: Batch) -> torch.Tensor:
    """How far the trigger's weight in w is from its value at infinite N: (R,).

    Its square averages to the noise that a finite sample puts on the trigger score. Meant for
    batches without the trigger in the values, where the weight has no excess at finite N.
    """
    pieces = NoiseDecomposition(Readings.of(batch, slice(None)))
    data = pieces.data
    limit = (pieces.spread * pieces.clean_memory).sum((1, 2)) * (1 - 1 / data.length)
    return data.trigger_coefficient(pieces.stored) - limit / (data.length * data.vocab_size)


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


class NoiseDecomposition:
    """The pieces of some replicates, scores (r, V) of all tokens, each computed when asked for."""

    def __init__(self, data: Readings) -> None:
        self.data = data
        self.centre = data.z.mean(1)
        self.spread = data.z - self.centre[:, None]
        self.uniform = torch.full_like(data.shares, 1 / data.vocab_size)
        self.marker = torch.zeros_like(self.centre)
        if data.trigger_in_values:
            self.marker = data.trigger / data.length

    @cached_property
    def agreement(self) -> torch.Tensor:
        """Mean agreement of a label with the batch, by informative token: (r, V, 1)."""
        return self.data.memory(self.data.shares[..., None])

    @cached_property
    def context_values(self) -> torch.Tensor:
        """Sum over samples, by informative token, of what contexts add to the mean value."""
        return self.data.contexts @ self.data.z / (self.data.samples * self.data.length)

    @cached_property
    def clean_memory(self) -> torch.Tensor:
        """The memory of the informative tokens at infinite N."""
        return self.data.memory(self.spread / (self.data.vocab_size * self.data.length))

    @cached_property
    def informative_memory(self) -> torch.Tensor:
        return self.data.memory(self.data.shares[..., None] * self.spread / self.data.length)

    @cached_property
    def context_memory(self) -> torch.Tensor:
        return self.data.memory(self.context_values)

    @cached_property
    def stored(self) -> torch.Tensor:
        """The whole memory."""
        mean = self.agreement * (self.centre + self.marker)[:, None]
        return mean + self.informative_memory + self.context_memory

    @cached_property
    def informative_field(self) -> torch.Tensor:
        return self.data.z @ self.informative_memory.mT

    @cached_property
    def context_field(self) -> torch.Tensor:
        return self.data.z @ self.context_memory.mT

    @cached_property
    def clean_field(self) -> torch.Tensor:
        return self.data.z @ self.clean_memory.mT

    @cached_property
    def within_sample(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self.data.within_sample()

    @cached_property
    def floor(self) -> torch.Tensor:
        return self.data.informative(self.clean_field, self.uniform)

    @cached_property
    def coherent(self) -> torch.Tensor:
        data = self.data
        own = data.out.square().sum(2, keepdim=True) / data.samples
        read = self.clean_field + data.z @ (own * self.spread / data.length).mT
        weights = data.context(read) + data.informative(self.context_field, self.uniform)
        written = data.z @ (own * self.context_values).mT
        return weights + data.informative(written, torch.ones_like(self.uniform))

    def score(self, weights: torch.Tensor) -> torch.Tensor:
        """Scores of all tokens where the direction weights the tokens by ``weights``."""
        return apply(self.data.z, apply(self.data.z.mT, weights))

    def mean_field(self, value: torch.Tensor) -> torch.Tensor:
        """The field of a ``value`` (r, d) that every sample has stored."""
        return self.agreement.mT * apply(self.data.z, value)[..., None]

    @property
    def trigger_direction(self) -> torch.Tensor:
        r"""T, what points along the trigger.

        The keys that hold it, :math:`z_v\cdot z_{trig}` times the trigger's coefficient; with the
        trigger in the values, also :math:`N^{-1}\sum_i\bar\Sigma\,g_i z_{trig}/L`, and what values
        that hold it read of the memory at infinite N.
        """
        data = self.data
        weights = data.mean(self.mean_field(self.marker))
        if data.trigger_in_values:
            weights = weights + data.along_trigger(self.clean_memory, self.uniform)
        direct = data.trigger_coefficient(self.stored)[:, None] * apply(data.z, data.trigger)
        return self.score(weights) + direct

    @property
    def mean_bias(self) -> torch.Tensor:
        r"""A, :math:`N^{-1}\sum_i\bar\Sigma\,g_i\mu` and the expectation within a sample of
        :math:`g_{ii}\Sigma_i\bar h_i/N^2`."""
        mean = self.data.mean(self.mean_field(self.centre))
        return self.score(mean + self.within_sample[1])

    @property
    def stored_context(self) -> torch.Tensor:
        r"""B, :math:`N^{-1}\sum_i\bar\Sigma\,m^C_i`."""
        return self.score(self.data.mean(self.context_field))

    @property
    def gradient_noise(self) -> torch.Tensor:
        r"""C, :math:`N^{-1}\sum_i[\Sigma^C_i(m^I_i + m^C_i) + \Sigma^I_i m^C_i]`, less C2 and less
        the expectation of :math:`g_{ii}\Sigma^C_i h^C_i/N^2` given the informative token."""
        data = self.data
        weights = data.context(self.informative_field + self.context_field)
        weights = weights + data.informative(self.context_field, data.shares)
        return self.score(weights - self.coherent - self.within_sample[0])

    @property
    def label_counts(self) -> torch.Tensor:
        r"""D, :math:`N^{-1}\sum_i\bar\Sigma\,m^I_i`."""
        return self.score(self.data.mean(self.informative_field))

    @property
    def read_mean(self) -> torch.Tensor:
        r"""E, :math:`N^{-1}\sum_i(\Sigma^I_i + \Sigma^C_i)\,g_i(\mu + \tau z_{trig}/L)`."""
        field = self.mean_field(self.centre + self.marker)
        return self.score(self.data.informative(field, self.data.shares) + self.data.context(field))

    @property
    def own_memory(self) -> torch.Tensor:
        r"""H, :math:`N^{-1}\sum_i\Sigma^I_i m^I_i` less F, with the expectation of
        :math:`g_{ii}\Sigma^C_i h^C_i/N^2` given the informative token less the plain one; with the
        trigger in the values, also what they read of its memory at finite N."""
        data, (given, average) = self.data, self.within_sample
        weights = data.informative(self.informative_field, data.shares)
        weights = weights - self.floor + given - average
        if data.trigger_in_values:
            along = apply(self.stored, data.trigger)
            read = apply(data.counts.mT, along) / (data.samples * data.length)
            weights = weights + (data.shares * along - read) / data.length
            weights = weights - data.along_trigger(self.clean_memory, self.uniform)
        return self.score(weights)

    @property
    def informative_slots(self) -> torch.Tensor:
        r"""C2, :math:`N^{-1}\sum_i\Sigma^C_i(m^\infty_i + g_{ii}h^I_i/N)`, the informative tokens
        that infinitely many samples, or sample i itself, have stored, and :math:`m^C_i` read by
        :math:`\Sigma^I` of the same."""
        return self.score(self.coherent)

    @property
    def population_floor(self) -> torch.Tensor:
        r"""F, :math:`V^{-1}\sum_a\Sigma^I_a m^\infty_a`: :math:`\Sigma^I m^I` at infinite N."""
        return self.score(self.floor)
