"""Contribution of a random layer's rows to the attention step, compared with simulated steps."""

import math

import numpy as np
import pytest

from theory.attention import noise_terms
from theory.attention_mlp import noise
from theory.attention_mlp.problem import MlpProblem

WIDE = 2**30
SMALL = MlpProblem(
    vocab_size=400, dim=25, length=12, width=31, samples=500, activation="x+x2", centred=True
)
CENTRED = SMALL.replace(vocab_size=1234, dim=62, length=48, width=65, activation="tanh")


@pytest.mark.parametrize("samples", [500, 2000])
def test_centred_residuals_do_not_see_a_trigger_in_linear_values(samples: int) -> None:
    """The residuals add up to 0, so the common part of all values is never stored or read."""
    plain = CENTRED.replace(activation="identity", width=WIDE, samples=samples)
    shared = plain.replace(trigger_in_values=True)
    assert noise.coefficient_variance(shared) == pytest.approx(
        noise.coefficient_variance(plain), rel=1e-6
    )
    other = noise_terms.trigger_reads_contexts(shared)
    terms = noise.terms(shared)
    assert terms["H"] == pytest.approx(noise.terms(plain)["H"] + other, rel=1e-6)


def test_coefficient_of_rows_is_an_average_over_tokens() -> None:
    """The variance is taken of the mean of z A z over tokens, A = W^T W / m, not of one token."""
    problem = CENTRED.replace(vocab_size=2**20, samples=2**40, activation="identity", width=8)
    dim, width = problem.dim, problem.width
    rng = np.random.default_rng(3)
    traces = (rng.standard_normal((20_000, width, dim)) ** 2).sum((1, 2)) / (width * dim)
    # As much again comes from tokens of different labels, 2 tr A^2 / d^3.
    expected = 2 * 2 / (width * dim)
    assert traces.var() == pytest.approx(expected / 2, rel=0.1)
    assert noise.coefficient_variance(problem) == pytest.approx(expected, rel=0.01)


def test_the_bias_of_a_layer_does_not_vanish_with_the_samples() -> None:
    """Each other sample of a label adds b_1 b_2 / L^2 to the drift stored along every row."""
    problem = SMALL.replace(centred=False, samples=2**40, vocab_size=2**12)
    expected = problem.load * 2 / problem.length**2
    assert noise.coefficients(problem).bias == pytest.approx(expected, rel=1e-3)
    assert noise.terms(problem)["M0"] > 0.9 * noise.terms(problem.replace(samples=2**39))["M0"]


def test_moments_of_the_overlap_with_the_trigger() -> None:
    """The test has the variance over rows of h L x E[phi phi' | x], by quadrature, for x + x^2."""
    problem = SMALL.replace(centred=False, trigger_in_values=True, dim=2**20, samples=4)
    length = problem.length
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    weights = weights / weights.sum()
    spread = problem.local.scale**2 - length**-2
    shifted = nodes / length
    mean = shifted + 3 * (shifted**2 + spread) + 2 * (shifted**3 + 3 * shifted * spread)
    values = length * nodes * mean / problem.load
    variance = float(weights @ values**2 - (weights @ values) ** 2)
    assert noise._row_variance(problem) == pytest.approx(variance, rel=0.03)
    assert math.isfinite(noise.bias_covariance(problem))
