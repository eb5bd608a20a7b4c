r"""Orthonormal coordinates in which the gradient's noise is white.

With :math:`\Pi U = Q_u R_u`, :math:`\Pi Z = Q_z R_z`, :math:`\Pi` the projector to mean zero,

.. math:: Y = LV\; R_u^{-\top} G R_z^{-1} = Q_u^\top (LV M)\, Q_z ,

and independent noise of equal variance in the entries of M is independent and of equal variance in
the entries of Y.  Nothing is lost as long as the centred embeddings have full rank, d < V.

Label counts that are hidden add a multiple of :math:`\bar z` to each row of M Z, hence
:math:`y\, \bar z^\top R_z^{-1}` with unknown y: that one of d directions is struck out.
"""

from dataclasses import dataclass

import torch

from simulation.lower_bound.gradient_channel import Observation, centred


@dataclass(frozen=True, kw_only=True)
class White:
    """``y``: (R, d, d).  ``label_basis``, ``token_basis``: (R, V, d) orthonormal columns."""

    y: torch.Tensor
    label_basis: torch.Tensor
    token_basis: torch.Tensor

    def expand(self, y: torch.Tensor) -> torch.Tensor:
        """Scores by token and label, (R, V, V), of a matrix in these coordinates."""
        return self.token_basis @ y.mT @ self.label_basis.mT

    def project(self, scores: torch.Tensor) -> torch.Tensor:
        """Coordinates (R, d, d) of a matrix by token and label, (R, V, V)."""
        return self.label_basis.mT @ scores.mT @ self.token_basis


def whiten(observation: Observation) -> White:
    """The observation in white coordinates.

    Raises ValueError unless ``dim`` is below ``vocab_size``.
    """
    if observation.dim >= observation.vocab_size:
        raise ValueError(
            f"dim is {observation.dim}: the pseudo-inverse needs it below "
            f"vocab_size = {observation.vocab_size}"
        )
    label_basis, label_side = torch.linalg.qr(centred(observation.u))
    token_basis, token_side = torch.linalg.qr(centred(observation.z))
    scaled = observation.length * observation.vocab_size * observation.gradient
    left = torch.linalg.solve_triangular(label_side.mT, scaled, upper=False)
    y = torch.linalg.solve_triangular(token_side, left, upper=True, left=False)
    if observation.label_counts is None:
        mean = observation.z.mean(1, keepdim=True)
        biased = torch.linalg.solve_triangular(token_side, mean, upper=True, left=False)
        biased = torch.nn.functional.normalize(biased, dim=2)
        y = y - y @ biased.mT @ biased
    return White(y=y, label_basis=label_basis, token_basis=token_basis)
