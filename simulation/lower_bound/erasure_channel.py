"""A channel that reveals the whole map with some chance, and otherwise nothing.

It tells ``chance * log V!`` nats about the map; to guess at random where nothing is revealed is
optimal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """``accuracy``: (R,) share of labels guessed right.  ``exact``: (R,) 1 if all are, else 0."""

    accuracy: torch.Tensor
    exact: torch.Tensor


def guess(rngs: Sequence[np.random.Generator], *, vocab_size: int, chance: float) -> Guesses:
    """One map and one guess from each generator."""
    right = np.empty((len(rngs), vocab_size), dtype=bool)
    for index, rng in enumerate(rngs):
        revealed = rng.random() < chance
        # Against an independent uniform map, one fixed guess is as good as another.
        right[index] = revealed or rng.permutation(vocab_size) == np.arange(vocab_size)
    return Guesses(
        accuracy=torch.from_numpy(right.mean(1)), exact=torch.from_numpy(right.all(1) * 1.0)
    )
