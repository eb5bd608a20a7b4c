r"""Noise decomposition: token scores as an exact sum of pieces, one for each mechanism of noise.

The score direction is :math:`w = N^{-1}\sum_i\Sigma_i m_i` with
:math:`m_i = N^{-1}\sum_{i'} g_{ii'}\bar h_{i'}` the part of the memory that sample i reads (see
`simulation.attention.three_steps`; paper A, A7 and A9; derived). Here :math:`\Sigma_i` is the
covariance of keys and values in sample i, and :math:`\bar h_i` its mean value. The inner product of
the centred output embeddings of two samples' labels is :math:`g_{ii'}`, and :math:`g_i` is its mean
over i'. Given the embeddings, :math:`\Sigma_i` and :math:`\bar h_i` each have three parts: the
expectation, a part from the informative token (I), and a part from the random context (C). So
:math:`m_i` has three parts too:

.. math:: \Sigma_i = \bar\Sigma + \Sigma^I_i + \Sigma^C_i,\qquad
          \bar h_i = \mu + \tau z_{trig}/L + h^I_i + h^C_i,\qquad
          m_i = g_i(\mu + \tau z_{trig}/L) + m^I_i + m^C_i .

Here :math:`\mu` is the mean embedding, and :math:`\tau` is 1 if the trigger is in the values and
else 0. The pieces are sums of products of these parts, some with :math:`m^\infty_i`, which is
:math:`m^I_i` at infinite N. Some pieces also add or subtract the expectation of a product of two
parts of one sample, in closed form.
`NoiseDecomposition` has a property for each piece, and `PIECES` lists the properties by the symbols
of the theory. Vectors in the span of the embeddings are stored as weights of the tokens, and the
trigger's weight separately. Matrix products take half of the time at V = 512 and a third at 2048.
The rest goes to the many arrays of weights, as each takes a pass over the tokens.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import torch

from simulation.attention.noise_readings import Readings, apply
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

_TILE = 2**18


def decompose(batch: Batch, symbols: Sequence[str] = tuple(PIECES)) -> dict[str, torch.Tensor]:
    """Split every token's score into pieces, one for each mechanism of noise.

    Returns the pieces by symbol as (R, V) tensors in units ``gamma * eta = 1``. All nine add up to
    the ``theta`` of `simulation.attention.three_steps.token_scores`.

    Raises ValueError for an unknown symbol.
    """
    unknown = sorted(set(symbols) - set(PIECES))
    if unknown:
        raise ValueError(f"unknown piece {', '.join(unknown)}: choose from {', '.join(PIECES)}")
    parts = [[getattr(tile, PIECES[symbol]) for symbol in symbols] for tile in _tiles(batch)]
    return dict(zip(symbols, map(torch.cat, zip(*parts, strict=True)), strict=True))


def _tiles(batch: Batch) -> Iterator["NoiseDecomposition"]:
    largest = max(batch.vocab_size * batch.dim, batch.samples * batch.length)
    step = max(1, _TILE // largest)
    for first in range(0, batch.replicates, step):
        yield NoiseDecomposition(Readings.of(batch, slice(first, first + step)))


def variances(batch: Batch, symbols: Sequence[str] = tuple(PIECES)) -> dict[str, torch.Tensor]:
    """Estimate the variance of each piece over the tokens, without bias: (R,) by symbol."""
    return {symbol: piece.var(dim=1) for symbol, piece in decompose(batch, symbols).items()}


def covariance(batch: Batch, first: str, second: str) -> torch.Tensor:
    """Estimate the covariance over the tokens of the pieces ``first`` and ``second``: (R,)."""
    one, other = decompose(batch, (first, second)).values()
    spread = one - one.mean(1, keepdim=True)
    return (spread * other).sum(1) / (batch.vocab_size - 1)


def trigger_coefficient_noise(batch: Batch) -> torch.Tensor:
    """Compute the deviation of the trigger's weight in w from this weight at infinite N: (R,).

    The mean square of this deviation is nearly the variance that a finite sample adds to the
    weight.

    Raises ValueError with the trigger in the values, where the limit at infinite N is unknown.
    """
    if batch.trigger_in_values:
        raise ValueError("the weight at infinite N is known only without the trigger in the values")
    found = []
    for pieces in _tiles(batch):
        data = pieces.data
        limit = (pieces.spread * pieces.clean_memory).sum((1, 2)) * (1 - 1 / data.length)
        limit /= data.length * data.vocab_size
        found.append(data.trigger_coefficient(pieces.stored) - limit)
    return torch.cat(found)


def trigger_coefficient(batch: Batch) -> torch.Tensor:
    r"""Compute the trigger's weight in w: (R,).

    With the trigger in the values, the weight includes the inner product of the trigger with
    :math:`N^{-1}\sum_i\bar\Sigma\,g_i z_{trig}/L`.
    """
    found = []
    for pieces in _tiles(batch):
        data, along = pieces.data, apply(pieces.data.z, pieces.data.trigger)
        read = along * data.mean(pieces.mean_memory(pieces.marker))
        found.append(data.trigger_coefficient(pieces.stored) + read.sum(1))
    return torch.cat(found)


class NoiseDecomposition:
    """Pieces of some replicates, as scores (r, V) of all tokens, computed from cached parts."""

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
        """The :math:`g_i` of samples, by informative token: (r, V, 1)."""
        return self.data.memory(self.data.shares[..., None])

    @cached_property
    def context_values(self) -> torch.Tensor:
        """Contexts' part of mean values, summed by informative token, divided by N: (r, V, d)."""
        data = self.data
        expected = data.z + (data.length - 1) * self.centre[:, None]
        expected = data.shares[..., None] * expected / data.length
        return data.owned / (data.samples * data.length) - expected

    @cached_property
    def clean_memory(self) -> torch.Tensor:
        r"""Memory :math:`m^\infty` of the informative tokens at infinite N."""
        return self.data.memory(self.spread / (self.data.vocab_size * self.data.length))

    @cached_property
    def informative_memory(self) -> torch.Tensor:
        return self.data.memory(self.data.shares[..., None] * self.spread / self.data.length)

    @cached_property
    def context_memory(self) -> torch.Tensor:
        return self.data.memory(self.context_values)

    @cached_property
    def stored(self) -> torch.Tensor:
        """Whole memory, from informative tokens and contexts."""
        mean = self.mean_memory(self.centre + self.marker)
        return mean + self.informative_memory + self.context_memory

    @cached_property
    def within_sample(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self.data.within_sample()

    @cached_property
    def floor(self) -> torch.Tensor:
        return self.data.informative(self.clean_memory, self.uniform)

    @cached_property
    def coherent(self) -> torch.Tensor:
        data = self.data
        own = data.out.square().sum(2, keepdim=True) / data.samples
        weights = data.context(self.clean_memory + own * self.spread / data.length)
        weights = weights + data.informative(self.context_memory, self.uniform)
        return weights + data.informative(own * self.context_values, torch.ones_like(self.uniform))

    def score(self, weights: torch.Tensor) -> torch.Tensor:
        """Score all tokens along the sum of token embeddings with these ``weights``: (r, V)."""
        return apply(self.data.z, apply(self.data.z.mT, weights))

    def mean_memory(self, value: torch.Tensor) -> torch.Tensor:
        """Compute :math:`g_i` times a ``value`` (r, d), by informative token: (r, V, d)."""
        return self.agreement * value[:, None]

    @property
    def trigger_direction(self) -> torch.Tensor:
        r"""T, the part along the trigger.

        Keys with the trigger contribute :math:`z_v\cdot z_{trig}` times the trigger's coefficient.
        A trigger in the values adds a part :math:`\Delta_i` to :math:`\Sigma_i`. T then also has
        :math:`N^{-1}\sum_i\bar\Sigma\,g_i z_{trig}/L`, and the expected
        :math:`\Delta_i m^\infty_i`.
        """
        data = self.data
        weights = data.mean(self.mean_memory(self.marker))
        if data.trigger_in_values:
            weights = weights + data.along_trigger(self.clean_memory, self.uniform)
        direct = data.trigger_coefficient(self.stored)[:, None] * apply(data.z, data.trigger)
        return self.score(weights) + direct

    @property
    def mean_bias(self) -> torch.Tensor:
        r"""A, :math:`N^{-1}\sum_i\bar\Sigma\,g_i\mu + S_2`.

        :math:`S_2` is the sum over samples of :math:`g_{ii}/N^2` times the expectation of
        :math:`\Sigma^C_ih^C_i+\Sigma^I_ih^I_i` over context and informative token.
        """
        mean = self.data.mean(self.mean_memory(self.centre))
        return self.score(mean + self.within_sample[1])

    @property
    def stored_context(self) -> torch.Tensor:
        r"""B, :math:`N^{-1}\sum_i\bar\Sigma\,m^C_i`."""
        return self.score(self.data.mean(self.context_memory))

    @property
    def gradient_noise(self) -> torch.Tensor:
        r"""C, :math:`N^{-1}\sum_i[\Sigma^C_i(m^I_i + m^C_i) + \Sigma^I_i m^C_i] - C_2 - S_1`.

        :math:`S_1` is the sum over samples of the expectation of :math:`g_{ii}\Sigma^C_i h^C_i/N^2`
        given the informative token.
        """
        data = self.data
        weights = data.context(self.informative_memory + self.context_memory)
        weights = weights + data.informative(self.context_memory, data.shares)
        return self.score(weights - self.coherent - self.within_sample[0])

    @property
    def label_counts(self) -> torch.Tensor:
        r"""D, :math:`N^{-1}\sum_i\bar\Sigma\,m^I_i`."""
        return self.score(self.data.mean(self.informative_memory))

    @property
    def read_mean(self) -> torch.Tensor:
        r"""E, :math:`N^{-1}\sum_i(\Sigma^I_i + \Sigma^C_i)\,g_i(\mu + \tau z_{trig}/L)`."""
        data, memory = self.data, self.mean_memory(self.centre + self.marker)
        return self.score(data.informative(memory, data.shares) + data.context(memory))

    @property
    def own_memory(self) -> torch.Tensor:
        r"""H, :math:`N^{-1}\sum_i\Sigma^I_i m^I_i - F + S_1 - S_2`.

        :math:`S_1` is the sum over samples of the expectation of
        :math:`g_{ii}\Sigma^C_i h^C_i/N^2` given the informative token. Likewise :math:`S_2` is the
        sum of :math:`g_{ii}/N^2` times the expectation of :math:`\Sigma^C_ih^C_i+\Sigma^I_ih^I_i`
        over context and informative token. With the trigger in the values, H also has
        :math:`N^{-1}\sum_i\Delta_i m_i` less the expected :math:`\Delta_i m^\infty_i` of T.
        """
        data, (given, average) = self.data, self.within_sample
        weights = data.informative(self.informative_memory, data.shares)
        weights = weights - self.floor + given - average
        if data.trigger_in_values:
            along = apply(self.stored, data.trigger)
            read = data.scatter(along.gather(1, data.owner)) / (data.samples * data.length)
            weights = weights + (data.shares * along - read) / data.length
            weights = weights - data.along_trigger(self.clean_memory, self.uniform)
        return self.score(weights)

    @property
    def informative_slots(self) -> torch.Tensor:
        r"""C2, :math:`N^{-1}\sum_i\Sigma^C_i(m^\infty_i + g_{ii}h^I_i/N)`, plus a second part.

        In the second part I and C are exchanged: with informative tokens a, it is
        :math:`V^{-1}\sum_a\Sigma^I_am^C_a + N^{-2}\sum_ig_{ii}\Sigma^I_ih^C_i`.
        """
        return self.score(self.coherent)

    @property
    def population_floor(self) -> torch.Tensor:
        r"""F, :math:`V^{-1}\sum_a\Sigma^I_a m^\infty_a`: :math:`\Sigma^I m^I` at infinite N."""
        return self.score(self.floor)
