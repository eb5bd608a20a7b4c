"""The Attention-MLP simulation: draws, invariances and bounds, and moments of its activations."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from simulation.attention import localisation, sampling
from simulation.attention_mlp import phase_diagram
from simulation.attention_mlp import three_steps as mlp
from simulation.attention_mlp.activations import ACTIVATIONS, activation
from simulation.tiles import TILE_ELEMENTS
from tests.unit.draws import generators, informative, perfectly_seen
from theory.attention_mlp import activations


def draw(count: int, name: str = "relu", samples: int = 96) -> tuple[sampling.Batch, mlp.Layer]:
    return mlp.draw(
        generators(count),
        vocab_size=24,
        length=6,
        samples=samples,
        dim=8,
        width=20,
        activation=name,
    )


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_slope_is_the_derivative(name: str) -> None:
    x = torch.linspace(-3, 3, 41, dtype=torch.float64).add(1e-3).requires_grad_()
    (gradient,) = torch.autograd.grad(activation(name).value(x).sum(), x)
    assert torch.allclose(gradient, activation(name).slope(x.detach()), atol=1e-12)


def test_hermite_polynomials_are_of_unit_variance() -> None:
    x = torch.linspace(-3, 3, 41, dtype=torch.float64)
    he2, he3 = (x**2 - 1) / 2**0.5, (x**3 - 3 * x) / 6**0.5
    for name, expected in {"he2": he2, "he3": he3, "0.3he1+he2+he3": 0.3 * x + he2 + he3}.items():
        assert torch.allclose(activation(name).value(x), expected, atol=1e-12), name
    assert torch.allclose(activation("x+x2").value(x), x + x**2, atol=1e-12)


def test_tiles_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    batch, layer = draw(2, "gelu")
    whole = mlp.token_scores(batch, layer).theta
    monkeypatch.setitem(TILE_ELEMENTS, "cpu", 50)  # less than a neuron of all samples
    assert torch.allclose(mlp.token_scores(batch, layer).theta, whole, rtol=0, atol=1e-14)


@pytest.mark.parametrize("centred", [False, True])
def test_memory_of_many_samples_a_label_is_that_of_its_definition(centred: bool) -> None:
    batch, layer = mlp.draw(
        generators(1), vocab_size=3, length=4, samples=900, dim=5, width=7, activation="relu"
    )
    labels, (u, z) = batch.labels[0], (batch.u[0], batch.z[0])
    counts = torch.tensor([(labels == k).sum() for k in range(3)], dtype=u.dtype)
    assert float(counts.min()) > 256
    guess = counts / 900 if centred else torch.full_like(counts, 1 / 3)
    stored = torch.relu(z[batch.tokens[0]].mean(1) @ layer.weights[0].T)
    expected = (u[labels] - guess @ u).T @ stored / (900 * 7**0.5)
    found = mlp.value_memory(batch, layer, centred=centred)[0]
    assert torch.allclose(found, expected, rtol=0, atol=1e-12)


def test_a_cause_costs_what_is_gained_without_it() -> None:
    batch, narrow = draw(3, samples=24)
    wide = mlp.draw_layer(generators(3), width=80, dim=8, activation="relu")
    shown, (_, facts) = torch.zeros(3, 24), perfectly_seen(batch)
    shown.scatter_(1, informative(batch.tokens, batch.positions), 1.0)
    known = [(mlp.recalled(facts, a) * shown).sum(1) / shown.sum(1) for a in (wide, narrow)]
    unbiased = replace(batch, z=batch.z - batch.z.mean(1, keepdim=True))
    found = [
        localisation.probability(mlp.token_scores(*model), length=6)
        for model in ((unbiased, wide), (batch, wide), (batch, narrow))
    ]
    expected = {
        "coverage": 1 - shown.mean(1),
        "recall": known[0] - known[1],
        "recall cap": 1 - known[0],
        "MLP noise": found[1] - found[2],
        "mean bias": found[0] - found[1],
        "gradient noise": 1 - found[0],
    }
    losses = phase_diagram.losses(batch, narrow, wide)
    assert losses.keys() == expected.keys()
    for cause, loss in losses.items():
        assert torch.allclose(loss, expected[cause].double(), atol=1e-6), cause
        assert loss.any(), cause


@pytest.mark.parametrize("scale", [0.1, 0.4, 1.0])
def test_relu_pair_of_slopes_is_the_arcsine_law(scale: float) -> None:
    law = activations.moments("relu", scale)
    for rho in (-0.4, 0.0, 0.3):
        exact = 0.25 + math.asin(rho) / (2 * math.pi)
        assert law.pair(1, 1, rho) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("name", activations.NAMES)
def test_hermite_series_returns_the_square(name: str) -> None:
    law = activations.moments(name, 1.0)
    assert law.pair(0, 0, 0.9) == pytest.approx(
        float((law.coefficients**2 * 0.9 ** np.arange(activations.ORDERS)).sum())
    )
    assert float((law.coefficients**2).sum()) == pytest.approx(law.square, rel=1e-2)


@pytest.mark.parametrize("name", activations.NAMES)
@pytest.mark.parametrize("scale", [0.2, 1.0])
def test_gain_is_the_slope_of_the_drift(name: str, scale: float) -> None:
    step = 1e-4 * scale
    above, below = (activations.moments(name, scale + sign * step) for sign in (1, -1))
    law = activations.moments(name, scale)
    change = (above.drift - below.drift) / (2 * step) * scale
    assert change == pytest.approx(law.drift_change, rel=1e-5, abs=1e-7)
    growth = (above.square - below.square) / (2 * step) / (2 * scale)
    assert growth == pytest.approx(law.gain, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", ["relu", "gelu", "he2", "0.3he1+he2+he3"])
def test_shifted_moments_match_sampling(name: str) -> None:
    draws = torch.from_numpy(0.7 + np.random.default_rng(1).standard_normal(400_000))
    values = activation(name).value(draws).numpy()
    offset, _, square, cube = activations.shifted(name, 0.7)
    for power, moment in ((1, offset), (2, square), (3, cube)):
        sampled = values**power
        assert moment == pytest.approx(sampled.mean(), abs=6 * sampled.std() / 632)
