"""Distances of the three steps at finite eta and gamma from their limit.

The step size of the first value step is eta, and gamma is the step size of the other two steps. In
the limit eta goes to 0 and gamma to infinity. :mod:`simulation.attention.oracle` takes finite
steps, and :mod:`simulation.attention.three_steps` has the limit in closed form. Every method
returns one number per replicate, (R,).
"""

from collections.abc import Iterator

import torch

from simulation.attention import end_to_end, oracle, sampling, three_steps
from simulation.attention.sampling import Batch
from simulation.streams import Rngs
from simulation.tiles import groups


class Limit:
    """Limit of the three steps on ``batch``, compared with finite steps on fresh sequences.

    ``sequences``: how many fresh sequences each replicate's generator in ``rngs`` draws.
    """

    def __init__(self, batch: Batch, rngs: Rngs, *, sequences: int) -> None:
        self.batch = batch
        self.fresh = sampling.fresh(batch, rngs, samples=sequences)
        self.scores = three_steps.token_scores(batch)
        attended = three_steps.attend(batch, self.scores)
        self.memory = three_steps.trained_memory(batch, attended)

    def disagreement(self, *, eta: float, gamma: float) -> torch.Tensor:
        """Measure the share of fresh sequences that finite steps and limit label differently."""
        limit = end_to_end.predictions(self.fresh, self.scores, self.memory)
        shares = []
        for r, trained in self._train(eta, gamma):
            labels = oracle.logits(self.fresh[r], trained.value, trained.attention).argmax(2)
            shares.append((labels != limit[r]).to(self.batch.z.dtype).mean(1))
        return torch.cat(shares)

    def direction_error(self, *, eta: float) -> torch.Tensor:
        """Measure the relative error of ``W_KQ query / eta`` after step 2, at gamma = 1."""
        errors = []
        for r, trained in self._train(eta, gamma=1.0):
            exact = self.scores.direction[r]
            finite = (trained.attention @ self.batch.query[r, :, None])[..., 0] / eta
            errors.append((finite - exact).norm(dim=1) / exact.norm(dim=1))
        return torch.cat(errors)

    def softness(self, *, eta: float, gamma: float) -> torch.Tensor:
        """Average, over fresh sequences, the distance from the attended value to its limit."""
        attended = three_steps.attend(self.fresh, self.scores)
        hard = three_steps.attended_values(self.fresh, attended)
        distances = []
        for r, trained in self._train(eta, gamma):
            soft = oracle.attended_values(self.fresh[r], trained.attention)
            distances.append((soft - hard[r]).norm(dim=2).mean(1))
        return torch.cat(distances)

    def _train(self, eta: float, gamma: float) -> Iterator[tuple[slice, oracle.Trained]]:
        """Take finite steps, a tile of replicates at a time; yield slices and results."""
        for r in groups(self.batch.replicates, oracle.size(self.batch), self.batch.z):
            yield r, oracle.train(self.batch[r], eta=eta, gamma=gamma)
