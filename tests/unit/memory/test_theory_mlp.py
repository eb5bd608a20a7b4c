"""theory.memory.mlp against limits, independent integrals and a plain simulation."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate

from theory.memory import mlp
from theory.memory.mlp import (
    asymptotic_width,
    capacity,
    critical_width,
    feature_law,
    mlp_memory_accuracy,
)


def unit_vectors(rng: np.random.Generator, count: int, dim: int) -> NDArray[np.float64]:
    vectors = rng.standard_normal((count, dim))
    normalised: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return normalised


def simulated(
    features: str, associations: int, outputs: int, dim: int, width: int, replicates: int
) -> NDArray[np.float64]:
    """Accuracies of a Hebbian memory with numpy, straight from the definition."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(replicates):
        z, u = unit_vectors(rng, associations, dim), unit_vectors(rng, outputs, dim)
        targets = np.arange(associations) % outputs
        if features == "cosine":
            first = 8 * rng.standard_normal((width, dim))
            rows = np.cos(z @ first.T + rng.uniform(0, 2 * math.pi, width))
        else:
            first = unit_vectors(rng, width, dim)
            rows = np.maximum(z @ first.T, 0)
            taken = np.column_stack([np.ones(width), first])
            rows = rows - rows @ taken @ np.linalg.pinv(taken)
        scores = rows @ (rows.T @ u[targets]) @ u.T
        found.append((scores.argmax(1) == targets).mean())
    return np.array(found)


@pytest.mark.parametrize(
    ("features", "associations", "outputs", "dim", "width"),
    [
        ("cosine", 300, 300, 32, 150),
        ("cosine", 320, 64, 32, 200),
        ("relu", 300, 300, 32, 250),
        ("relu", 300, 100, 40, 250),
    ],
)
def test_accuracy_is_that_of_a_hebbian_memory(
    features: str, associations: int, outputs: int, dim: int, width: int
) -> None:
    values = simulated(features, associations, outputs, dim, width, 40)
    predicted = mlp_memory_accuracy(
        associations=associations, outputs=outputs, dim=dim, width=width, features=features
    )
    stated = 0.005 + 0.8 / outputs if features == "cosine" else 0.02
    assert 0.4 < predicted < 0.95
    assert abs(values.mean() - predicted) < stated + 4 * values.std(ddof=1) / math.sqrt(40)


def test_inputs_that_share_an_output_fail_more_often() -> None:
    values = 1 - simulated("cosine", 110, 82, 94, 61, 400)
    failures = 110 * (1 - mlp_memory_accuracy(associations=110, outputs=82, dim=94, width=61))
    assert abs(110 * values.mean() - failures) < 4 * 110 * values.std(ddof=1) / math.sqrt(400)
    assert failures == pytest.approx(0.93, abs=0.005)  # 0.56 if each output had the mean load


def test_few_outputs_cost_the_theory_its_third_digit() -> None:
    values = simulated("cosine", 256, 32, 32, 87, 400)
    found = values.mean() - mlp_memory_accuracy(associations=256, outputs=32, dim=32, width=87)
    sampling_error = 4 * values.std(ddof=1) / math.sqrt(400)
    assert 0.01 + sampling_error < found < 0.005 + 0.8 / 32


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


def test_features_in_high_dimension() -> None:
    dim = 4000
    assert feature_law("relu", dim).wide * dim**2 == pytest.approx(2 / (math.pi - 2) ** 2, rel=0.01)
    assert feature_law("relu", dim).power == pytest.approx(2.869, abs=0.01)


def test_wide_layers_recall_all_or_stay_at_the_floor() -> None:
    assert mlp_memory_accuracy(associations=500, dim=32, width=math.inf) == pytest.approx(1)
    floor = mlp_memory_accuracy(associations=800, dim=24, width=math.inf, features="relu")
    assert mlp_memory_accuracy(associations=800, dim=24, width=4096, features="relu") < floor < 0.6
    assert critical_width(associations=512, dim=32, features="relu") == math.inf
    assert capacity(dim=32, width=math.inf, features="relu") < 512


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


def test_a_width_that_stores_nothing() -> None:
    with pytest.raises(ValueError, match="not even 3"):
        capacity(dim=32, width=0.1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outputs": 1}, "at least 2 outputs"),
        ({"outputs": 65}, "no more outputs"),
        ({"dim": 1}, "dim is 1"),
        ({"features": "tanh"}, "unknown features 'tanh'"),
        ({"width": 33.0, "features": "relu"}, "must exceed 33"),
        ({"width": 0.0}, "width is 0"),
    ],
)
def test_senseless_sizes(changes: dict[str, Any], message: str) -> None:
    sizes: dict[str, Any] = {"associations": 64, "outputs": 64, "dim": 32, "width": 100}
    with pytest.raises(ValueError, match=message):
        mlp.mlp_memory_accuracy(**{**sizes, **changes})
