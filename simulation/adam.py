"""Adam without weight decay, in place and for a batch of models."""

import torch

BETAS, EPSILON = (0.9, 0.999), 1e-8
"""The usual constants."""


def adam(
    weights: torch.Tensor,
    gradient: torch.Tensor,
    mean: torch.Tensor,
    square: torch.Tensor,
    step: int,
    rate: float,
) -> None:
    """One step in place, of the weights and of the running mean and square of the gradient, which
    start at zero; ``step`` counts from 1."""
    first, second = BETAS
    mean.lerp_(gradient, 1 - first)
    square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
    root = (square / (1 - second**step)).sqrt_().add_(EPSILON)
    weights.addcdiv_(mean, root, value=-rate / (1 - first**step))
