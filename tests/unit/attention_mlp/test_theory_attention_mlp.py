"""Limits, identities and errors of the Attention-MLP theory, and a layer's rows by simulation."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from recall_claims import Cell
from simulation.attention_mlp import three_steps
from tests.unit.draws import generators, unit_vectors
from theory.attention import critical, noise, noise_terms, recall, signal
from theory.attention.problem import Problem
from theory.attention_mlp import localisation as mlp_localisation
from theory.attention_mlp import noise as mlp_noise
from theory.attention_mlp import phase_diagram
from theory.attention_mlp import recall as mlp_recall
from theory.attention_mlp.problem import MlpProblem

SIZES: dict[str, Any] = {"vocab_size": 256, "length": 16, "samples": 1024, "dim": 32}
WIDE = 2**30


def problem(**changes: object) -> MlpProblem:
    return MlpProblem.of({**SIZES, "width": 128, "activation": "tanh", **changes})


@pytest.mark.parametrize("trigger_in_values", [False, True])
def test_a_wide_linear_layer_is_no_layer(trigger_in_values: bool) -> None:
    layer = problem(activation="identity", width=WIDE, trigger_in_values=trigger_in_values)
    plain = Problem(**SIZES, trigger_in_values=trigger_in_values)
    assert mlp_noise.trigger_signal(layer) == pytest.approx(signal.trigger_signal(plain), rel=1e-2)
    assert mlp_noise.variance(layer) == pytest.approx(noise.variance(plain), rel=1e-2)
    if not trigger_in_values:
        samples = critical.critical_samples_full(plain.replace(length=32))
        found = mlp_localisation.critical_samples(layer.replace(length=32))
        assert found == pytest.approx(samples, rel=0.03)
        expected = recall.recall_accuracy(plain.replace(samples=4096))
        recalled = mlp_recall.mlp_recall_accuracy(layer.replace(samples=4096))
        assert recalled == pytest.approx(expected, abs=5e-3)


def test_largest_competitor_of_embeddings_by_draws() -> None:
    """Competitors' scores are Gram matrices times normal numbers."""
    size, dim = 200, 24
    rng, largest = np.random.default_rng(6), []
    for _ in range(2000):
        u = unit_vectors(rng, size - 1, dim)
        scores = u @ (rng.standard_normal(size - 1) @ u)
        largest.append(scores.max() / np.sqrt((scores**2).mean()))
    found = mlp_recall._beta_squared(size, dim)
    assert found == pytest.approx(np.median(largest) ** 2, rel=0.05)


def test_other_overlaps_of_a_token_with_large_features_by_hand() -> None:
    """ReLU has E phi^k = 1/sqrt(2 pi), 1/2, 2/sqrt(2 pi) and 3/2 for k = 1, 2, 3 and 4."""
    slope = (2 / (2 * math.pi) - 1 / (2 * math.pi) / 2) / (1 / 2)
    power = (3 / 2) / (1 / 2) ** 2 - 1
    assert mlp_recall.kernel("relu", 64).leverage == pytest.approx(slope / power, rel=1e-6)


@pytest.mark.parametrize("skewness", [0.0, 0.1, 0.5])
def test_skewed_scores_have_the_normal_ones_of_the_same_probability(skewness: float) -> None:
    scores = np.linspace(-1, 4, 11)
    law = stats.pearson3(skewness)
    found = mlp_recall._unskewed(scores, np.full(11, skewness))
    assert found == pytest.approx(stats.norm.ppf(law.cdf(scores)), abs=0.3 * skewness**2 + 1e-9)


def test_critical_values_invert_one_another() -> None:
    setting = problem(activation="he2", dim=24, vocab_size=128)
    width = mlp_recall.critical_width(setting.replace(samples=1024))
    samples = mlp_recall.critical_samples(setting.replace(width=round(width)))
    assert samples == pytest.approx(1024, rel=0.02)


