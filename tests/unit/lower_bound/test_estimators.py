"""The two channels of information on the map from tokens to labels, and the estimators in `PANEL`.

The gradient channel shows the first gradient of training; the erasure channel shows the whole map
with some chance, or else nothing. Estimators guess the map from the gradient. Tests of exact
posteriors of the map, given the gradient or given the sequences, are here too.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch

from simulation.attention import sampling
from simulation.lower_bound import erasure_channel, gradient_channel
from simulation.lower_bound.estimators import (
    PANEL,
    cancellation,
    decoding,
    exact_arithmetic,
    exact_bayes,
    matched_filter,
    ridge,
    whitening,
)
from simulation.lower_bound.gradient_channel import Estimator, Observation, centred
from simulation.tiles import TILE_ELEMENTS
from tests.unit.draws import every_batch, generators
from theory.attention.problem import Problem
from theory.lower_bound.linear_mmse import linear_mmse_accuracy

SIZES: dict[str, Any] = {"vocab_size": 32, "length": 4, "samples": 512, "dim": 16}


def test_discrete_gradient_is_the_first_step_of_training() -> None:
    seen = gradient_channel.discrete(generators(3), **SIZES).observation
    batch = sampling.draw(generators(3), **SIZES)
    for r in range(3):
        table = torch.zeros(32, 32, dtype=torch.float64)
        for label, tokens in zip(batch.labels[r], batch.tokens[r], strict=True):
            table[label] += torch.bincount(tokens, minlength=32)
        expected = centred(batch.u)[r].mT @ table @ batch.z[r] / (512 * 4)
        torch.testing.assert_close(seen.gradient[r], expected)
    assert seen.label_counts is None


def test_one_step_decoding_takes_the_largest_score_of_the_matched_filter() -> None:
    seen = gradient_channel.discrete(generators(3), **SIZES)
    expected = decoding.greedy(matched_filter.scores(seen.observation))
    assert torch.equal(matched_filter.labels(seen.observation), expected)
    assert torch.equal(matched_filter.labels(seen.observation, queries=5), expected[:, :5])
    few = gradient_channel.estimator_accuracy(seen, partial(matched_filter.labels, queries=5))
    right = (expected == seen.permutation)[:, :5]
    assert torch.equal(few, right.double().mean(1))


def test_labels_in_tiles_are_those_of_the_largest_scores() -> None:
    observation = gradient_channel.discrete(generators(3), **SIZES).observation
    with patch.dict(TILE_ELEMENTS, cpu=96):
        few = ridge.labels(observation), ridge.linear_mmse_labels(observation)
    for labels, scores in zip(few, (ridge.scores, ridge.linear_mmse), strict=True):
        assert torch.equal(labels, decoding.greedy(scores(observation)))


def test_gaussian_noise_is_white_in_white_coordinates() -> None:
    seen = gradient_channel.gaussian(generators(400), **SIZES)
    observation = seen.observation
    white = whitening.whiten(observation)
    assert observation.label_counts is not None
    map_of = torch.nn.functional.one_hot(seen.permutation, 32).to(white.y.dtype)
    signal = map_of * (observation.label_counts / 16)[:, None]
    noise = white.y - white.project(signal)
    assert float(noise.var()) == pytest.approx(observation.noise_variance, rel=0.02)
    assert float((noise[:, 0, 0] * noise[:, 1, 1]).mean()) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("estimator", PANEL.values(), ids=PANEL)
def test_every_estimator_reads_an_easy_gradient(estimator: Estimator) -> None:
    # Interference stays with the matched filter however many samples there are.
    easy: dict[str, Any] = {"vocab_size": 32, "length": 2, "samples": 32 * 256, "dim": 31}
    seen = gradient_channel.discrete(generators(2), **easy)
    assert float(gradient_channel.estimator_accuracy(seen, estimator).mean()) > 0.5


def test_ridge_lies_between_linear_mmse_and_matched_filter() -> None:
    known = gradient_channel.gaussian(generators(2), **SIZES).observation
    none = ridge.scores(known, ridge=1e-9)
    torch.testing.assert_close(none, ridge.linear_mmse(known), rtol=1e-4, atol=1e-4)
    large = 1e6
    scores = ridge.scores(known, ridge=large) * (large * 32 / 16) ** 2
    filtered = centred(centred(matched_filter.scores(known)).mT).mT
    torch.testing.assert_close(scores, filtered, rtol=1e-4, atol=1e-4)


def test_one_round_of_cancellation_is_linear() -> None:
    observation = gradient_channel.discrete(generators(2), **SIZES).observation
    first = cancellation.scores(observation, rounds=1)
    torch.testing.assert_close(first, 4 * ridge.linear_mmse(observation))


def test_further_rounds_take_more_of_the_interference_away() -> None:
    """In 4096 other replicates a second round adds 0.1435 to the accuracy, and ten more add 0.0917.

    The standard deviations of these gains are 0.0456 and 0.0991. The difference of means of 256 and
    of 4096 replicates has a standard error of 0.0644 deviations. Each bound is four such errors.
    New streams would violate a bound once in 8,000 times.
    """
    seen = gradient_channel.gaussian(generators(256), vocab_size=64, length=4, samples=1024, dim=20)
    first, second, last = (
        (decoding.greedy(cancellation.scores(seen.observation, rounds=rounds)) == seen.permutation)
        .double()
        .mean()
        for rounds in (1, 2, 12)
    )
    assert float(second - first) == pytest.approx(0.1435, abs=0.0118)
    assert float(last - second) == pytest.approx(0.0917, abs=0.0256)


@pytest.mark.parametrize("channel", [gradient_channel.discrete, gradient_channel.gaussian])
def test_tiles_change_no_gradient(
    channel: Callable[..., gradient_channel.Instance], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = channel(generators(3), **SIZES).observation.gradient
    for tile in (1, 2 * SIZES["samples"] * SIZES["length"]):
        monkeypatch.setattr(gradient_channel, "TOKENS", tile)
        torch.testing.assert_close(channel(generators(3), **SIZES).observation.gradient, whole)


def test_a_map_that_is_not_revealed_is_guessed() -> None:
    found = [erasure_channel.guess(generators(400), vocab_size=5, chance=p) for p in (0.0, 0.5, 1)]
    shares = [float(guesses.accuracy.mean()) for guesses in found]
    assert shares == pytest.approx([0.2, 0.6, 1], abs=0.1)
    assert float(found[1].exact.mean()) == pytest.approx(0.5, abs=0.1)


def test_assignment_is_the_best_one_to_one_map() -> None:
    scores = torch.from_numpy(np.random.default_rng(1).standard_normal((4, 5, 5)))
    labels = decoding.assignment(scores)
    totals = scores.gather(2, labels[..., None]).sum((1, 2))
    maps = exact_bayes.every_map(5)
    best = scores[:, torch.arange(5), maps].sum(2).amax(1)
    torch.testing.assert_close(totals, best)
    assert torch.equal(labels.sort(1).values, torch.arange(5).expand(4, 5))
    assert torch.equal(decoding.greedy(scores), scores.argmax(2))


def test_posterior_is_that_of_the_correlated_gaussian_noise() -> None:
    """The test calculates the gradient's density from the explicit covariance of its entries."""
    sizes: dict[str, Any] = {"vocab_size": 4, "length": 6, "samples": 12, "dim": 2}
    observation = gradient_channel.gaussian(generators(3), **sizes).observation
    posterior = exact_bayes.posterior(observation)
    assert observation.label_counts is not None
    for r in range(3):
        u, z = centred(observation.u)[r].numpy(), centred(observation.z)[r].numpy()
        spread = observation.noise_variance / (6 * 4) ** 2
        covariance = spread * np.kron(u.T @ u, z.T @ z)
        logs = []
        for labels in posterior.maps.numpy():
            table = np.zeros((4, 4))
            table[labels, np.arange(4)] = observation.label_counts[r].numpy()[labels] / (12 * 6)
            rest = (observation.gradient[r].numpy() - u.T @ table @ z).ravel()
            logs.append(-rest @ np.linalg.solve(covariance, rest) / 2)
        chances = np.exp(np.array(logs) - max(logs))
        np.testing.assert_allclose(posterior.chances[r], chances / chances.sum(), atol=1e-9)


