"""theory.factual.sequential_learning of random dictionaries; claims hold the rest to the flow."""

import math

import numpy as np
import pytest

from theory.factual import sequential_learning as learning
from theory.factual.sequential_learning import Sizes


def test_rates_are_the_distance_of_the_conditional_law_from_uniform() -> None:
    s, r, d = 6, 3, 3
    sizes = Sizes(subjects=s, relations=r, answers=d)
    answers = np.random.default_rng(0).integers(d, size=(4000, s, r)) + d * np.arange(r)
    deviation = np.eye(r * d)[answers] - 1 / (r * d)
    known = deviation.mean(1)[:, 0] / r, deviation.mean(2)[:, 0] / s, deviation.mean((1, 2))
    relation, subject, background = ((one**2).sum(1) for one in known)
    for squares, law in (
        (relation, learning.random_relation_square_rate),
        (background, learning.background_square_rate),
    ):
        assert abs(squares.mean() - law(sizes)) < 4 * squares.std() / math.sqrt(4000)
    assert subject == pytest.approx(learning.subject_rate(sizes) ** 2)
    assert learning.background_square_rate(sizes, count=2) == pytest.approx(
        4 * learning.background_square_rate(sizes)
    )
    # A product dictionary is what many subjects make of a random one.
    many = Sizes(subjects=10**9, relations=r, answers=d)
    assert learning.random_relation_square_rate(many) == pytest.approx(
        learning.relation_rate(sizes) ** 2
    )


def test_random_plateau_is_the_mean_entropy() -> None:
    sizes = Sizes(subjects=12, relations=2, answers=4)
    rng = np.random.default_rng(1)
    shares = rng.multinomial(12, [0.25] * 4, size=20000) / 12
    entropies = -np.where(shares > 0, shares * np.log(np.maximum(shares, 1e-300)), 0).sum(1)
    error = entropies.std() / math.sqrt(entropies.size)
    assert abs(entropies.mean() - learning.random_plateau(sizes)) < 4 * error
    many = Sizes(subjects=5000, relations=2, answers=4)
    assert learning.random_plateau(many) == pytest.approx(math.log(4) - 3 / 10000, rel=1e-6)
