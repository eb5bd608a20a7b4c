r"""Matched filter: read the gradient G as the network does after its first step.

The score of token x and label k is

.. math:: S_{xk} = u_k^\top G z_x
"""

import torch

from simulation import decoding
from simulation.lower_bound.gradient_channel import Observation


def scores(observation: Observation) -> torch.Tensor:
    """Score tokens and labels by L V S, (R, V, V): mean 1 - 1/V at right labels."""
    scale = observation.length * observation.vocab_size
    return scale * observation.z @ observation.gradient.mT @ observation.u.mT


def labels(observation: Observation, *, queries: int | None = None) -> torch.Tensor:
    """Find the label of largest score of the first ``queries`` tokens, or of all: (R, queries).

    These int64 labels are the network's answers after one step. Their computation in tiles needs
    O(R V d) numbers in memory, so any vocabulary is possible.
    """
    return decoding.predict(observation.u, observation.gradient, observation.z[:, :queries])
