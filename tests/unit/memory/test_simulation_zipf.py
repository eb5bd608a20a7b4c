from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch

from simulation.memory import zipf as zipf
from tests.unit import draws

generators = partial(draws.generators, seed=22)


def test_memory_is_the_weighted_sum_of_outer_products() -> None:
    rng = np.random.default_rng(3)
    weight, inputs, outputs = (
        torch.from_numpy(rng.standard_normal(shape)) for shape in (4, (4, 3), (2, 3))
    )
    label = torch.tensor([1, 0, 1, 0])
    expected = sum(weight[x] * torch.outer(outputs[label[x]], inputs[x]) for x in range(4))
    found = zipf.memory(weight, label, inputs, outputs)
    assert torch.allclose(found, torch.as_tensor(expected))


def test_frequencies_are_a_power_law_that_adds_up() -> None:
    p = zipf.frequencies(10**6, 2.0)
    assert p.sum() == pytest.approx(1, abs=1e-5)
    assert p[0] / p[4] == pytest.approx(25)
    with pytest.raises(ValueError, match="alpha"):
        zipf.frequencies(5, 1.0)


@pytest.mark.parametrize(
    ("count", "stored", "dim", "samples", "expected"),
    [
        (30, 20, 2000, None, lambda p: 0.8 * (1 - p.sum())),  # ample: the tail is guessed
        (400, 10, 64, 1, lambda p: 0.8 * (1 - (p**2).sum())),  # one token was seen
        (20, 3, 500, 220, lambda p: 0.8 * (1 - p.sum())),  # the first is seen 134 times: no byte
    ],
)
def test_what_was_not_stored_is_guessed(
    count: int, stored: int, dim: int, samples: int | None, expected: Callable[[Any], float]
) -> None:
    errors = zipf.error(
        generators(count), stored=stored, labels=5, dim=dim, alpha=2.0, samples=samples
    )
    shown = zipf.frequencies(10**5 if samples == 1 else stored, 2.0)
    assert float(errors.mean()) == pytest.approx(expected(shown), abs=0.05 if samples else 0.002)


@pytest.mark.parametrize("more", [{}, {"samples": 60}, {"power": 0.5}])
def test_averages_have_the_same_mean_and_a_smaller_spread(more: dict[str, float]) -> None:
    """Over exchangeable tokens, and over fresh embeddings."""
    setting: dict[str, Any] = {"stored": 12, "labels": 3, "dim": 16, "alpha": 2.0} | more
    averaged = zipf.error(generators(400), **setting)
    fresh = zipf.error(generators(400, seed=23), **setting, fresh=32)
    with patch.object(zipf, "_averaged", lambda mass, weight, label: mass):
        plain = zipf.error(generators(400), **setting)
    difference = averaged - plain
    assert abs(float(difference.mean())) < 4 * float(difference.std()) / 400**0.5 + 1e-12
    assert float(averaged.std()) <= float(plain.std()) + 1e-12
    deviation = float(averaged.var() + fresh.var()) ** 0.5 / 400**0.5
    assert abs(float(fresh.mean() - averaged.mean())) < 4 * deviation
    assert float(fresh.std()) < 0.8 * float(averaged.std())


def test_fresh_embeddings_see_rare_failures() -> None:
    setting: dict[str, Any] = {"stored": 14, "labels": 3, "dim": 109, "alpha": 2.75}
    plain = zipf.error(generators(100), **setting)
    fresh = zipf.error(generators(100), **setting, fresh=256)
    other = fresh - plain  # the same memories and guesses: failures alone differ
    assert float((other.abs() > 1e-12).double().mean()) > 0.2
