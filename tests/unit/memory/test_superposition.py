"""theory.memory.superposition and simulation.memory.superposition against definitions."""

import numpy as np
import pytest
import torch

from simulation.memory import superposition as simulation
from tests.unit.draws import generators, unit_vectors
from theory.memory import superposition as theory


def test_the_network_flips_signs_and_knows_no_fact() -> None:
    rng = generators(1)[0]
    signs = torch.from_numpy(rng.choice([-1.0, 1.0], (3, 5)))
    x = torch.from_numpy(rng.standard_normal((4, 5)))
    embed, gate, bias, out = simulation.selector(signs, float(x.abs().max()))
    for relation, pattern in enumerate(signs):
        hidden = torch.relu(x @ embed.T + gate[:, relation] + bias)
        torch.testing.assert_close(hidden @ out.T, x * pattern)


@pytest.mark.parametrize(("attributes", "relations", "dim"), [(32, 3, 24), (64, 8, 64), (20, 2, 8)])
def test_accuracy_by_its_definition(attributes: int, relations: int, dim: int) -> None:
    shares = []
    for rng in generators(400):
        vectors = unit_vectors(rng, attributes, dim)
        signs = rng.choice([-1.0, 1.0], (relations, dim))
        facts = np.array([rng.permutation(attributes) for _ in range(relations)])
        subject = (signs[:, None] * vectors[facts]).sum(0)
        right = ((subject * signs[0]) @ vectors.T).argmax(1) == facts[0]
        shares.append(right.mean())
    error = np.std(shares) / np.sqrt(len(shares))
    assert theory.accuracy(attributes, relations, dim) == pytest.approx(
        np.mean(shares), abs=0.015 + 3 * error
    )


def test_the_dimension_grows_with_the_logarithm() -> None:
    dims = [theory.needed_dim(attributes, 4, share=0.5) for attributes in (10**3, 10**6, 10**9)]
    assert dims[2] - dims[1] == pytest.approx(dims[1] - dims[0], rel=0.1)
    assert theory.accuracy(1000, 4, dims[0]) == pytest.approx(0.5, abs=1e-4)