def test_posterior_information_is_none_or_everything_at_the_extremes() -> None:
    maps = exact_bayes.every_map(3)
    flat = exact_bayes.Posterior(maps=maps, chances=torch.full((1, 6), 1 / 6))
    sure = exact_bayes.Posterior(maps=maps, chances=torch.eye(6)[2:3])
    assert float(flat.information) == pytest.approx(0, abs=1e-6)
    assert float(sure.information) == pytest.approx(math.log(6))
    assert torch.equal(sure.labels[0], maps[2])


def test_posterior_of_one_sequence_is_proportional_to_the_occurrences() -> None:
    batch = sampling.draw(generators(8), vocab_size=4, length=3, samples=1, dim=2)
    posterior = exact_bayes.sample_posterior(batch)
    for r in range(8):
        tokens, label = batch.tokens[r, 0].tolist(), int(batch.labels[r, 0])
        hits = [sum(int(m[x]) == label for x in tokens) for m in posterior.maps]
        expected = np.array(hits) / sum(hits)
        np.testing.assert_allclose(posterior.chances[r], expected)


def tiny(count: int, vocab_size: int, samples: int) -> tuple[Observation, sampling.Batch]:
    sizes: dict[str, Any] = {"vocab_size": vocab_size, "length": 2, "samples": samples, "dim": 1}
    sizes["embeddings"] = "gaussian"
    seen = gradient_channel.discrete(generators(count), **sizes)
    return seen.observation, sampling.draw(generators(count), **sizes)


