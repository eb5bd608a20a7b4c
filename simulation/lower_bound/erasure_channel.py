"""Erasure channel: it reveals the whole map with some chance, and otherwise nothing.

The channel has ``chance * log V!`` nats about the map. Where it reveals nothing, random guesses are
optimal.
"""

from dataclasses import dataclass

import torch

from simulation.streams import Rngs, Streams


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """``accuracy``: (R,), share of right labels.  ``exact``: (R,), 1 if all are right, else 0."""

    accuracy: torch.Tensor
    exact: torch.Tensor


def guess(rngs: Rngs, *, vocab_size: int, chance: float) -> Guesses:
    """Judge a guess of a random map, from each generator."""
    streams = Streams(rngs)
    revealed = streams.uniform(1) < chance
    # Against an independent uniform map, one fixed guess is as good as another.
    right = revealed | (streams.permutation(vocab_size) == torch.arange(vocab_size))
    return Guesses(accuracy=right.double().mean(1), exact=right.all(1).double())
