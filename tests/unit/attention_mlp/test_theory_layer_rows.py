"""What the rows of a random layer add to the attention step, against the simulated three steps."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from recall_claims.judge.methods import Betting, Student
from simulation.attention import localisation as simulated_localisation
from simulation.attention_mlp import three_steps as mlp
from theory.attention import noise_terms, signal
from theory.attention_mlp import localisation, noise
from theory.attention_mlp.problem import MlpProblem

WIDE = 2**30
CENTRED_TRIGGER = MlpProblem(
    vocab_size=1234,
    dim=62,
    length=48,
    width=65,
    samples=1200,
    activation="tanh",
    trigger_in_values=True,
    centred=True,
)
SMALL = MlpProblem(
    vocab_size=400, dim=25, length=12, width=31, samples=500, activation="x+x2", centred=True
)


def simulated(
    problem: MlpProblem, replicates: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Localisation probabilities of replicates, and variances of scores, units s_0^2."""
    found, variances = [], []
    for r in range(replicates):
        batch, layer = mlp.draw(
            [np.random.default_rng([14, r])],
            vocab_size=problem.vocab_size,
            length=problem.length,
            samples=problem.samples,
            dim=problem.dim,
            width=problem.width,
            activation=problem.activation,
            trigger_in_values=problem.trigger_in_values,
        )
        scores = mlp.token_scores(batch, layer, centred=problem.centred)
        found.append(float(simulated_localisation.probability(scores, length=problem.length)))
        variances.append(float(scores.theta.var()))
    return np.array(found), np.array(variances) / signal.signal_unit(problem) ** 2


@pytest.mark.parametrize(
    ("problem", "replicates"),
    [
        (CENTRED_TRIGGER, 300),
        (SMALL.replace(trigger_in_values=True), 600),
        # Pairs of one label store half of the rows' bias.
        (
            SMALL.replace(
                vocab_size=256, dim=32, length=32, width=8, samples=4000, activation="relu"
            ),
            400,
        ),
        # Rows that overlap with the trigger move its signal and its own noise together.
        (
            SMALL.replace(
                vocab_size=715,
                dim=65,
                length=30,
                width=43,
                samples=395,
                activation="0.3he1+he2+he3",
                trigger_in_values=True,
                centred=False,
            ),
            500,
        ),
    ],
)
def test_localisation_and_variance_are_within_their_stated_errors(
    problem: MlpProblem, replicates: int
) -> None:
    found, variances = simulated(problem, replicates)
    rate = Betting().bounds(found, 1e-3)
    assert rate.low - 0.02 < localisation.probability(problem) < rate.high + 0.02
    variance = Student().bounds(variances, 1e-3)
    assert 0.9 * variance.low < noise.variance(problem) < 1.1 * variance.high


@pytest.mark.parametrize("samples", [500, 2000])
def test_centred_residuals_do_not_see_a_trigger_in_linear_values(samples: int) -> None:
    """The residuals add up to 0, so what all values share is never stored and never read."""
    plain = CENTRED_TRIGGER.replace(
        activation="identity", width=WIDE, samples=samples, trigger_in_values=False
    )
    shared = plain.replace(trigger_in_values=True)
    assert noise.coefficient_variance(shared) == pytest.approx(
        noise.coefficient_variance(plain), rel=1e-6
    )
    other = noise_terms.trigger_reads_contexts(shared)
    terms = noise.terms(shared)
    assert terms["H"] == pytest.approx(noise.terms(plain)["H"] + other, rel=1e-6)


def test_coefficient_of_rows_is_an_average_over_tokens() -> None:
    """Var of the mean over tokens of z A z, A = W^T W / m, and not of one token's."""
    problem = CENTRED_TRIGGER.replace(
        vocab_size=2**20, samples=2**40, activation="identity", width=8, trigger_in_values=False
    )
    dim, width = problem.dim, problem.width
    rng = np.random.default_rng(3)
    traces = (rng.standard_normal((20_000, width, dim)) ** 2).sum((1, 2)) / (width * dim)
    # As much again comes from tokens of different labels, 2 tr A^2 / d^3.
    expected = 2 * 2 / (width * dim)
    assert traces.var() == pytest.approx(expected / 2, rel=0.1)
    assert noise.coefficient_variance(problem) == pytest.approx(expected, rel=0.01)


def test_the_bias_of_a_layer_does_not_vanish_with_the_samples() -> None:
    """Samples of one label store b_1 b_2 / L^2 each along every row."""
    problem = SMALL.replace(centred=False, samples=2**40, vocab_size=2**12)
    expected = problem.load * 2 / problem.length**2
    assert noise.coefficients(problem).bias == pytest.approx(expected, rel=1e-3)
    assert noise.terms(problem)["M0"] > 0.9 * noise.terms(problem.replace(samples=2**39))["M0"]


def test_moments_of_the_overlap_with_the_trigger() -> None:
    """Var of h L x E[phi phi' | x] over rows, by quadrature over x, for x + x^2."""
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
