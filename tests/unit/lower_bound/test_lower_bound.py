"""The ceiling on accuracy, the information behind it, and the accuracy of linear estimators."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from simulation.lower_bound import width_information as feature_spectrum
from tests.unit.draws import generators
from theory.attention.problem import Problem
from theory.lower_bound import (
    argmax_accuracy,
    ceiling,
    gradient_capacity,
    gradient_channel,
    linear_mmse,
    matched_filter,
)
from theory.lower_bound import width_information as width

PROBLEM = Problem(vocab_size=256, length=32, samples=8192, dim=62)


def test_exact_recovery_of_four_labels_by_hand() -> None:
    assert ceiling.exact_recovery(math.log(6), 4) == pytest.approx(math.log(12) / math.log(24))


def test_ceiling_is_the_largest_root_of_its_inequality() -> None:
    for information in (0.3, 1.0, 2.0):
        right = 50 * ceiling.largest_accuracy(information, 50)
        assert right * math.log(right) - right + 1 == pytest.approx(information, abs=1e-9)
        assert right > 1
    assert ceiling.largest_accuracy(0.0, 64) == pytest.approx(1 / 64, rel=1e-6)  # a blind guess
    assert ceiling.information_needed(0.0, 64) == ceiling.information_needed(1 / 64, 64) == 0.0
    assert ceiling.largest_accuracy(1e6, 64) == 1.0


def test_recovery_bound_is_within_a_bit_of_a_channel_that_tells_all_or_nothing() -> None:
    whole = math.lgamma(21)
    for chance in (0.1, 0.25, 0.7):
        reached = chance + (1 - chance) / math.factorial(20)
        slack = ceiling.exact_recovery(chance * whole, 20) - reached
        assert 0 <= slack <= math.log(2) / whole + 1e-12


def test_critical_dim_is_where_the_ceiling_reaches_the_accuracy() -> None:
    dim = ceiling.critical_dim(PROBLEM, accuracy=0.7)
    nats = dim**2 * gradient_channel.entry_information(PROBLEM)
    assert ceiling.largest_accuracy(nats, PROBLEM.vocab_size) == pytest.approx(0.7)


def test_information_is_that_of_a_gaussian_channel_for_each_entry_up_to_full_rank() -> None:
    observed = stats.norm(scale=math.sqrt(1 + gradient_channel.snr(PROBLEM)))
    entry = float(observed.entropy() - stats.norm().entropy())
    assert gradient_channel.entry_information(PROBLEM) == pytest.approx(entry)
    assert gradient_channel.information(PROBLEM) == pytest.approx(62**2 * entry)
    assert gradient_channel.information(PROBLEM.replace(dim=999)) == pytest.approx(255**2 * entry)


@pytest.mark.parametrize("samples", [300, 8192])
def test_counts_have_the_moments_of_the_binomial_law(samples: int) -> None:
    law = argmax_accuracy.counts(PROBLEM.replace(samples=samples))
    exact = stats.binom(samples, 1 / 256)
    load = samples / 256
    assert law.weights.sum() == pytest.approx(1)
    assert law.square == pytest.approx(exact.moment(2) / load**2)
    assert law.kurtosis * law.square**2 == pytest.approx(exact.moment(4) / load**4)
    # A label that was never seen is never guessed, so the number of these must be right, too.
    steep = float(law.weights @ np.exp(-law.shares))
    counts = np.arange(samples + 1)
    assert steep == pytest.approx(float(exact.pmf(counts) @ np.exp(-counts / load)), rel=1e-4)


def test_signal_to_noise_ratio_is_that_of_the_second_moments() -> None:
    size, load = 6, 3.0
    problem = Problem(vocab_size=size, length=5, samples=18, dim=2)
    maps = np.array(list(itertools.permutations(range(size))))
    signal = np.eye(size)[maps] - 1 / size
    covariance = np.einsum("pxk,pyl->xkyl", signal, signal) / len(maps)
    largest = np.linalg.eigvalsh(covariance.reshape(size**2, size**2))[-1]
    square, noise = 1 + 1 / load, (problem.length - 1) / problem.samples
    assert gradient_channel.snr(problem) == pytest.approx(square * largest / noise)


@pytest.mark.parametrize(("vocab_size", "length"), [(4, 2), (3, 3), (2, 4)])
def test_sample_information_by_enumeration(vocab_size: int, length: int) -> None:
    total = 0.0
    for tokens in itertools.product(range(vocab_size), repeat=length):
        counts = np.bincount(tokens, minlength=vocab_size)
        shares = counts[counts > 0] / length
        # That token x has the label shown becomes V c_x / L times as likely, whatever label it is.
        total += float(shares @ np.log(vocab_size * shares))
    problem = Problem(vocab_size=vocab_size, length=length, samples=1, dim=2)
    expected = total / vocab_size**length
    assert gradient_channel.sample_information(problem) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("law", "length", "dim", "simulated"),
    [
        (matched_filter.matched_filter_accuracy, 32, 254, 0.602),
        (matched_filter.matched_filter_accuracy, 32, 190, 0.503),
        (matched_filter.matched_filter_accuracy, 64, 254, 0.356),
        # Scores are hardly more than counts.
        (linear_mmse.linear_mmse_accuracy, 16, 254, 0.972),
        (linear_mmse.linear_mmse_accuracy, 32, 254, 0.918),
        (linear_mmse.linear_mmse_accuracy, 64, 254, 0.800),
    ],
)
def test_estimators_where_chance_meetings_are_skewed(
    law: Callable[[Problem], float], length: int, dim: int, simulated: float
) -> None:
    """``simulated``: means of 64 or 96 replicates, with standard errors of 0.001 to 0.003.

    At a length of 32, about one sequence with a given label contains a given token by chance, as a
    token that is not informative.
    """
    found = law(PROBLEM.replace(samples=2048, length=length, dim=dim))
    assert found == pytest.approx(simulated, abs=0.009)


@pytest.mark.parametrize(
    ("module", "accuracy", "hopeless"),
    [
        (linear_mmse, linear_mmse.linear_mmse_accuracy, 32),
        (matched_filter, matched_filter.matched_filter_accuracy, 40),
    ],
)
def test_critical_samples_give_half_accuracy(
    module: Any, accuracy: Callable[[Problem], float], hopeless: int
) -> None:
    problem = PROBLEM.replace(dim=96)
    enough = problem.replace(samples=round(module.critical_samples(problem)))
    assert accuracy(enough) == pytest.approx(0.5, abs=2e-3)
    below = PROBLEM.replace(dim=hopeless)  # the interference alone leaves less than half
    assert module.critical_samples(below) == math.inf
    easy = Problem(vocab_size=64, length=2, samples=64, dim=60)
    assert linear_mmse.critical_samples(easy) == 0.0  # one sample per token suffices


def test_half_samples_solve_half_dim_where_noise_limits() -> None:
    problem = Problem(vocab_size=10**6, length=10**5, samples=2, dim=10**5)
    needed = problem.replace(samples=round(gradient_capacity.half_samples(problem)))
    assert gradient_capacity.half_dim(needed) == pytest.approx(10**5, rel=0.002)


def test_tokens_explain_no_more_than_their_number_allows() -> None:
    rngs = generators(3, seed=1000)
    seen = feature_spectrum.shares(
        rngs, vocab_size=24, length=4, dim=4, width=12, activation="relu", sequences=16384
    )
    bound = width.largest_share(4)
    assert seen.leading.shape == seen.rest.shape == (3,)
    assert float(seen.leading.max()) < bound
    assert 0.3 * bound**2 < float(seen.rest.mean()) < 1.2 * bound**2
