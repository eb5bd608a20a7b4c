"""The model of `facts`, reduced by symmetry to two numbers per matrix, at any size.

Gradient and spectral flow from `Facts.start` do not change if the S subjects, or the R relations,
are permuted together with their answers. So by Schur's lemma two numbers determine W_OV. On sums of
subjects' embeddings with coefficients of mean zero, W_OV is the first number times an isometry; on
such sums of relations' embeddings, the second. (Logits that all answers share count as zero.) W_KQ
gives one score to all subjects and one to all relations. Here `ov` is the (1, 2, 2) diagonal matrix
of the two numbers of W_OV. The (1, 2, 1) vector `kq` has the two scores, times the square roots of
S and R. The polar factors of `ov` and `kq` represent the polar factors of the whole matrices.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from simulation.spectral.facts import Odds, Weights


@dataclass(frozen=True)
class Reduced:
    """Task of S ``subjects`` and R ``relations``; ``like`` has the wanted type and device."""

    subjects: int
    relations: int
    like: Tensor

    @cached_property
    def _own(self) -> Tensor:
        return torch.tensor([self.subjects, self.relations]).to(self.like)

    def start(self, alpha: float, beta: float) -> Weights:
        """Make initial weights with equal coordinates for subjects and relations."""
        own = self._own
        return Weights(
            ov=(alpha * torch.ones_like(own)).diag()[None], kq=(beta * own.sqrt())[None, :, None]
        )

    def _right(self, weights: Weights) -> tuple[Tensor, Tensor]:
        """Compute log probabilities of a right part, and of a wrong part: (1, 2) each.

        Each part, subject or relation, is right or wrong, which makes four classes of answers.
        """
        own = self._own
        raised = weights.ov.diagonal(dim1=1, dim2=2) * weights.kq[..., 0]
        raised = raised / math.sqrt(self.subjects * self.relations)
        several = (own - 1).log()
        logits = torch.stack([raised, several.expand_as(raised)], 2)  # (1, part, right or wrong)
        joint = (logits[:, 0, :, None] + logits[:, 1, None, :]).flatten(1).log_softmax(1)
        joint = joint.view(-1, 2, 2)
        by_part = torch.stack([joint.logsumexp(2), joint.logsumexp(1)], 1)
        return by_part[..., 0], by_part[..., 1]

    def gradient(self, weights: Weights) -> Weights:
        """Compute minus the gradient of the loss."""
        own = self._own
        wrong = self._right(weights)[1].exp()
        # The error of a subject's token, in units of the isometry; likewise of a relation's.
        share = wrong / own.prod() * own / (own - 1) * own.flip(0).sqrt()
        scores, values = weights.kq[..., 0] / own.sqrt(), weights.ov.diagonal(dim1=1, dim2=2)
        attended = values * share * (own - 1) / own
        return Weights(ov=(scores * share).diag_embed(), kq=(attended * own.sqrt())[..., None])

    def odds(self, weights: Weights) -> Odds:
        """Compute the log odds of an answer with the right subject, and with the right relation."""
        right, wrong = self._right(weights)
        subject, relation = (right - wrong).unbind(1)
        return Odds(subject=subject, relation=relation)