def table_of(tokens: np.ndarray, labels: np.ndarray, size: int) -> bytes:
    """Return the counts by label and token as bytes.

    From the counts of a token we subtract the least of them, because centring removes it.
    """
    table = np.zeros((size, size), dtype=np.int64)
    np.add.at(table, (np.repeat(labels, 2), tokens.ravel()), 1)
    return bytes((table - table.min(0)).tobytes())


@pytest.mark.parametrize(("size", "samples"), [(3, 2), (2, 4)])
def test_exact_arithmetic_is_bayes_rule_by_enumeration(size: int, samples: int) -> None:
    """The test takes every batch of sequences of two tokens, under every map. With four samples
    and two labels, a token can have counts under both labels. Centring removes their common part.
    """
    maps = exact_bayes.every_map(size)
    chances: dict[bytes, np.ndarray] = {}
    for index, labels in enumerate(maps):
        one = replace(tiny(1, size, samples)[1], permutation=labels[None])
        every = every_batch(one, length=2, samples=samples)
        for tokens, shown in zip(every.tokens.numpy(), every.labels.numpy(), strict=True):
            found = chances.setdefault(table_of(tokens, shown, size), np.zeros(len(maps)))
            found[index] += 1
    observation, seen = tiny(40, size, samples)
    guessed = exact_arithmetic.labels(observation).numpy()
    for r in range(40):
        weights = chances[table_of(seen.tokens[r].numpy(), seen.labels[r].numpy(), size)]
        marginals = np.array(
            [[weights @ (maps[:, x] == k).numpy() for k in range(size)] for x in range(size)]
        )
        picked = marginals[np.arange(size), guessed[r]]
        np.testing.assert_allclose(picked, marginals.max(1))


def test_different_tables_give_gradients_that_double_precision_tells_apart() -> None:
    observation, _ = tiny(20, 3, 2)
    assert float(exact_arithmetic.gap(observation).min()) > 1e-9


def test_linear_mmse_is_as_accurate_as_predicted_where_it_reads_nearly_all_of_the_map() -> None:
    """The formula would be 0.08 too high if it ignored the skewness of chance meetings.

    A token and a label meet by chance in a sequence where the token is not informative. The formula
    uses the law of the number of such meetings, given how many samples have the label.
    """
    sizes: dict[str, Any] = {"vocab_size": 256, "length": 256, "samples": 2048, "dim": 254}
    seen = gradient_channel.discrete(generators(16), **sizes)
    accuracy = gradient_channel.estimator_accuracy(seen, ridge.linear_mmse_labels)
    spread = float(accuracy.std()) / 4
    predicted = linear_mmse_accuracy(Problem(**sizes))
    assert spread < 0.009
    assert float(accuracy.mean()) == pytest.approx(predicted, abs=0.015 + 2 * spread)
