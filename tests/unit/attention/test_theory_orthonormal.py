"""theory.attention.orthonormal against enumeration and a plain simulation of its counts."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from theory.attention import noise, orthonormal, signal
from theory.attention.problem import Problem


def problem(**changes: int) -> Problem:
    sizes = {"vocab_size": 64, "length": 8, "samples": 12, "dim": 66} | changes
    return Problem(**sizes, embeddings="orthonormal")  # type: ignore[arg-type]


def scores(rng: np.random.Generator, p: Problem) -> tuple[NDArray[np.float64], float]:
    """Token and trigger scores in units 1/(NL)^2, from their definition as double sums."""
    V, L, N = p.vocab_size, p.length, p.samples
    tau = float(p.trigger_in_values)
    tokens = rng.integers(V, size=(N, L))
    counts = np.zeros((N, V))
    np.add.at(counts, (np.arange(N)[:, None], tokens), 1.0)
    informative = tokens[:, 0]
    shared = (informative[:, None] == informative) - 1 / V
    overlap = (counts @ counts.T + tau) / L
    theta = np.einsum("ij,iv,jv->v", shared, counts, counts)
    theta += tau * np.bincount(informative, shared.sum(1), V)
    theta -= np.einsum("ij,iv,ij->v", shared, counts, overlap)
    trigger = np.sum(shared * (counts[:, informative].T + tau - overlap))
    return theta, float(trigger)


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "trigger in values"])
def sampled(
    request: pytest.FixtureRequest,
) -> tuple[Problem, list[tuple[NDArray[np.float64], float]]]:
    rng = np.random.default_rng(3)
    p = problem(vocab_size=128, length=16, samples=16, dim=130).replace(
        trigger_in_values=request.param
    )
    return p, [scores(rng, p) for _ in range(1500)]


def test_localisation_is_that_of_the_counts(
    sampled: tuple[Problem, list[tuple[NDArray[np.float64], float]]],
) -> None:
    p, drawn = sampled
    found = []
    for theta, trigger in drawn:
        below = np.searchsorted(np.sort(theta), theta + trigger) / p.vocab_size
        found.append(np.mean(below ** (p.length - 1)))
    sampling_error = 4 * np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - orthonormal.localisation(p)) < 0.04 + sampling_error


def test_variance_is_that_of_the_counts(
    sampled: tuple[Problem, list[tuple[NDArray[np.float64], float]]],
) -> None:
    p, drawn = sampled
    unit = signal.signal_unit(p) * (p.samples * p.length) ** 2
    found = np.mean([theta.var() for theta, _ in drawn]) / unit**2
    assert found == pytest.approx(orthonormal.variance(p), rel=0.1)


def test_variance_counts_the_mean_over_labels() -> None:
    rng = np.random.default_rng(4)
    p = problem(vocab_size=128, samples=128, dim=130).replace(trigger_in_values=True)
    found = np.array([scores(rng, p)[0].var() for _ in range(200)])
    unit = signal.signal_unit(p) * (p.samples * p.length) ** 2
    sampling_error = 4 * found.std() / np.sqrt(found.size)
    assert (
        abs(found.mean() - orthonormal.variance(p) * unit**2) < 0.1 * found.mean() + sampling_error
    )


def test_scores_of_all_tokens_cancel() -> None:
    for trigger_in_values in (False, True):
        p = problem(samples=16).replace(trigger_in_values=trigger_in_values)
        values, weights = orthonormal._token_law(orthonormal._sizes(p))
        assert abs(float(weights @ values)) < 0.02 * float(weights @ values**2) ** 0.5


def test_trigger_law_has_the_exact_mean_signal(
    sampled: tuple[Problem, list[tuple[NDArray[np.float64], float]]],
) -> None:
    p, _ = sampled
    values, weights = orthonormal._trigger_law(orthonormal._sizes(p))
    exact = signal.trigger_signal(p) * (p.samples * p.length) ** 2
    assert float(values @ weights) == pytest.approx(exact, rel=0.05)


def test_laws_are_normalised_and_sorted() -> None:
    values, weights = orthonormal._token_law(orthonormal._sizes(problem()))
    assert weights.sum() == pytest.approx(1)
    assert (np.diff(values) > 0).all()


def test_dimension_plays_no_part() -> None:
    near, far = problem(), problem(dim=4096)
    assert orthonormal.localisation(near) == orthonormal.localisation(far)
    assert orthonormal.variance(near) == orthonormal.variance(far)
    assert orthonormal.recall(near) == orthonormal.recall(far)


def test_localisation_sets_in_with_collisions() -> None:
    chances = [orthonormal.localisation(problem(samples=n)) for n in (4, 8, 16, 32, 64)]
    assert chances == sorted(chances)
    assert chances[-1] > 0.99
    assert orthonormal.localisation(problem(length=16)) < orthonormal.localisation(problem())


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


@pytest.mark.parametrize(("size", "samples"), [(64, 256), (60, 300)])
def test_recall_with_the_trigger_in_the_values_needs_half_of_the_largest_count(
    size: int, samples: int
) -> None:
    rng = np.random.default_rng(2)
    counts = rng.multinomial(samples, np.full(size, 1 / size), size=4000)
    best = counts.max(1, keepdims=True)
    tied = 2 * counts == best
    share = ((2 * counts > best) + tied / (1 + (counts == best).sum(1, keepdims=True))).mean(1)
    p = problem(vocab_size=size, samples=samples).replace(trigger_in_values=True)
    assert abs(share.mean() - orthonormal.recall(p)) < 4 * share.std() / np.sqrt(4000)