def test_impossible_settings_are_infinite() -> None:
    hopeless = problem(activation="relu", dim=12)
    assert math.isinf(mlp_recall.critical_width(hopeless))
    assert math.isinf(mlp_recall.critical_samples(hopeless.replace(width=WIDE)))
    assert math.isinf(phase_diagram.localisation_width(problem(length=200, samples=256)))


@pytest.mark.parametrize(
    ("changes", "condition"),
    [
        ({"samples": 64}, "coverage"),
        ({"activation": "he3", "samples": 2048}, "recall"),
        ({"activation": "relu", "samples": 2048, "dim": 16}, "recall cap"),
        ({"activation": "he3", "length": 100, "dim": 48}, "mean bias"),
        ({"activation": "he3", "length": 64, "centred": True}, "recall"),
        ({"activation": "0.3he1+he2+he3", "length": 64, "samples": 256}, "gradient noise"),
        ({"activation": "0.3he1+he2+he3", "length": 64, "dim": 48}, "MLP noise"),
    ],
)
def test_binding_condition(changes: dict[str, object], condition: str) -> None:
    setting = problem(**changes)
    assert phase_diagram.binding(setting) == condition
    widths = {
        "recall": mlp_recall.critical_width(setting),
        "MLP noise": phase_diagram.localisation_width(setting),
    }
    needed = phase_diagram.needed_width(setting)
    assert needed == (max(widths.values()) if condition in widths else math.inf)
    assert needed == widths.get(condition, math.inf)


@pytest.mark.parametrize(("vocab_size", "samples", "dim"), [(355, 1686, 188), (320, 1327, 116)])
def test_a_layer_much_narrower_than_the_embeddings_is_no_case_of_the_critical_width(
    vocab_size: int, samples: int, dim: int
) -> None:
    """At these sizes, outside the regime, recalling half takes 1.35 times the predicted width."""
    sizes: dict[str, Any] = {"vocab_size": vocab_size, "samples": samples, "activation": "he2"}
    assert mlp_recall.WIDTH.why_outside(Cell(**sizes, dim=dim, width=1)) is not None
    assert mlp_recall.WIDTH.why_outside(Cell(**sizes, dim=60, width=1)) is None


def test_such_a_layer_is_no_case_of_the_capacity() -> None:
    """At the first size, outside the regime, the capacity is below 0.88 of the prediction."""
    narrow = Cell(activation="he2", dim=132, width=39)
    assert mlp_recall.CAPACITY.why_outside(narrow) is not None
    assert mlp_recall.CAPACITY.why_outside(narrow.replace(dim=54)) is None


SMALL = MlpProblem(
    vocab_size=400, dim=25, length=12, width=31, samples=500, activation="x+x2", centred=True
)
CENTRED = SMALL.replace(vocab_size=1234, dim=62, length=48, width=65, activation="tanh")


@pytest.mark.parametrize("samples", [500, 2000])
def test_centred_residuals_do_not_see_a_trigger_in_linear_values(samples: int) -> None:
    """The residuals add up to 0, so the common part of all values is never stored or read.

    Only contexts that overlap with the trigger add a part to the term H.
    """
    plain = CENTRED.replace(activation="identity", width=WIDE, samples=samples)
    shared = plain.replace(trigger_in_values=True)
    assert mlp_noise.coefficient_variance(shared) == pytest.approx(
        mlp_noise.coefficient_variance(plain), rel=1e-6
    )
    other = noise_terms.trigger_reads_contexts(shared)
    terms = mlp_noise.terms(shared)
    assert terms["H"] == pytest.approx(mlp_noise.terms(plain)["H"] + other, rel=1e-6)


def test_coefficient_of_rows_is_an_average_over_tokens() -> None:
    """The formula gives the variance of the mean of z^T A z over tokens, where A = W^T W / m.

    It does not give the variance of z^T A z for a single token.
    """
    problem = CENTRED.replace(vocab_size=2**20, samples=2**40, activation="identity", width=8)
    dim, width = problem.dim, problem.width
    rng = np.random.default_rng(3)
    traces = (rng.standard_normal((20_000, width, dim)) ** 2).sum((1, 2)) / (width * dim)
    # As much again comes from tokens of different labels, 2 tr A^2 / d^3.
    expected = 2 * 2 / (width * dim)
    assert traces.var() == pytest.approx(expected / 2, rel=0.1)
    assert mlp_noise.coefficient_variance(problem) == pytest.approx(expected, rel=0.01)


