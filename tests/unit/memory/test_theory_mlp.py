"""theory.memory.mlp against limits, independent integrals and a plain simulation."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate

from theory.memory.mlp import (
    asymptotic_width,
    capacity,
    critical_width,
    feature_law,
    mlp_memory_accuracy,
)


def test_relu_features_by_numerical_integration() -> None:
    dim = 7

    def mean(function: NDArray[np.float64]) -> float:
        density = (1 - cosines**2) ** ((dim - 3) / 2)
        return float(integrate.simpson(density * function, cosines)) / float(
            integrate.simpson(density, cosines)
        )

    cosines = np.linspace(-1, 1, 20001)
    overlap = 2 / math.pi * (np.sqrt(1 - cosines**2) + cosines * np.arcsin(cosines))
    size = mean(np.abs(cosines))
    centred = np.abs(cosines) - size
    law = feature_law("relu", dim)
    # The overlap is the mean over rows of |w.x||w.y|: its own mean is that of |w.x|, squared.
    assert mean(overlap) == pytest.approx(dim * size**2, rel=1e-6)
    expected = (mean(overlap**2) - mean(overlap) ** 2) / (1 - mean(overlap)) ** 2
    assert law.wide == pytest.approx(expected, rel=1e-6)
    assert law.power == pytest.approx(mean(centred**4) / mean(centred**2) ** 2 - 1, rel=1e-3)
    assert law.lost == dim + 1


@pytest.mark.parametrize("features", ["cosine", "relu"])
@pytest.mark.parametrize("outputs", [None, 64])
def test_capacity_inverts_the_critical_width(features: str, outputs: int | None) -> None:
    width = critical_width(associations=256, dim=64, outputs=outputs, features=features)
    inverse = capacity(dim=64, width=width, outputs=outputs, features=features)
    assert inverse == pytest.approx(256, rel=1e-4)
    wrong = 1 - mlp_memory_accuracy(
        associations=256, dim=64, outputs=outputs, width=width, features=features
    )
    assert 256 * wrong == pytest.approx(math.log(2), rel=1e-3)


def test_limit_law() -> None:
    assert asymptotic_width(associations=100, dim=50, outputs=10) == pytest.approx(
        4 * math.log(1000) * (2 + 10)
    )
    near, far = (
        critical_width(associations=n, dim=d) / asymptotic_width(associations=n, dim=d)
        for n, d in ((128, 64), (10**5, 1000))
    )
    assert near < far < 1
    assert far > 0.85
