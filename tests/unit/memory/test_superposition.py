"""theory.memory.superposition and simulation.memory.superposition, compared with definitions."""

import pytest
import torch

from simulation.memory import superposition as simulation
from tests.unit.draws import generators
from theory.memory import superposition as theory


def test_the_network_flips_signs_and_knows_no_fact() -> None:
    rng = generators(1)[0]
    signs = torch.from_numpy(rng.choice([-1.0, 1.0], (3, 5)))
    x = torch.from_numpy(rng.standard_normal((4, 5)))
    embed, gate, bias, out = simulation.selector(signs, x.abs().max())
    for relation, pattern in enumerate(signs):
        hidden = torch.relu(x @ embed.T + gate[:, relation] + bias)
        torch.testing.assert_close(hidden @ out.T, x * pattern)


def test_the_dimension_grows_with_the_logarithm() -> None:
    dims = [theory.needed_dim(attributes, 4, share=0.5) for attributes in (10**3, 10**6, 10**9)]
    assert dims[2] - dims[1] == pytest.approx(dims[1] - dims[0], rel=0.1)
    assert theory.accuracy(1000, 4, dims[0]) == pytest.approx(0.5, abs=1e-4)
