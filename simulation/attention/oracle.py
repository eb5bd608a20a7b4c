"""The three steps by automatic differentiation, with finite eta and gamma: the oracle.

One replicate, plain model code, every tensor materialised: slow, memory-hungry and easy to check
against the definition of the model (paper A, A6 and A7).  The closed form is tested against it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from simulation.attention.sampling import Batch


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Parameters along the three steps.

    ``first_value``: V after step 1, (d, d), or (d, m) with a random layer.  ``attention``: W_KQ
    after step 2, (d, d); the score of a key is ``key . attention query``.  ``value``: V after
    step 3.
    """

    first_value: torch.Tensor
    attention: torch.Tensor
    value: torch.Tensor


def keys_and_values(batch: Batch, replicate: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values of every position of every sequence of one replicate: (N, L, d) each."""
    embedded = batch.z[replicate][batch.tokens[replicate]]
    informative = torch.zeros_like(embedded[..., :1])
    informative.scatter_(1, batch.positions[replicate][:, None, None], 1.0)
    marked = embedded + informative * batch.trigger[replicate]
    return marked, marked if batch.trigger_in_values else embedded


def attended_values(batch: Batch, replicate: int, attention: torch.Tensor) -> torch.Tensor:
    """``sum_j softmax_j(key_j^T W_KQ query) value_j`` of each sequence: (N, d)."""
    keys, values = keys_and_values(batch, replicate)
    weights = torch.softmax(keys @ (attention @ batch.query[replicate]), dim=1)
    return (weights[:, None] @ values)[:, 0]


def logits(
    batch: Batch, replicate: int, value: torch.Tensor, attention: torch.Tensor
) -> torch.Tensor:
    """``U^T V`` times the attended value of each sequence: (N, V)."""
    return attended_values(batch, replicate, attention) @ value.T @ batch.u[replicate].T


def train(batch: Batch, *, eta: float, gamma: float, replicate: int = 0) -> Trained:
    """The `three_steps` on one replicate of ``batch``."""
    zero = batch.z.new_zeros(batch.dim, batch.dim)
    return three_steps(
        lambda *weights: _loss(batch, replicate, *weights), zero, zero, eta=eta, gamma=gamma
    )


def three_steps(
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    value: torch.Tensor,
    attention: torch.Tensor,
    *,
    eta: float,
    gamma: float,
) -> Trained:
    """Three gradient steps on a loss of the value and the attention matrix.

    Step sizes: eta for the first value step, gamma for the attention step and the last value step.
    """

    def step(of: int, *weights: torch.Tensor) -> torch.Tensor:
        leaves = [matrix.detach().clone().requires_grad_() for matrix in weights]
        return -torch.autograd.grad(loss(*leaves), leaves[of])[0]

    first_value = value + eta * step(0, value, attention)
    attended = attention + gamma * step(1, first_value, attention)
    last_value = first_value + gamma * step(0, first_value, attended)
    return Trained(first_value=first_value, attention=attended, value=last_value)


def attention_response(batch: Batch, replicate: int = 0) -> torch.Tensor:
    """``W_KQ / (gamma eta)`` after step 2 in the limit eta -> 0: (d, d).

    The derivative in eta of the attention gradient at ``V = -eta grad_V``, taken at eta = 0 by
    differentiating twice; no finite step size enters.
    """
    zero = batch.z.new_zeros(batch.dim, batch.dim)
    value, attention = zero.clone().requires_grad_(), zero.clone().requires_grad_()
    loss = _loss(batch, replicate, value, attention)
    (by_value,) = torch.autograd.grad(loss, value, create_graph=True)
    # grad_W vanishes at V = 0 for every W, so its derivative along -grad_V is the mixed one.
    (response,) = torch.autograd.grad((by_value * by_value.detach()).sum(), attention)
    return response


def value_gradient(batch: Batch, replicate: int = 0) -> torch.Tensor:
    """The gradient of the mean cross-entropy in the value matrix at initialisation: (d, d)."""
    zero = batch.z.new_zeros(batch.dim, batch.dim)
    value = zero.clone().requires_grad_()
    return torch.autograd.grad(_loss(batch, replicate, value, zero), value)[0]


def _loss(
    batch: Batch, replicate: int, value: torch.Tensor, attention: torch.Tensor
) -> torch.Tensor:
    """The mean cross-entropy over the training sequences."""
    return cross_entropy(logits(batch, replicate, value, attention), batch.labels[replicate])
