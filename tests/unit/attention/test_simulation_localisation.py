"""Exact probabilities over fresh sequences against the enumeration of every sequence."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch

from simulation.attention import end_to_end, localisation, sampling, three_steps
from tests.unit.draws import generators, informative

VOCAB_SIZE, LENGTH = 5, 4


def every_sequence(batch: sampling.Batch) -> sampling.Batch:
    """Every sequence with every informative position, in place of the training sequences."""
    rows = list(itertools.product(range(VOCAB_SIZE), repeat=LENGTH))
    tokens = torch.tensor(rows).repeat(LENGTH, 1).expand(batch.replicates, -1, -1)
    positions = torch.arange(LENGTH).repeat_interleave(len(rows)).expand(batch.replicates, -1)
    labels = batch.permutation.gather(1, informative(tokens, positions))
    return replace(batch, tokens=tokens, positions=positions, labels=labels)


@pytest.mark.parametrize(
    ("embeddings", "dim", "trigger_in_values"),
    # Orthonormal tokens that training never shows tie exactly.
    [("sphere", 3, False), ("sphere", 3, True), ("orthonormal", 7, True)],
)
@pytest.mark.parametrize("samples", [2, 30])
def test_accuracy_over_fresh_sequences_is_exact(
    embeddings: str, dim: int, trigger_in_values: bool, samples: int
) -> None:
    sizes: dict[str, Any] = {
        "vocab_size": VOCAB_SIZE,
        "length": LENGTH,
        "samples": samples,
        "dim": dim,
    }
    law: dict[str, Any] = {"embeddings": embeddings, "trigger_in_values": trigger_in_values}
    batch = sampling.draw(generators(40, seed=5), **sizes, **law)
    scores = three_steps.token_scores(batch)
    attended = three_steps.attend(batch, scores)
    memory = three_steps.trained_memory(batch, attended)
    outcome = end_to_end.run(batch)
    everything = every_sequence(batch)
    found = three_steps.attend(everything, scores).informative
    right = end_to_end.predictions(everything, scores, memory) == everything.labels

    def mean(indicator: torch.Tensor) -> torch.Tensor:
        return indicator.double().mean(1)

    assert 0.05 < float(mean(found).mean()) < 0.999
    assert torch.allclose(outcome.localisation, mean(found))
    assert torch.allclose(outcome.accuracy, mean(right))


@pytest.mark.parametrize("embeddings", ["sphere", "gaussian"])
def test_mirrored_is_the_mean_over_a_trigger_and_its_opposite(embeddings: str) -> None:
    batch = sampling.draw(
        generators(20, seed=8), vocab_size=60, length=5, samples=40, dim=12, embeddings=embeddings
    )
    expected = torch.zeros(20, dtype=torch.float64)
    for sign in (1, -1):
        turned = replace(batch, trigger=sign * batch.trigger)
        scores = three_steps.token_scores(turned)
        expected += localisation.probability(scores, length=5) / 2
    assert float(expected.std()) > 0.05
    assert torch.allclose(localisation.mirrored(batch), expected, atol=1e-12)
