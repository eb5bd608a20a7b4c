"""theory.factual.sequential_learning against the equation that it solves, limits and sums."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from theory.factual import sequential_learning as learning
from theory.factual.sequential_learning import Sizes, Stage

PUBLISHED = Sizes(subjects=16, relations=4, answers=8)
REVERSED = Sizes(subjects=4, relations=16, answers=4)
STAGES: tuple[Stage, ...] = ("relation", "subject")


def integrated(sizes: Sizes, stage: Stage, time: float, scale: float) -> float:
    """The stage's loss by integrating the equation for q as derived, without closed form."""
    s, r, d = sizes.subjects, sizes.relations, sizes.answers
    kinds, square, gain = (
        (r, d * (r - 1) / r, 1 / d) if stage == "relation" else (d, r * (d - 1) / d, d / (s * r))
    )
    found = integrate.solve_ivp(
        lambda _, q: gain * np.sqrt(scale**4 + 4 * square * q**2) / (kinds - 1 + np.exp(q)),
        (0, time),
        [0.0],
        method="DOP853",
        rtol=1e-10,
        atol=1e-20,
    )
    return math.log1p((kinds - 1) * math.exp(-found.y[0, -1]))


@pytest.mark.parametrize("sizes", [PUBLISHED, REVERSED])
@pytest.mark.parametrize("stage", STAGES)
def test_closed_form_solves_the_equation(sizes: Sizes, stage: Stage) -> None:
    half = learning.half_time(sizes, stage, scale=1e-5)
    for time in (0.2 * half, 0.9 * half, half, 1.1 * half, 3 * half):
        expected = integrated(sizes, stage, time, 1e-5)
        assert learning.stage_loss(sizes, stage, time, scale=1e-5) == pytest.approx(
            expected, abs=1e-7
        )


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


def test_loss_falls_from_log_rd_by_way_of_the_plateau() -> None:
    times = [0.0, *np.linspace(1, 2000, 50)]
    losses = [learning.loss(PUBLISHED, time, scale=1e-5) for time in times]
    assert losses[0] == pytest.approx(math.log(32))
    assert all(a > b for a, b in itertools.pairwise(losses))
    middle = math.sqrt(
        math.prod(learning.half_time(PUBLISHED, stage, scale=1e-5) for stage in STAGES)
    )
    assert learning.loss(PUBLISHED, middle, scale=1e-5) == pytest.approx(
        learning.plateau(PUBLISHED), abs=0.015
    )


@pytest.mark.parametrize(
    ("sizes", "first", "height"), [(PUBLISHED, "relation", 8), (REVERSED, "subject", 16)]
)
def test_order_and_plateau(sizes: Sizes, first: str, height: int) -> None:
    times = {stage: learning.half_time(sizes, stage, scale=1e-5) for stage in STAGES}
    assert learning.first(sizes) == first == min(times, key=lambda stage: times[stage])
    assert learning.plateau(sizes) == pytest.approx(math.log(height))


def test_ratio_of_times_is_within_its_stated_error() -> None:
    ratios = [
        learning.half_time(sizes, "subject", scale=scale)
        / learning.half_time(sizes, "relation", scale=scale)
        / learning.time_ratio(sizes)
        for s, r, d, scale in itertools.product((8, 64, 256), (2, 8, 64), (2, 4, 8), (1e-3, 1e-5))
        for sizes in [Sizes(subjects=s, relations=r, answers=d)]
    ]
    assert 0.98 < min(ratios) < max(ratios) < 1.06


def test_rates_are_the_distance_of_the_conditional_law_from_uniform() -> None:
    s, r, d = 6, 3, 3
    sizes = Sizes(subjects=s, relations=r, answers=d)
    rng = np.random.default_rng(0)
    squares = []
    for _ in range(4000):
        law = np.zeros((s, r, r * d))
        answers = rng.integers(d, size=(s, r)) + d * np.arange(r)
        np.put_along_axis(law, answers[..., None], 1.0, axis=2)
        uniform = 1 / (r * d)
        squares.append(
            [
                np.sum((law.mean(0)[0] - uniform) ** 2) / r**2,
                np.sum((law.mean(1)[0] - uniform) ** 2) / s**2,
                np.sum((law.mean((0, 1)) - uniform) ** 2),
            ]
        )
    error = np.std(squares, axis=0) / math.sqrt(len(squares))
    relation, subject, background = np.mean(squares, axis=0)
    assert abs(relation - learning.random_relation_square_rate(sizes)) < 4 * error[0]
    assert subject == pytest.approx(learning.subject_rate(sizes) ** 2)
    assert abs(background - learning.background_square_rate(sizes)) < 4 * error[2]
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
