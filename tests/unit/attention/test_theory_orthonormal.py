"""theory.attention.orthonormal against enumeration and a plain simulation of its counts."""

import itertools

import numpy as np
import pytest

from theory.attention import noise, orthonormal, signal
from theory.attention.problem import Problem


def problem(**changes: int) -> Problem:
    sizes = {"vocab_size": 64, "length": 8, "samples": 12, "dim": 66} | changes
    return Problem(**sizes, embeddings="orthonormal")  # type: ignore[arg-type]


def test_scores_of_all_tokens_cancel() -> None:
    for trigger_in_values in (False, True):
        p = problem(samples=16).replace(trigger_in_values=trigger_in_values)
        values, weights = orthonormal._token_law(orthonormal._sizes(p))
        assert abs(float(weights @ values)) < 0.02 * float(weights @ values**2) ** 0.5


@pytest.mark.parametrize("trigger_in_values", [False, True])
def test_trigger_law_has_the_exact_mean_signal(trigger_in_values: bool) -> None:
    p = problem(vocab_size=128, length=16, samples=16, dim=130)
    p = p.replace(trigger_in_values=trigger_in_values)
    values, weights = orthonormal._trigger_law(orthonormal._sizes(p))
    exact = signal.trigger_signal(p) * (p.samples * p.length) ** 2
    assert float(values @ weights) == pytest.approx(exact, rel=0.05)


def test_laws_are_normalised_and_sorted() -> None:
    values, weights = orthonormal._token_law(orthonormal._sizes(problem()))
    assert weights.sum() == pytest.approx(1)
    assert (np.diff(values) > 0).all()


def test_large_counts_have_the_variance_of_the_noise_terms() -> None:
    large = problem(vocab_size=1024, length=64, samples=64, dim=1026)
    assert orthonormal.variance(large) == pytest.approx(noise.variance(large), rel=0.05)


def test_recall_is_coverage_and_a_guess_by_enumeration() -> None:
    size, samples = 3, 4
    right = []
    for tokens in itertools.product(range(size), repeat=samples):
        seen = len(set(tokens))
        right.append((seen + (size - seen) / size) / size)
    p = problem(vocab_size=size, length=2, samples=samples, dim=8)
    assert orthonormal.recall(p) == pytest.approx(np.mean(right))


def test_recall_with_the_trigger_in_the_values_by_enumeration() -> None:
    size, samples = 3, 7
    right = []
    for tokens in itertools.product(range(size), repeat=samples):
        counts = np.bincount(tokens, minlength=size)
        # A token's own label scores twice its count, every other label its count.
        scores = counts + np.diag(counts)
        best = scores.max(1)
        won = np.diagonal(scores) == best
        right.append(np.mean(won / (scores == best[:, None]).sum(1)))
    p = problem(vocab_size=size, length=2, samples=samples, dim=8).replace(trigger_in_values=True)
    assert orthonormal.recall(p) == pytest.approx(np.mean(right))
