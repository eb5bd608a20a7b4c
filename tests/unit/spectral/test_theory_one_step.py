"""theory.spectral.one_step, compared with limits, identities and random matrices."""

import math
from unittest.mock import Mock

import numpy as np
import pytest
from scipy import special, stats

from theory.spectral import one_step, resolvent

ALONG = one_step._ALONG.size
"""Noises at which own scores are looked up, different from the tables' levels."""


def weights(items: int, exponent: float) -> np.ndarray:
    p = np.arange(1.0, items + 1) ** -exponent
    return np.asarray(p / p.sum())


def test_resolvent_is_that_of_a_random_matrix() -> None:
    dim, items = 300, 4800
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((2, items, dim)) / math.sqrt(dim)
    p = weights(items, 1.5)
    values = np.linalg.svd((u * p[:, None]).T @ v, compute_uv=False)
    w, number = resolvent.Items.of(dim, items, 1.5).pooled()
    found = resolvent.Nodes.of(w, number, dim, count=96)
    # Far from t = 0 and from the largest singular values, so that fluctuations are small.
    for m in found.m[5:60:6]:
        rank = float(number @ ((w * m) ** 2 / (1 + (w * m) ** 2))) / dim
        t = (1 - rank) / m
        assert m == pytest.approx(float((t / (values**2 + t**2)).mean()), rel=0.02)


def memory(dim: int, items: int, exponent: float) -> tuple[np.ndarray, resolvent.Scores]:
    """Weights of items, and the scores of the polar factor."""
    w, number = resolvent.Items.of(dim, items, exponent).pooled()
    nodes = resolvent.Nodes.of(w, number, dim, count=96)
    return w, resolvent.Memory.of([nodes], w, [[number]], dim).scores(w[:, None])


def test_a_polar_factor_is_orthogonal() -> None:
    # Whatever the item, a rare competitor's score has the variance 1/d.
    w, found = memory(64, 1024, 2.0)
    signal, own, rivals = found.signal, found.own, found.rivals
    np.testing.assert_allclose(rivals, 1, atol=1e-3)
    assert signal[0] == pytest.approx(1, abs=0.01)
    assert signal[-1] / signal[-2] == pytest.approx(w[-1] / w[-2], rel=1e-3)
    assert own[-1] == pytest.approx(1, abs=1e-2)


def polar(u: np.ndarray, v: np.ndarray, p: np.ndarray) -> np.ndarray:
    left, _, right = np.linalg.svd((u * p[:, None]).T @ v)
    return np.asarray(left @ right)


def test_own_scores_have_the_mean_and_variance() -> None:
    dim, items, replicates = 40, 400, 300
    p = weights(items, 1.5)
    scores, compared = np.empty((2, replicates, items))
    for r in range(replicates):
        rng = np.random.default_rng([1, r])
        u, v = rng.standard_normal((2, items, dim)) / math.sqrt(dim)
        scores[r] = np.einsum("id,de,ie->i", u, polar(u, v, p), v)
        compared[r] = scores[r] / np.linalg.norm(v, axis=1)
    _, found = memory(dim, items, 1.5)
    signal, own = found.signal, found.own
    for few in (slice(2, 12), slice(12, 24), slice(24, 40)):
        mean = scores[:, few].mean(1)
        assert abs(mean.mean() - signal[few].mean()) < 4 * stats.sem(mean) + 1 / dim
        variance = dim * float(compared[:, few].var(0, ddof=1).mean())
        error = math.sqrt(2 / (replicates * (few.stop - few.start)))
        assert variance == pytest.approx(float(own[few].mean()), rel=4 * error + 1 / dim)


def counts(
    step: str, dim: int, items: int, exponent: float, batch: int | None, replicates: int
) -> np.ndarray:
    """Numbers recalled by memories in plain numpy, one per replicate."""
    p, found = weights(items, exponent), np.empty(replicates)
    for r in range(replicates):
        rng = np.random.default_rng([2, r])
        u, v = rng.standard_normal((2, items, dim)) / math.sqrt(dim)
        w = p if batch is None else rng.multinomial(batch, p) / batch
        centred = u - u.mean(0)
        memory = (centred * w[:, None]).T @ v
        if step == "spectral":
            left, values, right = np.linalg.svd(memory)
            memory = left * (values > 1e-10 * values[0]) @ right
        if step == "newton":
            moment = (v * w[:, None]).T @ v
            memory = np.linalg.inv(centred.T @ centred / items) @ memory @ np.linalg.inv(moment)
        found[r] = ((v @ memory.T @ u.T).argmax(1) == np.arange(items)).sum()
    return found


@pytest.mark.parametrize(
    ("step", "dim", "items", "exponent", "batch", "replicates"),
    [
        # Each of many competitors overlaps with the item itself.
        ("gradient", 12, 1600, 1.25, None, 250),
        ("gradient", 12, 1600, 1.25, 16, 250),
        # Chance recalls items that the batch does not hold.
        ("spectral", 16, 64, 3.0, 8, 1500),
        # Noise and signal differ from input to input.
        ("newton", 24, 96, 2.0, None, 400),
    ],
)
def test_numbers_are_those_of_memories(
    step: str, dim: int, items: int, exponent: float, batch: int | None, replicates: int
) -> None:
    sizes = (dim, items, exponent) if step == "newton" else (dim, items, exponent, batch)
    found = counts(step, dim, items, exponent, batch, replicates)
    expected = getattr(one_step, f"recalled_{step}")(*sizes)
    assert found.mean() == pytest.approx(expected, abs=5 * float(stats.sem(found)))


@pytest.mark.parametrize("exponent", [1.5, 2.0])
def test_gradient_step_tends_to_its_constant(exponent: float) -> None:
    dim = 10**6
    count = one_step.recalled_gradient(dim, 2 * dim, exponent)
    limit = one_step.gradient_constant(exponent) * dim ** one_step.gradient_exponent(exponent)
    assert count == pytest.approx(limit, rel=0.03)


def test_many_samples_are_the_population() -> None:
    for law in (one_step.recalled_gradient, one_step.recalled_spectral):
        assert law(32, 512, 2.0, 10**8) == pytest.approx(law(32, 512, 2.0), rel=2e-3)


def test_critical_batch_recalls_half() -> None:
    batch = one_step.critical_batch(48, 768, 2.0)
    found = one_step.recalled_spectral(48, 768, 2.0, round(batch))
    assert found == pytest.approx(one_step.recalled_spectral(48, 768, 2.0) / 2, rel=0.02)


def test_items_of_one_count_share_what_follows_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out = Mock(wraps=special.ndtr)
    monkeypatch.setattr(special, "ndtr", worked_out)
    found = resolvent.Items.of(33, 801, 1.5, 50)
    one_step.recalled_gradient(33, 801, 1.5, 50)
    tables = [call for call in worked_out.call_args_list if len(call.args[0]) != ALONG]
    assert 0 < len(tables) < sum(map(len, found.weights)) / 2
