"""The noise decomposition of token scores is exact, and every piece has its named properties."""

import itertools
from dataclasses import asdict, replace
from functools import cache

import pytest
import torch
from hypothesis import given, settings

from simulation.attention import noise_decomposition, sampling, three_steps
from simulation.attention.noise_decomposition import PIECES, decompose
from simulation.attention.sampling import Batch
from tests.unit.draws import batches, every_batch, generators
from theory.attention import noise_terms, signal
from theory.attention.problem import Problem

BATCHES = batches(most=(12, 6, 12, 8))


@given(batch=BATCHES)
@settings(deadline=None, max_examples=40)
def test_pieces_add_up_to_the_scores(batch: Batch) -> None:
    theta = three_steps.token_scores(batch).theta
    total = torch.stack(list(decompose(batch).values())).sum(0)
    scale = float(theta.abs().max()) + 1 / (batch.length**2 * batch.vocab_size)
    assert float((total - theta).abs().max()) < 1e-11 * scale


def every(trigger_in_values: bool) -> Batch:
    """Make all sets of two samples of length 3 over 3 tokens, with fixed embeddings."""
    sizes = sampling.draw(
        generators(1), vocab_size=3, length=3, samples=2, dim=4, embeddings="gaussian"
    )
    template = replace(sizes, trigger_in_values=trigger_in_values)
    return every_batch(template, length=3, samples=2)


@cache
def every_decomposition(trigger_in_values: bool) -> dict[str, torch.Tensor]:
    return decompose(every(trigger_in_values))


@pytest.mark.parametrize("trigger_in_values", [False, True])
def test_context_pieces_have_mean_zero_over_all_data(trigger_in_values: bool) -> None:
    """Each term of B, C and C2 has a factor of mean zero from a context. Where C multiplies two
    factors from the same context, the expectation of their product is subtracted."""
    pieces = every_decomposition(trigger_in_values)
    for name in ("B", "C", "C2"):
        spread = float(pieces[name].std(0).max())
        assert float(pieces[name].mean(0).abs().max()) < 1e-12 * spread


def test_context_pieces_are_uncorrelated_with_pieces_of_informative_tokens() -> None:
    """Contexts have mean zero given the informative tokens, so B, C and C2 are uncorrelated, over
    all data, with the pieces that depend on the informative tokens alone."""
    pieces = every_decomposition(trigger_in_values=False)
    for context, other in itertools.product(("B", "C", "C2"), ("A", "D", "H")):
        product = (pieces[context] * (pieces[other] - pieces[other].mean(0))).mean(0)
        scale = pieces[context].std(0) * pieces[other].std(0)
        assert float((product / scale).abs().max()) < 1e-9


def test_trigger_coefficient_noise_is_the_distance_from_the_weight_at_infinite_n() -> None:
    """Over all data the mean weight is linear in 1/N, so N = 1 and N = 2 give its limit."""
    two = every(trigger_in_values=False)
    one = every_batch(two[:1], length=3, samples=1)
    weights, single = (
        (decompose(batch, ("T",))["T"] / (batch.z @ batch.trigger[:, :, None])[..., 0])[:, 0]
        for batch in (two, one)
    )
    limit = 2 * weights.mean() - single.mean()
    found = weights - noise_decomposition.trigger_coefficient_noise(two)
    torch.testing.assert_close(found, limit.expand_as(found))


def test_the_trigger_coefficient_varies_as_stated_with_the_trigger_in_the_values() -> None:
    """The last three `trigger_coefficient_parts` add to the variance a quarter of the others' sum.

    The variance of 2,000 draws errs by 3%.
    """
    problem = Problem(vocab_size=301, length=11, samples=131, dim=35, trigger_in_values=True)
    draws = sampling.draw(generators(2000), **asdict(problem))
    found = noise_decomposition.trigger_coefficient(draws).var()
    stated = noise_terms.trigger_coefficient_variance(problem) * signal.signal_unit(problem) ** 2
    assert float(found) == pytest.approx(stated, rel=0.1)


def test_the_trigger_in_the_values_joins_contexts_and_its_own_memory() -> None:
    """The pieces B and H covary. So do the trigger's coefficient and the rest of its score."""
    problem = Problem(vocab_size=150, length=11, samples=66, dim=12, trigger_in_values=True)
    draws, unit = sampling.draw(generators(300), **asdict(problem)), signal.signal_unit(problem)
    found = 2 * noise_decomposition.covariance(draws, "B", "H").mean() / unit**2
    assert float(found) == pytest.approx(noise_terms.context_covariance(problem), rel=0.2)
    weight = noise_decomposition.trigger_coefficient(draws)
    collected = three_steps.token_scores(draws).trigger - weight
    both = torch.cov(torch.stack([weight, collected]) / unit)[0, 1]
    assert float(both) == pytest.approx(noise_terms.trigger_covariance(problem), rel=0.3)
    plain = problem.replace(trigger_in_values=False)
    assert noise_terms.context_covariance(plain) == noise_terms.trigger_covariance(plain) == 0


def test_variances_and_covariance_are_those_of_the_pieces() -> None:
    batch = sampling.draw(generators(3), vocab_size=9, length=4, samples=10, dim=5)
    pieces = decompose(batch)
    variances = noise_decomposition.variances(batch)
    assert list(variances) == list(PIECES)
    both = (pieces["D"] + pieces["H"]).var(dim=1) - variances["D"] - variances["H"]
    found = 2 * noise_decomposition.covariance(batch, "D", "H")
    assert torch.allclose(found, both, rtol=1e-6, atol=0.0)


def test_replicates_are_decomposed_in_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = sampling.draw(generators(5), vocab_size=6, length=3, samples=8, dim=4)
    whole = decompose(batch)
    monkeypatch.setattr(noise_decomposition, "_TILE", 2 * batch.vocab_size**2)
    for name, piece in decompose(batch).items():
        torch.testing.assert_close(piece, whole[name])
