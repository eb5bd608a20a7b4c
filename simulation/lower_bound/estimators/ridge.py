r"""Two-sided ridge regression, and its limit without ridge, the linear MMSE estimator.

.. math:: S^\top = U\,(U^\top U + \rho I)^{-1}\, G\, (Z^\top Z + \rho I)^{-1} Z^\top

S has the scores by token and label, and G is the gradient. The rows of U and Z are the output and
input embeddings, centred, and :math:`\rho` is the ridge. In the channel `gradient_channel.gaussian`
signal and noise both have covariances proportional to :math:`U^\top U \otimes Z^\top Z`. So the
linear estimate of minimum mean square error (MMSE) has no ridge. A large ridge gives the matched
filter of the centred embeddings.
"""

import torch

from simulation import decoding
from simulation.lower_bound.estimators.whitening import whiten
from simulation.lower_bound.gradient_channel import Observation, centred


def scores(observation: Observation, *, ridge: float = 0.5) -> torch.Tensor:
    """Score tokens and labels, by S times L V: (R, V, V).

    ``ridge``: rho in units of V/d, about the mean eigenvalue of U^T U.
    """
    left, right = (_filtered(vectors, ridge) for vectors in (observation.u, observation.z))
    scale = observation.length * observation.vocab_size
    return scale * right @ observation.gradient.mT @ left.mT


def labels(observation: Observation, *, ridge: float = 0.5) -> torch.Tensor:
    """Find the label of largest score of each token, (R, V), in tiles with O(R V d) numbers."""
    left, right = (_filtered(vectors, ridge) for vectors in (observation.u, observation.z))
    return decoding.predict(left, observation.gradient, right)


def linear_mmse(observation: Observation) -> torch.Tensor:
    """Score tokens and labels by the two-sided pseudo-inverse: (R, V, V).

    Raises ValueError unless ``dim`` is below ``vocab_size``.
    """
    white = whiten(observation)
    return white.expand(white.y)


def linear_mmse_labels(observation: Observation) -> torch.Tensor:
    """Find the label of each token's largest `linear_mmse` score, (R, V), with O(R V d) numbers.

    Raises ValueError unless ``dim`` is below ``vocab_size``.
    """
    white = whiten(observation)
    return decoding.predict(white.label_basis, white.y, white.token_basis)


def _filtered(vectors: torch.Tensor, ridge: float) -> torch.Tensor:
    middle = centred(vectors)
    gram = middle.mT @ middle
    size, dim = vectors.shape[1:]
    gram.diagonal(dim1=1, dim2=2).add_(ridge * size / dim)
    filtered: torch.Tensor = torch.linalg.solve(gram, middle, left=False)
    return filtered
