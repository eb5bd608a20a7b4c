from unittest.mock import patch

import numpy as np
import pytest
import torch

from simulation.memory import zipf as zipf


def generators(count: int, seed: int = 22) -> list[np.random.Generator]:
    return [np.random.default_rng([seed, index]) for index in range(count)]


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


def test_ample_dimension_leaves_the_guessed_tail() -> None:
    errors = zipf.error(generators(30), stored=20, labels=5, dim=2000, alpha=2.0)
    tail = 1 - zipf.frequencies(20, 2.0).sum()
    assert float(errors.mean()) == pytest.approx(0.8 * tail, rel=0.05)


def test_no_sample_stores_little() -> None:
    errors = zipf.error(generators(400), stored=10, labels=5, dim=64, alpha=2.0, samples=1)
    # The one token that was seen is known, and everything else is guessed.
    p = zipf.frequencies(10**5, 2.0)
    assert float(errors.mean()) == pytest.approx(0.8 * (1 - (p**2).sum()), abs=0.05)


def test_what_was_seen_often_is_stored() -> None:
    setting = {"stored": 3, "labels": 3, "dim": 500, "alpha": 2.0}
    seen = zipf.error(generators(20), **setting, samples=220)  # type: ignore[arg-type]
    tail = 1 - zipf.frequencies(3, 2.0).sum()
    # The first token is seen 134 times: more than a byte counts.
    assert float(seen.mean()) == pytest.approx(2 / 3 * tail, abs=0.05)


@pytest.mark.parametrize("more", [{}, {"samples": 60}, {"power": 0.5}])
def test_averaging_exchangeable_tokens_changes_no_mean(more: dict[str, float]) -> None:
    setting = {"stored": 12, "labels": 3, "dim": 16, "alpha": 2.0} | more
    averaged = zipf.error(generators(1500), **setting)  # type: ignore[arg-type]
    with patch.object(zipf, "_averaged", lambda mass, weight, label: mass):
        plain = zipf.error(generators(1500), **setting)  # type: ignore[arg-type]
    difference = averaged - plain
    assert abs(float(difference.mean())) < 4 * float(difference.std()) / 1500**0.5 + 1e-12
    assert float(averaged.std()) <= float(plain.std()) + 1e-12


@pytest.mark.parametrize("more", [{}, {"samples": 60}, {"power": 0.5}])
def test_fresh_embeddings_change_no_mean(more: dict[str, float]) -> None:
    setting = {"stored": 12, "labels": 3, "dim": 16, "alpha": 2.0} | more
    plain = zipf.error(generators(1500), **setting)  # type: ignore[arg-type]
    fresh = zipf.error(generators(1500, 23), **setting, fresh=32)  # type: ignore[arg-type]
    deviation = float(plain.var() + fresh.var()) ** 0.5 / 1500**0.5
    assert abs(float(fresh.mean() - plain.mean())) < 4 * deviation
    assert float(fresh.std()) < 0.8 * float(plain.std())


def test_fresh_embeddings_see_rare_failures() -> None:
    setting = {"stored": 14, "labels": 3, "dim": 109, "alpha": 2.75}
    plain = zipf.error(generators(300), **setting)  # type: ignore[arg-type]
    fresh = zipf.error(generators(300), **setting, fresh=256)  # type: ignore[arg-type]
    other = fresh - plain  # the same memories and guesses: failures alone differ
    assert float((other.abs() > 1e-12).double().mean()) > 0.2


def test_a_replicate_depends_on_its_own_generator_alone() -> None:
    setting = {"stored": 30, "labels": 5, "dim": 16, "alpha": 2.0, "samples": 50}
    together = zipf.error(generators(4), **setting)  # type: ignore[arg-type]
    alone = zipf.error(generators(4)[3:], **setting)  # type: ignore[arg-type]
    assert together[3] == alone[0]


def test_senseless_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="labels"):
        zipf.error(generators(1), stored=5, labels=1, dim=8, alpha=2.0)
