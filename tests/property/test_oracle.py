"""The closed form equals automatic differentiation of the model, at every size and option.

Tolerances are bounds, not found by trying. If logits are at most B in size, each softmax
probability over V labels is within (e^{2B} - 1)/V of 1/V. The closed form uses 1/V, so its error is
at most e^{2B} - 1 times the largest possible summand, and B is proportional to eta.
"""

from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simulation.attention import oracle, sampling, three_steps
from simulation.tiles import TILE_ELEMENTS
from tests.unit.draws import batches

ETA = 1e-6
# Error of a sum of at most 90,000 terms in float64, relative to the largest partial sum.
ROUNDING = 1e-11
BATCHES = batches(most=(40, 8, 48, 24))


@dataclass(frozen=True)
class Explicit:
    """Keys and values of one replicate, (N, L, d), and the sizes that the bounds need."""

    keys: torch.Tensor
    values: torch.Tensor
    logit_bound: float
    readout_norm: float

    @classmethod
    def of(cls, batch: sampling.Batch, replicate: int) -> "Explicit":
        keys, values = (table[replicate] for table in oracle.keys_and_values(batch))
        readouts = batch.u[replicate] @ three_steps.value_memory(batch)[replicate]
        return cls(
            keys=keys,
            values=values,
            logit_bound=ETA * float((values @ readouts.T).abs().max()),
            readout_norm=float(readouts.norm(dim=1).max()),
        )

    @property
    def probability_error(self) -> float:
        return float(np.expm1(2 * self.logit_bound)) + ROUNDING

    @property
    def direction_error(self) -> float:
        centred = self.values - self.values.mean(1, keepdim=True)
        covariances = self.keys.mT @ centred / self.keys.shape[1]
        scale = float(covariances.norm(dim=(1, 2)).mean()) * self.readout_norm
        return scale * self.probability_error


def assert_two_steps(
    batch: sampling.Batch,
    r: int,
    trained: oracle.Trained,
    memory: torch.Tensor,
    scores: three_steps.Scores,
    error: float,
) -> None:
    """Assert that closed form and trained model agree, attention directions up to ``error``."""
    assert torch.allclose(trained.first_value[r] / ETA, memory[r], rtol=0, atol=ROUNDING)
    direction = trained.attention[r] @ batch.query[r] / ETA
    assert float((direction - scores.direction[r]).norm()) <= error
    assert torch.allclose(scores.theta[r], batch.z[r] @ scores.direction[r], rtol=0, atol=1e-12)
    assert np.isclose(scores.trigger[r], batch.trigger[r] @ scores.direction[r], 0, 1e-12)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(batch=BATCHES, tile=st.sampled_from([16, 256, 2**18]))
def test_first_two_steps(batch: sampling.Batch, tile: int) -> None:
    with patch.dict(TILE_ELEMENTS, cpu=tile):
        memory, scores = three_steps.value_memory(batch), three_steps.token_scores(batch)
    trained = oracle.train(batch, eta=ETA, gamma=1.0)
    for r in range(batch.replicates):
        error = Explicit.of(batch, r).direction_error
        assert_two_steps(batch, r, trained, memory, scores, error)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(batch=BATCHES, tile=st.sampled_from([16, 2**18]))
def test_third_step(batch: sampling.Batch, tile: int) -> None:
    with patch.dict(TILE_ELEMENTS, cpu=tile):
        scores = three_steps.token_scores(batch)
        memory = three_steps.trained_memory(batch, three_steps.attend(batch, scores))
    for r in range(batch.replicates):
        explicit = Explicit.of(batch, r)
        gap = _smallest_lead(explicit, scores.direction[r])
        # If the winner leads by less than the error of step 2, or by less than rounding, the limit
        # gamma -> infinity at this eta may have another winner.
        reach = 4 * explicit.direction_error * float(explicit.keys.norm(dim=2).max())
        assume(gap > max(reach, ROUNDING))
        gamma = 2000 / (ETA * gap)
        trained = oracle.train(batch[r : r + 1], eta=ETA, gamma=gamma)
        scale = float(batch.u[r].norm(dim=1).max() * explicit.values.norm(dim=2).max())
        assert float((trained.value[0] / gamma - memory[r]).norm()) <= scale * (
            2 * explicit.probability_error
        )


def _smallest_lead(explicit: Explicit, direction: torch.Tensor) -> float:
    """Return the smallest lead over the sequences.

    A sequence's lead is its best score less the best score at the positions whose value differs
    from the value at the best position. If all values of each sequence are the same, return the
    largest absolute score.
    """
    scores = explicit.keys @ direction
    best = scores.argmax(1)
    rows = torch.arange(len(best))
    same = (explicit.values == explicit.values[rows, best][:, None]).all(2)
    rivals = scores.masked_fill(same, -torch.inf).max(1).values
    lead = float((scores[rows, best] - rivals).min())
    return lead if np.isfinite(lead) else float(scores.abs().max())
