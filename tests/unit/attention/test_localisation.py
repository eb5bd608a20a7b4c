"""Localisation: limits, spread between replicates, and enumeration of all sequences."""

import itertools
import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from simulation.attention import end_to_end, sampling, three_steps
from simulation.attention import localisation as measured
from tests.unit.draws import generators, informative, unit_vectors
from theory.attention import localisation, noise, signal
from theory.attention.problem import Problem
from theory.laws import sphere

BASE = Problem(vocab_size=512, length=16, samples=400, dim=24)


def test_distinct_distractors_are_counted_without_repeats() -> None:
    rng = np.random.default_rng(2)
    tokens = rng.integers(50, size=(4000, 19))
    distinct = np.mean([np.unique(row[row != 0]).size for row in tokens])
    assert localisation.distinct_distractors(20, 50) == pytest.approx(distinct, rel=0.01)


def test_marginal_dim_lies_between_half_the_dimension_and_it() -> None:
    value = localisation.marginal_dim(BASE)
    assert BASE.dim / 2 < value < BASE.dim
    assert localisation.marginal_dim(BASE.replace(embeddings="gaussian")) == math.inf


@pytest.mark.parametrize(("samples", "length"), [(200, 16), (900, 48)])
def test_probability_is_the_mean_over_replicates_drawn_from_their_law(
    samples: int, length: int
) -> None:
    problem = BASE.replace(samples=samples, length=length)
    given = localisation.signal_to_noise(problem)
    rng, draws, dim = np.random.default_rng(4), 400_000, problem.dim

    def coordinate(dim: float) -> NDArray[np.float64]:
        first = rng.standard_normal(draws)
        return np.asarray(
            math.sqrt(dim) * first / np.sqrt(first**2 + rng.chisquare(dim - 1, draws))
        )

    log_variance = math.log1p(localisation._spread(problem, given.noise_shares))
    zeta = rng.lognormal(-log_variance / 2, math.sqrt(log_variance), draws)
    noisy = (1 - given.shares[0]) * zeta
    q = rng.normal(given.snr, math.sqrt(given.coefficient), draws)
    share = localisation._trigger_share(problem, given.noise_shares)
    nu = np.sqrt(share * noisy) * coordinate(dim)
    excess = (q**2 - given.snr**2 - given.coefficient + 2 * q * nu) / dim
    sigma = np.sqrt(np.maximum(given.shares[0] + excess + noisy, (q + nu) ** 2 / dim))
    marginal = localisation.marginal_dim(problem)
    margin = coordinate(marginal) + (q + nu) / sigma
    distractors = localisation.distinct_distractors(length, problem.vocab_size)
    found = sphere.cdf(margin, marginal) ** distractors
    assert localisation.probability(problem) == pytest.approx(found.mean(), abs=4e-3)


def test_agreement_of_labels_moves_a_signal_of_a_trigger_in_the_values() -> None:
    """Without this effect the theory is 0.03 too low. The mean of 800 draws errs by 0.003."""
    sizes = {"vocab_size": 397, "length": 8, "samples": 166, "dim": 13}
    problem = Problem.of({**sizes, "trigger_in_values": True})
    scores = three_steps.token_scores(sampling.draw(generators(800), **asdict(problem)))
    found = float(measured.probability(scores, length=8).mean())
    assert localisation.probability(problem) == pytest.approx(found, abs=0.018)


@pytest.mark.parametrize("samples", [4, 53])
def test_agreement_of_labels_is_that_of_draws(samples: int) -> None:
    problem = Problem(vocab_size=60, length=17, samples=samples, dim=9, trigger_in_values=True)
    found = localisation.signal_to_noise(problem).agreement
    assert found is not None
    rng, count = np.random.default_rng(7), 20_000
    u = unit_vectors(rng, count, 60, 9)
    u -= u.mean(1, keepdims=True)
    shares = rng.multinomial(samples, [1 / 60] * 60, count) / samples
    batch = np.einsum("ra,rad->rd", shares, u)
    mean = 60 * (batch**2).sum(1)
    square = (shares * (60 * np.einsum("rad,rd->ra", u, batch)) ** 2).sum(1)
    assert found.variance == pytest.approx(mean.var() / mean.mean() ** 2, rel=0.05)
    # With x the agreement over its mean, `square` is on average a x + b x^2, where b is the squared
    # mean of the agreement. `found.square` is b/(a + b).
    ratio = square.mean() / mean.mean() ** 2
    assert 1 / found.square + found.variance == pytest.approx(ratio, rel=0.05)
    # Pairs of samples have the rest of the signal, (1 - 1/N) (1 + 1/d).
    scored = signal.trigger_signal(problem) / signal.signal_unit(problem) / (1 - 1 / 60)
    excess = found.signal * math.sqrt(noise.variance(problem))
    assert excess == pytest.approx(scored - (1 - 1 / samples) * (1 + 1 / 9), rel=0.02)


