"""The three steps of the Attention-MLP by automatic differentiation, with finite eta and gamma.

One replicate, plain model code, every tensor materialised: `three_steps` is tested against it.
"""

import math

import torch
from torch.nn.functional import cross_entropy

from simulation.attention import oracle
from simulation.attention.sampling import Batch
from simulation.attention_mlp.activations import activation
from simulation.attention_mlp.three_steps import Layer


def logits(
    batch: Batch,
    layer: Layer,
    replicate: int,
    value: torch.Tensor,
    attention: torch.Tensor,
    *,
    centred: bool = False,
) -> torch.Tensor:
    """``U^T V_m phi(W h) / sqrt(m)``, h = sum_j softmax_j(key_j^T W_KQ query) value_j: (N, V).

    ``centred`` adds the logarithms of the label frequencies, -infinity for labels never seen.
    """
    attended = oracle.attended_values(batch, replicate, attention)
    hidden = activation(layer.activation).value(attended @ layer.weights[replicate].T)
    outputs = hidden @ value.T @ batch.u[replicate].T / math.sqrt(layer.width)
    if centred:
        counts = torch.bincount(batch.labels[replicate], minlength=batch.vocab_size)
        outputs = outputs + (counts.to(outputs.dtype) / batch.samples).log()
    return outputs


def train(
    batch: Batch,
    layer: Layer,
    *,
    eta: float,
    gamma: float,
    replicate: int = 0,
    centred: bool = False,
) -> oracle.Trained:
    """The `oracle.three_steps` from zero."""

    def loss(value: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        outputs = logits(batch, layer, replicate, value, attention, centred=centred)
        return cross_entropy(outputs, batch.labels[replicate])

    value, attention = (batch.z.new_zeros(batch.dim, size) for size in (layer.width, batch.dim))
    return oracle.three_steps(loss, value, attention, eta=eta, gamma=gamma)
