"""theory.attention.recall against limits, independent integrals and a plain simulation."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from theory.attention import recall
from theory.attention.problem import Problem

BASE = Problem(vocab_size=256, length=8, samples=2048, dim=56)


def unit_vectors(rng: np.random.Generator, count: int, dim: int) -> NDArray[np.float64]:
    vectors = rng.standard_normal((count, dim))
    normalised: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return normalised


def gaussian_vectors(rng: np.random.Generator, count: int, dim: int) -> NDArray[np.float64]:
    return rng.standard_normal((count, dim)) / math.sqrt(dim)


def simulated(
    problem: Problem, replicates: int, seed: int, *, balanced: bool
) -> NDArray[np.float64]:
    """Recall accuracies of a Hebbian memory written with numpy, straight from the definition."""
    draw = gaussian_vectors if problem.embeddings == "gaussian" else unit_vectors
    rng = np.random.default_rng(seed)
    size, accuracies = problem.vocab_size, []
    for _ in range(replicates):
        tokens, labels = draw(rng, size, problem.dim), draw(rng, size, problem.dim)
        values = tokens
        if problem.trigger_in_values:
            values = tokens + unit_vectors(rng, 1, problem.dim)
        counts = (
            np.full(size, problem.load)
            if balanced
            else rng.multinomial(problem.samples, np.full(size, 1 / size)).astype(float)
        )
        memory = (labels - labels.mean(0)).T @ (counts[:, None] * values)
        answers = (labels @ memory @ values.T).argmax(0)
        accuracies.append((answers == np.arange(size)).mean())
    return np.array(accuracies)


@pytest.mark.parametrize(
    ("changes", "balanced"),
    [
        ({}, False),
        ({"samples": 512, "dim": 80}, False),
        ({"dim": 50}, True),
        ({"embeddings": "gaussian"}, False),
        ({"samples": 16384, "dim": 120, "trigger_in_values": True}, False),
        ({"samples": 8192, "dim": 250, "trigger_in_values": True}, False),
    ],
)
def test_accuracy_is_that_of_a_hebbian_memory(
    changes: dict[str, int | str], balanced: bool
) -> None:
    problem = BASE.replace(**changes)
    found = simulated(problem, 60, seed=11, balanced=balanced)
    sampling_error = 4 * found.std(ddof=1) / math.sqrt(found.size)
    predicted = recall.recall_accuracy(problem, balanced=balanced)
    assert abs(found.mean() - predicted) < 0.02 + sampling_error


@pytest.mark.parametrize(("embeddings", "jitter"), [("sphere", 0.0), ("gaussian", 2.5 / 56)])
def test_gaussian_accuracy_is_the_integral_of_its_formula(embeddings: str, jitter: float) -> None:
    size, dim, load = BASE.vocab_size, BASE.dim, BASE.load
    interference = (1 + 1 / load * (1 - 1 / size)) / dim

    def recalled(count: int) -> float:
        signal = count / load
        own = math.sqrt(interference * (size - 1) / dim + jitter * signal**2)
        rival = math.sqrt(interference * (1 + (size - 2) / dim) + signal**2 / dim)
        value, _ = integrate.quad(
            lambda t: stats.norm.pdf(t) * stats.norm.cdf((signal + own * t) / rival) ** (size - 1),
            -9,
            9,
        )
        return float(value)

    counts = range(60)
    chances = stats.binom.pmf(counts, BASE.samples, 1 / size)
    expected = sum(p * recalled(n) for n, p in zip(counts, chances, strict=True))
    problem = BASE.replace(embeddings=embeddings)
    assert recall.recall_accuracy_gaussian(problem) == pytest.approx(expected, abs=1e-4)


def test_more_dimensions_or_samples_or_fewer_tokens_help() -> None:
    accuracy = recall.recall_accuracy(BASE)
    assert recall.recall_accuracy(BASE.replace(dim=64)) > accuracy
    assert recall.recall_accuracy(BASE.replace(samples=4096)) > accuracy
    assert recall.recall_accuracy(BASE.replace(vocab_size=128, samples=1024)) > accuracy
    assert recall.recall_accuracy(BASE.replace(embeddings="gaussian")) < accuracy
    assert recall.recall_accuracy(BASE.replace(trigger_in_values=True)) < accuracy


def test_length_plays_no_part() -> None:
    assert recall.recall_accuracy(BASE.replace(length=128)) == recall.recall_accuracy(BASE)


def test_infinite_load_is_balanced_data() -> None:
    heavy = recall.recall_accuracy(BASE.replace(samples=10**9))
    assert heavy == pytest.approx(recall.recall_accuracy(BASE, balanced=True), abs=1e-4)


def test_unlimited_dimension_leaves_coverage() -> None:
    problem = Problem(vocab_size=64, length=2, samples=64, dim=10**7)
    assert recall.recall_accuracy(problem) == pytest.approx(1 - (1 - 1 / 64) ** 64, abs=0.02)


def test_samples_that_missed_their_token_hurt() -> None:
    counts = np.array([4.0, 8.0, 12.0])
    perfect = recall.given_count(BASE, counts)
    missed = recall.given_count(BASE, counts, attended=recall.Attended(0.5, 0.25))
    uneven = recall.given_count(BASE, counts, attended=recall.Attended(0.5, 0.5))
    assert (np.diff(perfect) > 0).all()
    assert (missed > perfect).all(), "the same signal against less interference"
    assert (uneven < missed).all(), "the same signal against more"


def test_half_dim_solves_its_equation() -> None:
    size, load = BASE.vocab_size, 10**9
    dim = recall.half_dim(BASE.replace(samples=load * size))
    median = stats.norm.ppf(2 ** (-1 / (size - 1)))
    assert 1 / median**2 == pytest.approx((1 + size / dim) / dim + 1 / dim, rel=1e-6)


@pytest.mark.parametrize("load", [1, 2, 16, 256])
def test_half_dim_is_where_accuracy_is_half(load: int) -> None:
    problem = BASE.replace(vocab_size=1024, samples=1024 * load)
    refined = recall.half_dim_refined(problem)
    assert recall.recall_accuracy(problem.replace(dim=round(refined))) == pytest.approx(
        0.5, abs=0.005
    )
    assert recall.half_dim(problem) == pytest.approx(refined, rel=0.05)


def test_half_dim_tends_to_its_asymptote() -> None:
    ratios = [
        recall.half_dim(p) / recall.half_dim_asymptotic(p)
        for p in (
            Problem(vocab_size=10**k, length=2, samples=10 ** (k + 3), dim=2) for k in (5, 9, 15)
        )
    ]
    assert abs(ratios[2] - 1) < abs(ratios[1] - 1) < abs(ratios[0] - 1) < 0.1


def test_threshold_without_enough_samples_is_infinite() -> None:
    assert math.isinf(recall.half_dim_refined(BASE.replace(samples=128))), "e^-0.5 are never seen"
    assert math.isinf(recall.half_dim(BASE.replace(samples=512, trigger_in_values=True)))


def test_all_tokens_threshold_is_where_the_last_failures_go() -> None:
    below, above = (
        Problem(
            vocab_size=512, length=2, samples=512, dim=round(f * math.sqrt(8 * 512 * math.log(512)))
        )
        for f in (0.85, 1.15)
    )
    assert recall.all_tokens_dim(below) == pytest.approx(2 * math.sqrt(2 * 512 * math.log(512)))
    assert recall.all_tokens_probability(below) < 0.05
    assert recall.all_tokens_probability(above) > 0.95
    expected = 1 - 512 * (1 - recall.recall_accuracy(above, balanced=True))
    assert recall.all_tokens_probability(above) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    "function",
    [recall.recall_accuracy, recall.recall_accuracy_gaussian, recall.half_dim_refined],
)
def test_orthonormal_embeddings_are_referred_to_coverage(function: object) -> None:
    problem = Problem(vocab_size=8, length=2, samples=8, dim=16, embeddings="orthonormal")
    with pytest.raises(ValueError, match="orthonormal"):
        function(problem)  # type: ignore[operator]
