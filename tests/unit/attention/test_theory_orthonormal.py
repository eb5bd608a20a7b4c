"""theory.attention.orthonormal, compared with enumeration and a plain simulation of counts."""

import itertools

import numpy as np
import pytest

from theory.attention import noise, orthonormal, signal
from theory.attention.problem import Problem


def problem(**changes: int) -> Problem:
    sizes = {"vocab_size": 64, "length": 8, "samples": 12, "dim": 66} | changes
    return Problem(**sizes, embeddings="orthonormal")  # type: ignore[arg-type]


@pytest.mark.parametrize("trigger_in_values", [False, True])
def test_trigger_law_has_the_exact_mean_signal(trigger_in_values: bool) -> None:
    p = problem(vocab_size=128, length=16, samples=16, dim=130)
    p = p.replace(trigger_in_values=trigger_in_values)
    values, weights = orthonormal._trigger_law(orthonormal._sizes(p))
    exact = signal.trigger_signal(p) * (p.samples * p.length) ** 2
    assert float(values @ weights) == pytest.approx(exact, rel=0.05)


def test_large_counts_have_the_variance_of_the_noise_terms() -> None:
    large = problem(vocab_size=1024, length=64, samples=64, dim=1026)
    assert orthonormal.variance(large) == pytest.approx(noise.variance(large), rel=0.05)


@pytest.mark.parametrize(("samples", "trigger_in_values"), [(4, False), (7, True)])
def test_recall_by_enumeration(samples: int, trigger_in_values: bool) -> None:
    size, right = 3, []
    for tokens in itertools.product(range(size), repeat=samples):
        counts = np.bincount(tokens, minlength=size)
        # A token's own label scores its count, or twice it next to the counts of all others.
        scores = counts + np.diag(counts) if trigger_in_values else np.diag(counts)
        best = scores.max(1)
        won = np.diagonal(scores) == best
        right.append(np.mean(won / (scores == best[:, None]).sum(1)))
    p = problem(vocab_size=size, length=2, samples=samples, dim=8)
    found = orthonormal.recall(p.replace(trigger_in_values=trigger_in_values))
    assert found == pytest.approx(np.mean(right))
