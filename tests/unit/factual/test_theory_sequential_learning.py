"""theory.factual.sequential_learning against the equation that it solves, limits and sums."""

import itertools
import math

import numpy as np
import pytest

from theory.factual import sequential_learning as learning
from theory.factual.sequential_learning import Sizes, Stage

PUBLISHED = Sizes(subjects=16, relations=4, answers=8)
REVERSED = Sizes(subjects=4, relations=16, answers=4)
STAGES: tuple[Stage, ...] = ("relation", "subject")


def test_half_time_is_when_half_of_the_loss_is_gone() -> None:
    for sizes, stage in itertools.product((PUBLISHED, REVERSED), STAGES):
        time = learning.half_time(sizes, stage, scale=1e-4)
        half = math.log(learning.choices(sizes, stage)) / 2
        assert learning.stage_loss(sizes, stage, time, scale=1e-4) == pytest.approx(half)


def test_steps_delay_the_flow_as_its_growth_rate_says() -> None:
    for stage in STAGES:
        flow = learning.half_time(PUBLISHED, stage, scale=1e-5)
        small = learning.half_step(PUBLISHED, stage, scale=1e-5, learning_rate=1e-6)
        assert small == pytest.approx(1e6 * flow, rel=1e-6)
        delay = learning.half_step(PUBLISHED, stage, scale=1e-5, learning_rate=0.1) - 10 * flow
        assert 6 < delay < 7, "steps"


@pytest.mark.parametrize(
    ("sizes", "first", "height"), [(PUBLISHED, "relation", 8), (REVERSED, "subject", 16)]
)
def test_order_and_plateau(sizes: Sizes, first: str, height: int) -> None:
    times = {stage: learning.half_time(sizes, stage, scale=1e-5) for stage in STAGES}
    assert learning.first(sizes) == first == min(times, key=lambda stage: times[stage])
    assert learning.plateau(sizes) == pytest.approx(math.log(height))


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
