"""Recall, and all steps end to end: limits, independent integrals and plain simulations."""

import math
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import integrate, stats

from simulation import decoding
from simulation.attention import recall as measured
from simulation.attention import sampling, three_steps
from simulation.tiles import TILE_ELEMENTS
from tests.unit.draws import generators, perfectly_seen
from theory.attention import end_to_end, localisation, recall
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


def test_half_dim_with_a_trigger_in_the_values_below_the_number_of_tokens() -> None:
    problem = BASE.replace(samples=16384, trigger_in_values=True)
    assert recall.half_dim(problem) == pytest.approx(recall.half_dim_refined(problem), rel=0.05)


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


@pytest.mark.parametrize("trigger_in_values", [False, True])
def test_counts_give_the_memory_of_perfectly_localised_training(trigger_in_values: bool) -> None:
    sizes: dict[str, Any] = {"vocab_size": 20, "length": 4, "samples": 70, "dim": 9}
    batch = sampling.draw(generators(3), **sizes, trigger_in_values=trigger_in_values)
    attended, facts = perfectly_seen(batch)
    memory = measured.localised_memory(facts) / (70 * 20)
    assert torch.allclose(memory, three_steps.trained_memory(batch, attended), atol=1e-15)


def test_orthonormal_embeddings_recall_exactly_the_tokens_seen() -> None:
    draw = partial(sampling.draw_facts, vocab_size=30, samples=30, dim=32, embeddings="orthonormal")
    facts = draw(generators(20))
    seen = facts.counts > 0
    # An unseen token has all logits zero and gets label 0, the first of equals.
    expected = seen | (facts.permutation == 0)
    assert torch.equal(measured.correct(facts, measured.localised_memory(facts)), expected)
    assert torch.allclose(measured.recalled_share(facts), expected.double().mean(1))
    assert not bool(measured.all_tokens(facts).any())
    balanced = draw(generators(2), balanced=True)
    assert measured.recalled_share(balanced).tolist() == [1.0, 1.0]
    assert measured.all_tokens(balanced).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("tile", [1, 7, 50, 999, 4000, 2**18])
def test_first_of_equal_labels_wins_in_every_tiling(tile: int, dtype: torch.dtype) -> None:
    rng = np.random.default_rng(9)
    # Small integers: sums are exact in any order, and most maxima are attained several times.
    u = torch.from_numpy(rng.integers(-1, 2, size=(2, 61, 3))).to(dtype)
    answers = torch.from_numpy(rng.integers(-1, 2, size=(2, 17, 3))).to(dtype)
    scores = answers @ u.mT
    best = scores.amax(2, keepdim=True)
    assert ((scores == best).sum(2) > 1).any()
    first = (scores == best).int().argmax(2)
    with patch.dict(TILE_ELEMENTS, cpu=tile):
        assert torch.equal(decoding.nearest(u, answers), first)


def test_mostly_right_is_more_than_half_and_a_tie_counts_half() -> None:
    shares = torch.tensor([0.0, 127 / 256, 0.5, 129 / 256, 1.0], dtype=torch.float64)
    assert decoding.mostly(shares).tolist() == [0, 0, 0.5, 1, 1]


SMALL = Problem(vocab_size=256, length=64, samples=768, dim=64)


def test_perfect_localisation_leaves_recall() -> None:
    short = SMALL.replace(length=4, samples=4096)
    assert localisation.probability(short) > 0.999
    assert end_to_end.end_to_end_accuracy(short) == pytest.approx(
        recall.recall_accuracy(short), abs=0.003
    )


def test_perfect_recall_leaves_localisation(monkeypatch: pytest.MonkeyPatch) -> None:
    def perfect(problem: Problem, counts: NDArray[np.float64], **_: object) -> NDArray[np.float64]:
        return np.ones_like(counts)

    monkeypatch.setattr(recall, "given_count", perfect)
    assert end_to_end.end_to_end_accuracy(SMALL) == pytest.approx(
        localisation.probability(SMALL), abs=0.005
    )
