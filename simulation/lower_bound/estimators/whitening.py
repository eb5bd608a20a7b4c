r"""Orthonormal coordinates in which the gradient's noise is white.

Letters are explained in `simulation.lower_bound.gradient_channel`. The projector :math:`\Pi`
subtracts the mean. With the QR decompositions :math:`\Pi U = Q_u R_u` and
:math:`\Pi Z = Q_z R_z`,

.. math:: Y = LV\; R_u^{-\top} G R_z^{-1} = Q_u^\top (LV M)\, Q_z ,

and white noise in the entries of M is white noise in the entries of Y. No information is lost if
the centred embeddings have full rank d, which needs d < V.

Hidden label counts add an unknown multiple of the mean embedding :math:`\bar z` to each row of M Z,
and so :math:`y\, \bar z^\top R_z^{-1}` to Y, with y unknown. The direction
:math:`\bar z^\top R_z^{-1}`, one of d, is projected out.
"""

from dataclasses import dataclass

import torch

from simulation.lower_bound.gradient_channel import Observation, centred


@dataclass(frozen=True, kw_only=True)
class White:
    """White coordinates ``y`` (R, d, d) of the gradient, and the bases in which they are given.

    ``label_basis``, ``token_basis``: (R, V, d), with orthonormal columns.
    """

    y: torch.Tensor
    label_basis: torch.Tensor
    token_basis: torch.Tensor

    def expand(self, y: torch.Tensor) -> torch.Tensor:
        """Convert a matrix in white coordinates to scores by token and label, (R, V, V)."""
        return self.token_basis @ y.mT @ self.label_basis.mT

    def project(self, scores: torch.Tensor) -> torch.Tensor:
        """Convert a matrix by token and label, (R, V, V), to white coordinates (R, d, d)."""
        return self.label_basis.mT @ scores.mT @ self.token_basis


def whiten(observation: Observation) -> White:
    """Convert the observation to white coordinates.

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