SHARES = [
    {1: 1.0, 2: 0.0, 3: 0.0},
    {1: 0.0, 2: 1.0, 3: 0.0},
    {1: 0.0, 2: 0.0, 3: 1.0},
    {1: 0.2, 2: 0.3, 3: 0.5},
]


@pytest.mark.parametrize("shares", SHARES)
def test_trigger_reads_less_of_the_noise_than_tokens_do(shares: dict[int, float]) -> None:
    rng, size, dim = np.random.default_rng(6), BASE.vocab_size, BASE.dim
    z = unit_vectors(rng, size, dim)
    values, vectors = np.linalg.eigh(dim / size * z.T @ z)
    total = 0.0
    for power, share in shares.items():
        noise = (vectors * values ** (power / 2)) @ rng.standard_normal((dim, 4000))
        trigger = unit_vectors(rng, 4000, dim)
        read = np.mean(np.einsum("ri,ir->r", trigger, noise) ** 2)
        total += share * read / np.mean((z @ noise) ** 2)
    assert localisation._trigger_share(BASE, shares) == pytest.approx(total, rel=0.1)


def test_probability_of_gaussian_embeddings_is_near_that_of_the_sphere() -> None:
    wide = Problem(vocab_size=2048, length=16, samples=300, dim=96)
    gaussian = localisation.probability(wide.replace(embeddings="gaussian"))
    assert gaussian == pytest.approx(localisation.probability(wide), abs=0.03)


VOCAB_SIZE, LENGTH = 5, 4


def every_sequence(batch: sampling.Batch) -> sampling.Batch:
    """Replace the training sequences by all sequences with all informative positions."""
    rows = list(itertools.product(range(VOCAB_SIZE), repeat=LENGTH))
    tokens = torch.tensor(rows).repeat(LENGTH, 1).expand(batch.replicates, -1, -1)
    positions = torch.arange(LENGTH).repeat_interleave(len(rows)).expand(batch.replicates, -1)
    labels = batch.permutation.gather(1, informative(tokens, positions))
    return replace(batch, tokens=tokens, positions=positions, labels=labels)


@pytest.mark.parametrize(
    "law",
    [
        {"dim": 3},
        {"dim": 3, "trigger_in_values": True},
        # Orthonormal tokens that training never shows tie exactly.
        {"dim": 7, "trigger_in_values": True, "embeddings": "orthonormal"},
    ],
    ids=["sphere", "trigger in values", "orthonormal"],
)
@pytest.mark.parametrize("samples", [2, 30])
def test_accuracy_over_fresh_sequences_is_exact(law: dict[str, Any], samples: int) -> None:
    batch = sampling.draw(
        generators(40, seed=5), vocab_size=VOCAB_SIZE, length=LENGTH, samples=samples, **law
    )
    scores = three_steps.token_scores(batch)
    attended = three_steps.attend(batch, scores)
    memory = three_steps.trained_memory(batch, attended)
    outcome = end_to_end.run(batch)
    everything = every_sequence(batch)
    found = three_steps.attend(everything, scores).informative
    right = end_to_end.predictions(everything, scores, memory) == everything.labels

    def mean(indicator: torch.Tensor) -> torch.Tensor:
        return indicator.double().mean(1)

    assert 0.05 < float(mean(found).mean()) < 0.999
    assert torch.allclose(outcome.localisation, mean(found))
    assert torch.allclose(outcome.accuracy, mean(right))


@pytest.mark.parametrize("embeddings", ["sphere", "gaussian"])
def test_mirrored_is_the_mean_over_a_trigger_and_its_opposite(embeddings: str) -> None:
    batch = sampling.draw(
        generators(20, seed=8), vocab_size=60, length=5, samples=40, dim=12, embeddings=embeddings
    )
    expected = torch.zeros(20, dtype=torch.float64)
    for sign in (1, -1):
        turned = replace(batch, trigger=sign * batch.trigger)
        scores = three_steps.token_scores(turned)
        expected += measured.probability(scores, length=5) / 2
    assert float(expected.std()) > 0.05
    assert torch.allclose(measured.mirrored(batch), expected, atol=1e-12)
