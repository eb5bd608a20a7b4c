"""The three steps of the Attention-MLP by automatic differentiation, with finite eta and gamma.

One replicate, plain model code, every tensor materialised: `three_steps` is tested against it.
"""

import math

import torch
from torch.nn.functional import cross_entropy

from simulation.attention.oracle import Trained
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
    embedded = batch.z[replicate][batch.tokens[replicate]]
    informative = torch.zeros_like(embedded[..., :1])
    informative.scatter_(1, batch.positions[replicate][:, None, None], 1.0)
    marked = embedded + informative * batch.trigger[replicate]
    values = marked if batch.trigger_in_values else embedded
    weights = torch.softmax(marked @ (attention @ batch.query[replicate]), dim=1)
    attended = (weights[:, None] @ values)[:, 0]
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
) -> Trained:
    """Three gradient steps from zero; ``first_value`` and ``value`` are (d, m).

    Step sizes: eta for the first value step, gamma for the attention step and the last value step.
    """

    def gradients(
        value: torch.Tensor, attention: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        value, attention = value.clone().requires_grad_(), attention.clone().requires_grad_()
        outputs = logits(batch, layer, replicate, value, attention, centred=centred)
        loss = cross_entropy(outputs, batch.labels[replicate])
        by_value, by_attention = torch.autograd.grad(loss, (value, attention))
        return by_value, by_attention

    no_value = batch.z.new_zeros(batch.dim, layer.width)
    no_attention = batch.z.new_zeros(batch.dim, batch.dim)
    first_value = -eta * gradients(no_value, no_attention)[0]
    attention = -gamma * gradients(first_value, no_attention)[1]
    last = gradients(first_value, attention)[0]
    return Trained(first_value=first_value, attention=attention, value=first_value - gamma * last)
