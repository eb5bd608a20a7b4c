"""Erasure channel: with some chance it reveals the whole map from tokens to labels, else nothing.

The channel gives ``chance * log V!`` nats about the map of V tokens. If the map is not revealed, no
guess is better than a random guess.
"""

from dataclasses import dataclass

import torch

from simulation.streams import Rngs, Streams


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """Results of guesses in R replicates.

    ``accuracy``: (R,), the share of labels guessed right.  ``exact``: (R,), 1 if all are right,
    else 0.
    """

    accuracy: torch.Tensor
    exact: torch.Tensor


def guess(rngs: Rngs, *, vocab_size: int, chance: float) -> Guesses:
    """Draw a map and a guess from each generator, and judge the guess."""
    streams = Streams(rngs)
    revealed = streams.uniform(1) < chance
    # Against an independent uniform map, one fixed guess is as good as another.
    right = revealed | (streams.permutation(vocab_size) == torch.arange(vocab_size))
    return Guesses(accuracy=right.double().mean(1), exact=right.all(1).double())
