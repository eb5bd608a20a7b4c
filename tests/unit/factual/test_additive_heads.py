"""Dimensions in which codes exist: vectors that heads add, one for subject, one for relation.

Formulas are compared with statistical dimensions and exact values, the linear programme with cases
by hand.
"""

from collections.abc import Callable

import numpy as np
import pytest

from simulation.factual import additive_heads as simulated
from theory.factual import additive_heads as theory


def test_two_answers_need_half_a_dimension_per_relation() -> None:
    assert theory.subject_dim(60, 2) == pytest.approx(30, rel=0.01), "Cover's count"


@pytest.mark.parametrize(
    ("law", "relations", "answers", "cone"),
    [
        (theory.subject_dim, 16, 16, (1, 15, 16)),
        (theory.subject_dim, 4, 64, (1, 63, 4)),
        (theory.relation_dim, 8, 16, (16, 112, 1)),
        (theory.relation_dim, 32, 3, (3, 93, 1)),
    ],
)
def test_half_have_codes_near_the_statistical_dimension(
    law: Callable[[int, int], float], relations: int, answers: int, cone: tuple[int, int, int]
) -> None:
    mean, half = _mean_and_half(*cone)
    assert law(relations, answers) == pytest.approx(mean, rel=0.01)
    assert abs(half - mean) < min(0.2, 0.014 * mean)


def _mean_and_half(above: int, below: int, cones: int) -> tuple[float, float]:
    """Find a cone's mean codimension, and the dimension of subspaces that meet it half of the time.

    The cone is a product of `cones` equal ones. In each, all `above` upper coordinates are at least
    as large as all `below` lower ones. The projection of a Gaussian vector to such a cone lies on a
    face. The mean codimension of this face is the dimension of the space less the cone's
    statistical dimension. The intrinsic volumes are the law of the codimension. Volumes of a
    product of cones convolve. A random d-dimensional subspace meets the cone with a probability of
    twice the sum of the volumes at codimensions d - 1, d - 3, ... (Amelunxen et al. 2014).
    """
    rng = np.random.default_rng(1)
    upper, lower = rng.standard_normal((20_000, above)), rng.standard_normal((20_000, below))
    low, high = np.full((20_000, 1), -9.0), np.full((20_000, 1), 9.0)
    for _ in range(40):  # find the level to which all coordinates on the wrong side move
        level = (low + high) / 2
        gap = level - upper if above == 1 else np.maximum(level - upper, 0)
        rising = gap.sum(1) > np.maximum(lower - level, 0).sum(1)
        low, high = np.where(rising[:, None], low, level), np.where(rising[:, None], level, high)
    wrong = (lower > level).sum(1)
    if above > 1:
        wrong = np.maximum(wrong + (upper < level).sum(1) - 1, 0)
    volumes = np.ones(1)
    for _ in range(cones):
        volumes = np.convolve(volumes, np.bincount(wrong) / len(wrong))
    meets = [2 * volumes[d - 1 :: -2].sum() for d in range(1, len(volumes) + 1)]
    mean = float(volumes @ np.arange(len(volumes)))
    return mean, float(np.interp(0.5, meets, range(1, len(meets) + 1)))


def test_programme_finds_codes_exactly_where_there_are_some() -> None:
    line = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert not simulated._feasible(line), "no y has both signs"
    assert simulated._feasible(np.array([[1.0, 0.0], [-1.0, 0.1]]))


def test_enough_dimensions_always_suffice() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        assert simulated.subject_code_exists(rng, relations=3, answers=4, dim=12)
        assert simulated.relation_code_exists(rng, relations=3, answers=2, dim=6)
        assert not simulated.relation_code_exists(rng, relations=8, answers=8, dim=2)
        assert not simulated.subject_code_exists(rng, relations=60, answers=2, dim=4)
