"""Additive codes: the statistical dimensions against exact values, the linear programme by hand."""

import numpy as np
import pytest

from simulation.factual import additive_heads as simulated
from theory.factual import additive_heads as theory


def test_two_answers_need_half_a_dimension_per_relation() -> None:
    assert theory.subject_dim(60, 2) == pytest.approx(30, rel=0.01), "Cover's count"


def test_three_answers_have_their_exact_dimension() -> None:
    # The level is the mean of the first with those rivals that exceed it.
    draws = np.random.default_rng(0).standard_normal((400_000, 3))
    first, rivals = draws[:, 0], np.sort(draws[:, 1:])[:, ::-1]
    one, both = (first + rivals[:, 0]) / 2, draws.mean(1)
    level = np.where(rivals[:, 0] <= first, first, np.where(rivals[:, 1] <= one, one, both))
    distance = (first - level) ** 2 + (np.maximum(draws[:, 1:] - level[:, None], 0) ** 2).sum(1)
    assert theory.subject_dim(1, 3) == pytest.approx(distance.mean(), rel=0.01)


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
