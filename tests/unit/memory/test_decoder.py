"""theory.memory.decoder and simulation.memory.decoder, compared with definitions."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from scipy import optimize, stats

from simulation.memory import decoder as simulation
from tests.unit.draws import generators
from theory.memory import decoder as theory


def embedded(facts: int, groups: int, shared: float) -> torch.Tensor:
    """Make values with orthonormal parts, shape (facts, facts + groups)."""
    own = math.sqrt(1 - shared) * torch.eye(facts, dtype=torch.float64)
    common = torch.eye(groups, dtype=torch.float64).repeat_interleave(facts // groups, 0)
    return torch.cat([own, math.sqrt(shared) * common], 1)


@pytest.mark.parametrize(
    ("facts", "groups", "shared"), [(12, 1, 0.75), (12, 3, 0.5), (16, 8, 0.75), (12, 2, 0.0)]
)
def test_no_direction_is_farther_from_its_nearest_rival(
    facts: int, groups: int, shared: float
) -> None:
    values = embedded(facts, groups, shared)
    best = simulation.directions(values, groups, shared)[0]
    rivals = values[0] - values[1:]
    expected = theory.decodability(facts, groups, shared)
    assert torch.cosine_similarity(rivals, best).numpy() == pytest.approx(expected, rel=1e-12)
    # A direction with equal cosines that is a nonnegative sum of the differences is the best one.
    assert optimize.nnls(rivals.T.numpy(), best.numpy())[1] < 1e-12


def test_two_facts_are_right_exactly_as_often_as_predicted() -> None:
    """With one rival the bound is exact: the law of a unit vector's coordinate, by Student's t."""
    share = theory.least_share(2, 1, 0.75, 3, "plain")
    assert share == pytest.approx(stats.t.cdf(math.sqrt(3 * 0.125 / 0.875), 3), rel=1e-12)
    decode = partial(simulation.accuracy, facts=2, groups=1, shared=0.75, code_dim=3)
    assert decode(generators(4000), code="plain").mean() == pytest.approx(share, abs=0.02)
    assert decode(generators(9)).tolist() == [theory.least_share(2, 1, 0.75, 3)] * 9 == [1.0] * 9


def test_the_code_grows_with_the_logarithm_of_facts() -> None:
    codes = [theory.needed_code(n, 1, 0.75, "plain") for n in (10**3, 10**6, 10**9)]
    steps = np.diff(codes)
    assert steps[1] == pytest.approx(steps[0], rel=0.05)
    assert steps[1] == pytest.approx(-2 * math.log(1000) / math.log1p(-0.125), rel=0.05)
