"""theory.attention.recall against limits, independent integrals and a plain simulation."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from theory.attention import recall
from theory.attention.problem import Problem

BASE = Problem(vocab_size=256, length=8, samples=2048, dim=56)


@pytest.mark.parametrize(("embeddings", "jitter"), [("sphere", 0.0), ("gaussian", 2.5 / 56)])
def test_gaussian_accuracy_is_the_integral_of_its_formula(embeddings: str, jitter: float) -> None:
    size, dim, load = BASE.vocab_size, BASE.dim, BASE.load
    t = np.linspace(-9, 9, 1001)
    interference = (1 + 1 / load * (1 - 1 / size)) / dim

    def recalled(count: int) -> float:
        signal = count / load
        own = math.sqrt(interference * (size - 1) / dim + jitter * signal**2)
        rival = math.sqrt(interference * (1 + (size - 2) / dim) + signal**2 / dim)
        right = stats.norm.cdf((signal + own * t) / rival) ** (size - 1)
        return float(integrate.simpson(stats.norm.pdf(t) * right, t))

    counts = range(60)
    chances = stats.binom.pmf(counts, BASE.samples, 1 / size)
    expected = sum(p * recalled(n) for n, p in zip(counts, chances, strict=True))
    problem = BASE.replace(embeddings=embeddings)
    assert recall.recall_accuracy_gaussian(problem) == pytest.approx(expected, abs=1e-4)


def test_infinite_load_is_balanced_data() -> None:
    heavy = recall.recall_accuracy(BASE.replace(samples=10**9))
    assert heavy == pytest.approx(recall.recall_accuracy(BASE, balanced=True), abs=1e-4)


def test_samples_that_missed_their_token_hurt() -> None:
    counts = np.array([4.0, 8.0, 12.0])
    perfect = recall.given_count(BASE, counts)
    missed = recall.given_count(BASE, counts, attended=recall.Attended(0.5, 0.25))
    uneven = recall.given_count(BASE, counts, attended=recall.Attended(0.5, 0.5))
    assert (np.diff(perfect) > 0).all()
    assert (missed > perfect).all(), "the same signal against less interference"
    assert (uneven < missed).all(), "the same signal against more"


@pytest.mark.parametrize("load", [1, 2, 16, 256])
def test_half_dim_is_where_accuracy_is_half(load: int) -> None:
    problem = BASE.replace(vocab_size=1024, samples=1024 * load)
    refined = recall.half_dim_refined(problem)
    assert recall.recall_accuracy(problem.replace(dim=round(refined))) == pytest.approx(
        0.5, abs=0.005
    )
    assert recall.half_dim(problem) == pytest.approx(refined, rel=0.05)


def test_threshold_without_enough_samples_is_infinite() -> None:
    assert math.isinf(recall.half_dim_refined(BASE.replace(samples=128))), "e^-0.5 are never seen"
    assert math.isinf(recall.half_dim(BASE.replace(samples=512, trigger_in_values=True)))


def test_all_tokens_threshold_is_where_the_last_failures_go() -> None:
    problem = BASE.replace(vocab_size=512, samples=512)
    dim = recall.all_tokens_dim(problem)
    assert dim == pytest.approx(2 * math.sqrt(2 * 512 * math.log(512)))
    below, above = (problem.replace(dim=round(factor * dim)) for factor in (0.85, 1.15))
    assert recall.all_tokens_probability(below) < 0.05
    expected = 1 - 512 * (1 - recall.recall_accuracy(above, balanced=True))
    assert 0.95 < recall.all_tokens_probability(above) == pytest.approx(expected, abs=0.01)
