"""theory.memory.bilinear and simulation.memory.bilinear, compared with definitions."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from simulation import embeddings
from simulation.memory import bilinear as simulation
from simulation.streams import Streams
from tests.unit.draws import generators, unit_vectors
from theory.memory import bilinear as theory


def test_overlaps_of_features_as_defined() -> None:
    rng, dim, width = np.random.default_rng(0), 8, 12
    x, y = unit_vectors(rng, 2, 40_000, dim)
    pairs = (rng.standard_normal((2, len(x), dim)) for _ in range(width))
    overlap = sum(
        (a * x).sum(1) * (b * x).sum(1) * (a * y).sum(1) * (b * y).sum(1) for a, b in pairs
    )
    square = (overlap / width) ** 2
    law = theory.overlaps(100, dim, width, whitened=False)
    error = square.std() / math.sqrt(len(square))
    assert square.mean() == pytest.approx(law.wide + 1 / width, abs=4 * error)


def test_a_whitened_memory_of_fewer_pairs_than_neurons_answers_exactly() -> None:
    rng = generators(1)[0]
    keys, values = (torch.from_numpy(unit_vectors(rng, 7, 6)) for _ in range(2))
    stored = simulation.features(Streams([rng]), keys[None], 10)[0]
    answers = stored @ simulation.readout(values, stored, whitened=True).T
    torch.testing.assert_close(answers, values, atol=1e-6, rtol=0)


@pytest.mark.parametrize("whitened", [False, True])
def test_scores_by_a_plain_loop(whitened: bool) -> None:
    sizes: dict[str, Any] = {"associations": 12, "dim": 5, "width": 7}
    found = simulation.answered(generators(2), **sizes, whitened=whitened)
    for index, rng in enumerate(generators(2)):
        one = Streams([rng])
        keys, values = (embeddings.unit_vectors(one, 12, 5)[0].numpy() for _ in range(2))
        first, second = one.normal(2, 5, 7)[0].numpy()
        phi = (keys @ first) * (keys @ second) / math.sqrt(7)
        overlap = phi @ np.linalg.pinv(phi) if whitened else phi @ phi.T
        scores = overlap @ values @ values.T
        leads = [row[i] - np.delete(row, i).max() for i, row in enumerate(scores)]
        assert float(found["margin"][index]) == pytest.approx(min(leads))
        assert float(found["accuracy"][index]) == pytest.approx(np.mean(np.array(leads) > 0))


def test_limits() -> None:
    alone = theory.neurons_alone(associations=256, dim=64, width=256)
    wide = theory.accuracy(associations=256, dim=64, width=256, whitened=False)
    assert wide < alone
    interpolating = theory.accuracy(associations=256, dim=64, width=255.99, whitened=True)
    assert interpolating == pytest.approx(1)
    width = theory.half_width(associations=256, dim=64, whitened=True)
    half = theory.accuracy(associations=256, dim=64, width=width, whitened=True)
    assert half == pytest.approx(0.5, abs=1e-4)
    # Where both 4/d and 3 m/d^2 are small, overlaps have the variance 1/m alone.
    many: dict[str, Any] = {"associations": 3000, "dim": 2000, "width": 20}
    alone = theory.neurons_alone(**many)
    assert 0.1 < theory.accuracy(**many, whitened=False) == pytest.approx(alone, abs=0.005)
    # With many neurons and dimensions the smallest margin has the limit's constants.
    many = {"associations": 10**5, "dim": 10**4, "width": 10**3}
    limit = theory.leading_margin(**many)
    assert theory.smallest_margin(**many) == pytest.approx(limit, abs=0.05)
