r"""The matched filter: read G as the network does after its first step.

.. math:: S_{xk} = u_k^\top G z_x
"""

import torch

from simulation import decoding
from simulation.lower_bound.gradient_channel import Observation


def scores(observation: Observation) -> torch.Tensor:
    """(R, V, V): by token and label; in units 1/(L V) the right label scores 1 on average."""
    scale = observation.length * observation.vocab_size
    return scale * observation.z @ observation.gradient.mT @ observation.u.mT


def labels(observation: Observation, *, queries: int | None = None) -> torch.Tensor:
    """The label of largest score of each of the first ``queries`` tokens, by default of all:
    (R, queries) int64.

    Tile by tile, in memory O(R V d): the network decoded after one step, at any vocabulary.
    """
    return decoding.predict(observation.u, observation.gradient, observation.z[:, :queries])
