"""The three steps of the Attention-MLP by automatic differentiation, with finite eta and gamma.

This is plain model code that keeps every tensor. Tests compare `three_steps` with this code.
"""

import math

import torch

from simulation.attention import oracle
from simulation.attention.sampling import Batch
from simulation.attention_mlp.activations import activation
from simulation.attention_mlp.three_steps import Layer


def logits(
    batch: Batch,
    layer: Layer,
    value: torch.Tensor,
    attention: torch.Tensor,
    *,
    centred: bool = False,
) -> torch.Tensor:
    """Compute the logits ``U^T V_m phi(W h) / sqrt(m)``: (R, N, V).

    The attended value h is ``sum_j softmax_j(key_j^T W_KQ query) value_j``. The other letters are
    explained in `three_steps`.

    ``centred``: add the logarithms of the label frequencies, which are -infinity for labels that do
    not occur.
    """
    attended = oracle.attended_values(batch, attention)
    hidden = activation(layer.activation).value(attended @ layer.weights.mT)
    outputs = hidden @ value.mT @ batch.u.mT / math.sqrt(layer.width)
    if centred:
        counts = torch.zeros_like(batch.z[..., 0]).scatter_add_(
            1, batch.labels, torch.ones_like(batch.labels, dtype=batch.z.dtype)
        )
        outputs = outputs + (counts / batch.samples).log()[:, None]
    return outputs


def train(
    batch: Batch,
    layer: Layer,
    *,
    eta: float,
    gamma: float,
    centred: bool = False,
) -> oracle.Trained:
    """Take the `oracle.three_steps` from zero on each replicate; ``centred`` as for `logits`."""

    def loss(value: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        return oracle.mean_losses(batch, logits(batch, layer, value, attention, centred=centred))

    value, attention = (
        batch.z.new_zeros(batch.replicates, batch.dim, size) for size in (layer.width, batch.dim)
    )
    return oracle.three_steps(loss, value, attention, eta=eta, gamma=gamma)
