r"""The matched filter: read G as the network does after its first step.

.. math:: S_{xk} = u_k^\top G z_x
"""

import torch

from simulation.gradient_channel import Observation


def scores(observation: Observation) -> torch.Tensor:
    """(R, V, V): by token and label; in units 1/(L V) the right label scores 1 on average."""
    scale = observation.length * observation.vocab_size
    return scale * observation.z @ observation.gradient.mT @ observation.u.mT
