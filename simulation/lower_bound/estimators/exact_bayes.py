r"""Exact Bayesian estimate in the channel `gradient_channel.gaussian`, by a sum over all V! maps.

With Y and Q of `whitening`, the likelihood of a map is

.. math:: \log p(Y \mid \pi) = -\frac{1}{2\sigma^2}\big\|Y - Q_u^\top \mathrm{diag}(n/\lambda)
    (P_\pi - \tfrac1V J)\, Q_z\big\|^2 + const, \qquad \sigma^2 = \frac{L-1}{N} ,

with n the label counts, :math:`\lambda = N/V` their mean, :math:`P_\pi` the map's matrix, and J the
matrix of ones.
"""

import itertools
from dataclasses import dataclass

import torch

from simulation.attention.sampling import Batch
from simulation.lower_bound.estimators.whitening import whiten
from simulation.lower_bound.gradient_channel import Observation

MOST_TOKENS = 7


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """Posterior probabilities ``chances`` (R, V!) of all ``maps`` (V!, V) from tokens to labels."""

    maps: torch.Tensor
    chances: torch.Tensor

    @property
    def labels(self) -> torch.Tensor:
        """Likeliest label of each token, (R, V), which maximises the expected accuracy."""
        size = self.maps.shape[1]
        marginals = self.chances @ torch.nn.functional.one_hot(self.maps, size).flatten(1).to(
            self.chances.dtype
        )
        likeliest: torch.Tensor = marginals.view(-1, size, size).argmax(2)
        return likeliest

    @property
    def information(self) -> torch.Tensor:
        """Relative entropy (R,), in nats, to the uniform prior.

        Its mean is the mutual information between map and observation.
        """
        count = self.chances.shape[1]
        gained: torch.Tensor = torch.special.xlogy(self.chances, self.chances * count).sum(1)
        return gained


def posterior(observation: Observation) -> Posterior:
    """Compute the posterior over all maps.

    Raises ValueError if ``vocab_size`` exceeds 7, ``dim`` is not below ``vocab_size``, or the label
    counts are hidden.
    """
    if observation.label_counts is None:
        raise ValueError("the label counts are hidden: observe the Gaussian channel")
    maps = every_map(observation.vocab_size).to(observation.u.device)
    white = whiten(observation)
    weight = observation.label_counts * (observation.vocab_size / observation.samples)
    rows = weight[..., None] * white.label_basis
    # The token basis is orthogonal to 1, so P replaces P - J/V.
    parts = rows[:, :, None, :, None] * white.token_basis[:, None, :, None, :]
    rest = white.y[:, None].repeat(1, len(maps), 1, 1)
    for token in range(observation.vocab_size):
        rest -= parts[:, maps[:, token], token]
    square = rest.square().sum((2, 3))
    return Posterior(
        maps=maps, chances=torch.softmax(-square / (2 * observation.noise_variance), dim=1)
    )


def labels(observation: Observation) -> torch.Tensor:
    """Find the likeliest label of each token: (R, V) int64. Errors as for `posterior`."""
    return posterior(observation).labels


def every_map(size: int) -> torch.Tensor:
    """List every permutation: (V!, V) int64.

    Raises ValueError for more than 7 tokens.
    """
    if size > MOST_TOKENS:
        raise ValueError(f"{size} tokens have too many maps to sum over: at most {MOST_TOKENS}")
    return torch.tensor(list(itertools.permutations(range(size))))


def sample_posterior(batch: Batch) -> Posterior:
    """Compute the posterior given the sequences themselves, which determine the gradient.

    Raises ValueError if ``vocab_size`` exceeds 7.
    """
    maps = every_map(batch.vocab_size).to(batch.tokens.device)
    mapped = maps.T[batch.tokens]
    occurrences = (mapped == batch.labels[:, :, None, None]).sum(2)
    weights = occurrences.to(batch.z.dtype).prod(1)
    return Posterior(maps=maps, chances=weights / weights.sum(1, keepdim=True))