def test_the_bias_of_a_layer_does_not_vanish_with_the_samples() -> None:
    """Every further sample of a label adds b_1 b_2 / L^2 to `bias` of `mlp_noise.Coefficients`.

    `bias` is the drift stored along a row of the layer. The activation's mean derivatives are
    b_1 = 1 and b_2 = 2, and L is the length.
    """
    problem = SMALL.replace(centred=False, samples=2**40, vocab_size=2**12)
    expected = problem.load * 2 / problem.length**2
    assert mlp_noise.coefficients(problem).bias == pytest.approx(expected, rel=1e-3)
    assert (
        mlp_noise.terms(problem)["M0"] > 0.9 * mlp_noise.terms(problem.replace(samples=2**39))["M0"]
    )


def test_moments_of_the_overlap_with_the_trigger() -> None:
    """The test works out the variance over rows of (V/N) L x E[phi phi' | x] for phi(y) = y + y^2.

    Here x is the overlap of a row with the trigger, and y has the mean x/L.
    """
    problem = SMALL.replace(centred=False, trigger_in_values=True, dim=2**20, samples=4)
    length = problem.length
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    weights = weights / weights.sum()
    spread = problem.local.scale**2 - length**-2
    shifted = nodes / length
    mean = shifted + 3 * (shifted**2 + spread) + 2 * (shifted**3 + 3 * shifted * spread)
    values = length * nodes * mean / problem.load
    variance = float(weights @ values**2 - (weights @ values) ** 2)
    assert mlp_noise._row_variance(problem) == pytest.approx(variance, rel=0.03)


def test_covariance_of_the_overlap_with_the_mean_row_by_hand() -> None:
    """With the activation x + x^2 a sample stores (L^2/N) psi X w. Here psi is the drift stored
    along a row, w the mean row, and X sums z z^T over V tokens. The covariance is the factor
    (L^2/N) psi times V/(d m) times the trigger's coefficient, psi V L/N + 2 b_1 b_2/L.

    The activation's mean derivatives are b_1 = 1 and b_2 = 2. The sample itself adds 3 times
    `square` to psi, and each other sample of its label adds 2/L^2.
    """
    v, n, d, m, length = 700, 9000, 2**20, 31, 50
    problem = SMALL.replace(centred=False, trigger_in_values=True, dim=d, width=m)
    problem = problem.replace(vocab_size=v, samples=n, length=length)
    square = 1 / length + (1 - 1 / length) / v + 1 / length**2
    psi = 3 * square + n / v * 2 / length**2
    expected = (length**2 / n * psi) * (psi * v * length / n + 4 / length) * v / (d * m)
    assert mlp_noise.bias_covariance(problem) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("trigger_in_values", [False, True])
def test_variance_through_few_neurons(trigger_in_values: bool) -> None:
    """At eight neurons the layer's own terms are over half of the variance.

    The variance has a stated error of 12%.
    """
    sizes: dict[str, Any] = {"vocab_size": 600, "length": 48, "samples": 1800, "dim": 24}
    sizes |= {"width": 8, "activation": "tanh", "trigger_in_values": trigger_in_values}
    setting = MlpProblem.of(sizes)
    drawn = three_steps.draw(generators(1000), **sizes, dtype=torch.float32)
    found = (
        three_steps.token_scores(*drawn).theta.double().var(1) / signal.signal_unit(setting) ** 2
    )
    stated, error = mlp_noise.variance(setting), 4 * float(found.std()) / 1000**0.5
    assert float(found.mean()) == pytest.approx(stated, abs=0.12 * stated + error)
