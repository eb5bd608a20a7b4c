"""Oracle: the three steps by automatic differentiation, with finite eta and gamma.

This is plain model code that keeps every tensor. It is slow and needs much memory, but is easy to
compare with the model's definition (paper A, A6 and A7). Tests compare the closed form with this
code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch.nn.functional import cross_entropy

from simulation.attention.sampling import Batch


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Parameters after each of the three steps.

    ``first_value``: the value matrix V after step 1, (R, d, d), or (R, d, m) with a random layer of
    m units.
    ``attention``: W_KQ after step 2, (R, d, d); the score of a key is ``key . attention query``.
    ``value``: V after step 3, in the shape of ``first_value``.
    """

    first_value: torch.Tensor
    attention: torch.Tensor
    value: torch.Tensor


def size(batch: Batch) -> int:
    """Count the numbers in one replicate's keys, N L d."""
    return batch.tokens[0].numel() * batch.dim


def keys_and_values(batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute keys and values at every position of every sequence: (R, N, L, d) each."""
    rows = torch.arange(batch.replicates, device=batch.z.device)[:, None, None]
    embedded = batch.z[rows, batch.tokens]
    informative = torch.zeros_like(embedded[..., :1])
    informative.scatter_(2, batch.positions[..., None, None], 1.0)
    marked = embedded + informative * batch.trigger[:, None, None]
    return marked, marked if batch.trigger_in_values else embedded


def attended_values(batch: Batch, attention: torch.Tensor) -> torch.Tensor:
    """Compute ``sum_j softmax_j(key_j^T W_KQ query) value_j`` of each sequence: (R, N, d)."""
    keys, values = keys_and_values(batch)
    weights = torch.softmax(keys @ (attention @ batch.query[..., None])[:, None], dim=2)
    return (weights.mT @ values)[:, :, 0]


def logits(batch: Batch, value: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
    """Compute the logits, ``U^T V`` times the attended value of each sequence: (R, N, labels).

    R is the number of replicates, and N of sequences. The columns of U are the output embeddings
    ``batch.u``, and V is the value matrix.
    """
    return attended_values(batch, attention) @ value.mT @ batch.u.mT


def train(batch: Batch, *, eta: float, gamma: float) -> Trained:
    """Take the `three_steps` from zero on each replicate."""
    zero = batch.z.new_zeros(batch.replicates, batch.dim, batch.dim)
    return three_steps(partial(_loss, batch), zero, zero, eta=eta, gamma=gamma)


def three_steps(
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    value: torch.Tensor,
    attention: torch.Tensor,
    *,
    eta: float,
    gamma: float,
) -> Trained:
    """Take three gradient steps on ``loss(value, attention)``, a sum over replicates.

    Replicates share no parameter. The step size is eta for the first value step, and gamma for the
    attention step and the last value step.
    """

    def step(of: int, *weights: torch.Tensor) -> torch.Tensor:
        leaves = [matrix.detach().clone().requires_grad_() for matrix in weights]
        return -torch.autograd.grad(loss(*leaves), leaves[of])[0]

    first_value = value + eta * step(0, value, attention)
    attended = attention + gamma * step(1, first_value, attention)
    last_value = first_value + gamma * step(0, first_value, attended)
    return Trained(first_value=first_value, attention=attended, value=last_value)


def attention_response(batch: Batch) -> torch.Tensor:
    """Compute ``W_KQ / (gamma eta)`` after step 2 in the limit eta -> 0: (R, d, d).

    This limit is minus the derivative in eta, at eta = 0, of the attention gradient at
    ``V = -eta grad_V``. Two differentiations give the limit without a finite step size.
    """
    zero = batch.z.new_zeros(batch.replicates, batch.dim, batch.dim)
    value, attention = zero.clone().requires_grad_(), zero.clone().requires_grad_()
    loss = _loss(batch, value, attention)
    (by_value,) = torch.autograd.grad(loss, value, create_graph=True)
    # grad_W vanishes at V = 0 for every W, so its derivative along -grad_V is the mixed one. The
    # signs of the two steps cancel.
    (response,) = torch.autograd.grad((by_value * by_value.detach()).sum(), attention)
    return response


def value_gradient(batch: Batch) -> torch.Tensor:
    """Differentiate the mean cross-entropy by the value matrix at initialisation: (R, d, d)."""
    zero = batch.z.new_zeros(batch.replicates, batch.dim, batch.dim)
    value = zero.clone().requires_grad_()
    return torch.autograd.grad(_loss(batch, value, zero), value)[0]


def _loss(batch: Batch, value: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
    return mean_losses(batch, logits(batch, value, attention))


def mean_losses(batch: Batch, logits: torch.Tensor) -> torch.Tensor:
    """Average the cross-entropy over training sequences, and sum over replicates: a scalar."""
    total = cross_entropy(logits.flatten(0, 1), batch.labels.flatten(), reduction="sum")
    return total / batch.samples
