"""Moments of activations against closed forms and against sampling."""

import math

import numpy as np
import pytest
import torch

from simulation.attention_mlp.activations import activation
from theory.attention_mlp import activations


def test_relu_coefficients_are_the_known_ones() -> None:
    law = activations.moments("relu", 1.0)
    expected = [1 / math.sqrt(2 * math.pi), 0.5, 1 / (2 * math.sqrt(math.pi)), 0.0]
    np.testing.assert_allclose(law.coefficients[:4], expected, atol=1e-12)


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


def test_odd_activations_have_no_offset_and_no_drift() -> None:
    for name in ("identity", "tanh", "he3"):
        law = activations.moments(name, 0.3)
        assert law.derivatives[0] == pytest.approx(0, abs=1e-14)
        assert law.drift == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("name", ["relu", "gelu", "he2", "0.3he1+he2+he3"])
def test_shifted_moments_match_sampling(name: str) -> None:
    draws = torch.from_numpy(0.7 + np.random.default_rng(1).standard_normal(400_000))
    values = activation(name).value(draws).numpy()
    offset, _, square, cube = activations.shifted(name, 0.7)
    for power, moment in ((1, offset), (2, square), (3, cube)):
        sampled = values**power
        assert moment == pytest.approx(sampled.mean(), abs=6 * sampled.std() / 632)
