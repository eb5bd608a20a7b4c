r"""Two-sided ridge regression, and its limit without ridge, the linear MMSE estimator.

.. math:: S^\top = U\,(U^\top U + \rho I)^{-1}\, G\, (Z^\top Z + \rho I)^{-1} Z^\top

The embeddings are centred. Signal and noise of the Gaussian-equivalent channel have covariances
that are both proportional to :math:`U^\top U \otimes Z^\top Z`, so the best linear estimate has no
ridge. A large ridge gives the matched filter.
"""

import torch

from simulation import decoding
from simulation.lower_bound.estimators.whitening import whiten
from simulation.lower_bound.gradient_channel import Observation, centred


def scores(observation: Observation, *, ridge: float = 0.5) -> torch.Tensor:
    """Scores by token and label, (R, V, V). ``ridge``: in units of V/d, U^T U's mean eigenvalue."""
    left, right = (_filtered(vectors, ridge) for vectors in (observation.u, observation.z))
    scale = observation.length * observation.vocab_size
    return scale * right @ observation.gradient.mT @ left.mT


def labels(observation: Observation, *, ridge: float = 0.5) -> torch.Tensor:
    """(R, V): the label of largest score of each token, in memory O(R V d)."""
    left, right = (_filtered(vectors, ridge) for vectors in (observation.u, observation.z))
    return decoding.predict(left, observation.gradient, right)


def linear_mmse(observation: Observation) -> torch.Tensor:
    """Two-sided pseudo-inverse, by token and label: (R, V, V)."""
    white = whiten(observation)
    return white.expand(white.y)


def linear_mmse_labels(observation: Observation) -> torch.Tensor:
    """(R, V): the label of largest score of each token, in memory O(R V d)."""
    white = whiten(observation)
    return decoding.predict(white.label_basis, white.y, white.token_basis)


def _filtered(vectors: torch.Tensor, ridge: float) -> torch.Tensor:
    middle = centred(vectors)
    gram = middle.mT @ middle
    size, dim = vectors.shape[1:]
    gram.diagonal(dim1=1, dim2=2).add_(ridge * size / dim)
    filtered: torch.Tensor = torch.linalg.solve(gram, middle, left=False)
    return filtered
