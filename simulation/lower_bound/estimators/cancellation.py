r"""Iterative interference cancellation: orthogonal approximate message passing.

Each round turns an estimate of the map, the start, into a linear estimate with noise of variance
:math:`\tau^2 = v(\delta^{-2} - 1) + \sigma^2\delta^{-2}`. Here :math:`\delta = d/V`,
:math:`\sigma^2` is the channel's `noise_variance`, and v is the start's mean squared error. A
softmax over labels at this noise gives the posterior. The next start is the mean of
posterior / likelihood, both taken as Gaussian (Ma and Ping, "Orthogonal AMP", IEEE Access 5, 2017).
In coding, the map is a flat-power sparse superposition code.
"""

import torch

from simulation.lower_bound.estimators.whitening import whiten
from simulation.lower_bound.gradient_channel import Observation


def scores(observation: Observation, *, rounds: int = 12) -> torch.Tensor:
    """Compute the linear estimate of the last round, by token and label: (R, V, V).

    Raises ValueError unless ``dim`` is below ``vocab_size``.
    """
    white = whiten(observation)
    size = observation.vocab_size
    inverse = (size / observation.dim) ** 2
    error = white.y.new_full((white.y.shape[0], 1, 1), 1 / size)
    estimate = torch.zeros_like(observation.u @ observation.z.mT)
    linear = estimate
    for _ in range(rounds):
        residual = white.y - white.project(estimate)
        linear = estimate + inverse * white.expand(residual)
        noise = error * (inverse - 1) + observation.noise_variance * inverse
        chances = torch.softmax(linear / noise, dim=2)
        remaining = (chances * (1 - chances)).mean((1, 2), keepdim=True).clamp_min(1e-12)
        error = 1 / (1 / remaining - 1 / noise).clamp_min(1e-12)
        estimate = error * ((chances - 1 / size) / remaining - linear / noise)
    return linear
