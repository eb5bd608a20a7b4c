r"""Matched filter: read G as the network does after its first step.

.. math:: S_{xk} = u_k^\top G z_x
"""

import torch

from simulation import decoding
from simulation.lower_bound.gradient_channel import Observation


def scores(observation: Observation) -> torch.Tensor:
    """Scores by token and label, (R, V, V), in units 1/(L V): right labels score 1 on average."""
    scale = observation.length * observation.vocab_size
    return scale * observation.z @ observation.gradient.mT @ observation.u.mT


def labels(observation: Observation, *, queries: int | None = None) -> torch.Tensor:
    """Label of largest score of each of the first ``queries`` tokens, or of all: (R, queries)
    int64.

    This is the network's answer after one step, computed in tiles with memory O(R V d), for any
    vocabulary.
    """
    return decoding.predict(observation.u, observation.gradient, observation.z[:, :queries])
