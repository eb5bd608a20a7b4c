r"""Exact split of the token scores into one piece for each mechanism of noise.

The score direction is :math:`w = N^{-2}\sum_{i,i'} g_{ii'}\Sigma_i\bar h_{i'}` (see
`simulation.attention.three_steps`). Given the embeddings, covariance and mean value of a sample are split
into their expectation, the part that depends on its informative token alone, and the part of its
random context:

.. math:: \Sigma_i = \bar\Sigma + \Sigma^I_i + \Sigma^C_i,\qquad
          \bar h_i = \mu + h^I_i + h^C_i .

Products of these, with expectations within a sample taken exactly, are the pieces:

* ``T``  what points along the trigger: the keys that hold it and, with the trigger in the values,
  what the mean covariance and the infinite-sample memory read of it;
* ``A``  :math:`\bar\Sigma\mu`, and the expectation of :math:`\Sigma_i\bar h_i` within a sample;
* ``B``  :math:`\bar\Sigma h^C`;
* ``C``  the rest of :math:`\Sigma^C h^I + \Sigma^I h^C + \Sigma^C h^C`;
* ``D``  :math:`\bar\Sigma h^I`;
* ``E``  :math:`(\Sigma^I + \Sigma^C)\mu`;
* ``H``  the rest of :math:`\Sigma^I h^I`, with the expectation given its informative token of
  :math:`\Sigma^C_i h^C_i` within a sample, and the rest of the trigger's memory;
* ``C2`` :math:`\Sigma^C_i` reading the informative tokens that sample i itself and infinitely many
  others have stored, and :math:`h^C_i` read by :math:`\Sigma^I` of the same;
* ``F``  :math:`\Sigma^I h^I` at infinite N.
"""

from collections.abc import Sequence
from functools import cached_property

import torch

from simulation.attention.readings import Readings, apply
from simulation.attention.sampling import Batch

PIECES = ("T", "A", "B", "C", "D", "E", "H", "C2", "F")
"""Names of the pieces."""

_TILE = 2**16


def split(batch: Batch, pieces: Sequence[str] = PIECES) -> dict[str, torch.Tensor]:
    """The part of every token's score that each mechanism contributes.

    Returns the named pieces as (R, V) tensors in units ``gamma * eta = 1``; the sum of all is the
    ``theta`` of `simulation.attention.three_steps.token_scores`. Needs (V, V) memory per replicate.

    Raises ValueError for an unknown piece.
    """
    unknown = sorted(set(pieces) - set(PIECES))
    if unknown:
        raise ValueError(f"unknown piece {', '.join(unknown)}: choose from {', '.join(PIECES)}")
    step = max(1, _TILE // batch.vocab_size**2)
    tiles = [
        _Pieces(Readings.of(batch, slice(first, first + step)))
        for first in range(0, batch.replicates, step)
    ]
    return {name: torch.cat([getattr(tile, name.lower()) for tile in tiles]) for name in pieces}


def variances(batch: Batch, pieces: Sequence[str] = PIECES) -> dict[str, torch.Tensor]:
    """Unbiased variance over the tokens of each named piece: (R,) each."""
    return {name: piece.var(dim=1) for name, piece in split(batch, pieces).items()}


def covariance(batch: Batch, first: str, second: str) -> torch.Tensor:
    """Unbiased covariance over the tokens of two pieces: (R,)."""
    one, other = split(batch, (first, second)).values()
    spread = one - one.mean(1, keepdim=True)
    return (spread * other).sum(1) / (batch.vocab_size - 1)


def trigger_coefficient_noise(batch: Batch) -> torch.Tensor:
    """How far the trigger's weight in w is from its value at infinite N: (R,).

    Its square averages to the noise that a finite sample puts on the trigger score. Meant for
    batches without the trigger in the values, where the weight has no excess at finite N.
    """
    pieces = _Pieces(Readings.of(batch, slice(None)))
    data = pieces.data
    limit = (pieces.spread * pieces.clean_memory).sum((1, 2)) * (1 - 1 / data.length)
    return data.trigger_coefficient(pieces.stored) - limit / (data.length * data.vocab_size)


class _Pieces:
    """The pieces of some replicates, each computed when asked for."""

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
    def t(self) -> torch.Tensor:
        data = self.data
        weights = data.mean(self.mean_field(self.marker))
        if data.trigger_in_values:
            weights = weights + data.along_trigger(self.clean_memory, self.uniform)
        direct = data.trigger_coefficient(self.stored)[:, None] * apply(data.z, data.trigger)
        return self.score(weights) + direct

    @property
    def a(self) -> torch.Tensor:
        mean = self.data.mean(self.mean_field(self.centre))
        return self.score(mean + self.within_sample[1])

    @property
    def b(self) -> torch.Tensor:
        return self.score(self.data.mean(self.context_field))

    @property
    def c(self) -> torch.Tensor:
        data = self.data
        weights = data.context(self.informative_field + self.context_field)
        weights = weights + data.informative(self.context_field, data.shares)
        return self.score(weights - self.coherent - self.within_sample[0])

    @property
    def d(self) -> torch.Tensor:
        return self.score(self.data.mean(self.informative_field))

    @property
    def e(self) -> torch.Tensor:
        field = self.mean_field(self.centre + self.marker)
        return self.score(self.data.informative(field, self.data.shares) + self.data.context(field))

    @property
    def h(self) -> torch.Tensor:
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
    def c2(self) -> torch.Tensor:
        return self.score(self.coherent)

    @property
    def f(self) -> torch.Tensor:
        return self.score(self.floor)
