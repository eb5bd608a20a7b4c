"""Distances between the three steps at finite eta and gamma and their early-phase limit.

The finite side is :mod:`simulation.attention.oracle`, the limit the closed form.  Every function
returns one number per replicate, (R,).
"""

import torch

from simulation.attention import end_to_end, oracle, sampling, three_steps
from simulation.attention.sampling import Batch
from simulation.streams import Rngs


class Limit:
    """The limit on one batch, and fresh sequences to compare finite steps with it on."""

    def __init__(self, batch: Batch, rngs: Rngs, *, sequences: int) -> None:
        self.batch = batch
        self.fresh = sampling.fresh(batch, rngs, samples=sequences)
        self.scores = three_steps.token_scores(batch)
        attended = three_steps.attend(batch, self.scores)
        self.memory = three_steps.trained_memory(batch, attended)

    def disagreement(self, *, eta: float, gamma: float) -> torch.Tensor:
        """Share of fresh sequences to which finite steps give another label than the limit."""
        limit = end_to_end.predictions(self.fresh, self.scores, self.memory)
        shares = []
        for r, trained in enumerate(self._train(eta, gamma)):
            labels = oracle.logits(self.fresh, r, trained.value, trained.attention).argmax(1)
            shares.append((labels != limit[r]).to(self.batch.z.dtype).mean())
        return torch.stack(shares)

    def direction_error(self, *, eta: float) -> torch.Tensor:
        """Relative distance of the attention vector after step 2 from its limit."""
        errors = []
        for r, trained in enumerate(self._train(eta, gamma=1.0)):
            exact = self.scores.direction[r]
            finite = trained.attention @ self.batch.query[r] / eta
            errors.append((finite - exact).norm() / exact.norm())
        return torch.stack(errors)

    def softness(self, *, eta: float, gamma: float) -> torch.Tensor:
        """Mean distance, over fresh sequences, of the attended value from hard attention's."""
        attended = three_steps.attend(self.fresh, self.scores)
        hard = three_steps.attended_values(self.fresh, attended)
        distances = []
        for r, trained in enumerate(self._train(eta, gamma)):
            soft = oracle.attended_values(self.fresh, r, trained.attention)
            distances.append((soft - hard[r]).norm(dim=1).mean())
        return torch.stack(distances)

    def _train(self, eta: float, gamma: float) -> list[oracle.Trained]:
        replicates = range(self.batch.replicates)
        return [oracle.train(self.batch, eta=eta, gamma=gamma, replicate=r) for r in replicates]
