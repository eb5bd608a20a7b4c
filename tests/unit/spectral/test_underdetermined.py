"""Least squares with fewer measurements than weights: formulas, and steps in plain numpy."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, linalg, stats

from simulation.spectral import underdetermined as measured
from simulation.spectral.singular_values import polar
from tests.unit.draws import generators
from theory.spectral import underdetermined as theory

SIZES = st.tuples(st.integers(1, 5), st.integers(0, 3), st.integers(1, 4), st.integers(0, 999))


def regression(samples: int, more: int, extra: int, seed: int) -> measured.Regression:
    dim, outputs = samples + extra, samples + more
    rngs = generators(3, seed)
    return measured.regression(rngs, samples=samples, dim=dim, outputs=outputs, inputs="gaussian")


def plain_polar(matrix: np.ndarray) -> np.ndarray:
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    kept = values > 1e-9 * values[0]
    return np.asarray(left[:, kept] @ right[kept])


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.0), (0.3, 0.0), (1.0, 0.5), (0.25, 0.8)])
def test_mean_value_is_its_integral(a: float, b: float) -> None:
    def root(p: float) -> float:
        return math.sqrt((1 - p) * (1 - a * p) * (1 - b * p) / p)

    assert theory.mean_value(a, b) == pytest.approx(2 / math.pi * integrate.quad(root, 0, 1)[0])


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (24, 8), (12, 12)])
def test_speed_is_the_mean_singular_value(rows: int, columns: int) -> None:
    matrices = np.random.default_rng(1).standard_normal((20000, rows, columns)) / math.sqrt(rows)
    means = np.linalg.svd(matrices, compute_uv=False).mean(1)
    error = 4 * stats.sem(means) + 0.002
    assert abs(theory.speed(rows, columns) - means.mean()) < error


def test_kept_share_is_that_of_random_outputs_and_falls_as_1_over_t_squared() -> None:
    outputs = np.random.default_rng(2).standard_normal((4000, 32, 16)) / math.sqrt(32)
    values = np.linalg.svd(outputs, compute_uv=False)
    for time in (0.4, 1.0):
        shares = (np.minimum(1, values / time) ** 2).mean(1)
        error = 4 * stats.sem(shares) + 1e-3
        assert abs(theory.kept_share(16, 32, time) - shares.mean()) < error
    assert theory.kept_share(16, 32, 0.01) == pytest.approx(1, abs=1e-9)
    assert theory.kept_share(16, 32, 8.0) == pytest.approx(1 / 64)


def test_lost_flatness_is_a_root_of_measurements_per_weight_and_of_the_time_that_is_left() -> None:
    cases = ((16, 3, 1e-9), (32, 3, 1e-9), (16, 12, 1e-9), (16, 3, 0.5))
    base, wider, more, late = (case[2] / (1 - theory.flat_share(*case)) ** 2 for case in cases)
    matrices = np.random.default_rng(5).standard_normal((4000, 16, 16)) / 4
    speed = np.linalg.svd(matrices, compute_uv=False).mean()
    found = [wider / base, more / base, late / base]
    assert found == pytest.approx([4, 1 / 4, 1 - 0.5 * speed], rel=0.005)


def test_bounds_on_sensing_are_apart_by_measurements_per_weight() -> None:
    for rows, columns, measurements in ((16, 8, 3), (32, 8, 3), (16, 4, 3), (16, 8, 12)):
        sizes, speed = (rows, columns, measurements), theory.speed(rows, columns)
        density = measurements / rows / columns
        assert 2 * (speed - theory.sensing_speed(*sizes)) == pytest.approx(math.sqrt(density))
        middle = theory.sensing_loss(*sizes, 0.4) - (1 - 0.4 * speed) ** 2
        assert 2 * middle == pytest.approx(0.4**2 * density)


def test_flat_time_is_the_law_of_the_least_singular_value() -> None:
    outputs = np.random.default_rng(3).standard_normal((4000, 5, 4)) / math.sqrt(5)
    least = np.linalg.svd(outputs, compute_uv=False)[:, -1]
    assert stats.kstest(least, theory.flat_time(4)).pvalue > 0.001


def test_gradient_concentration_is_a_gaussian_matrix() -> None:
    matrices = torch.from_numpy(np.random.default_rng(4).standard_normal((20000, 5, 3)))
    found = measured.concentration(matrices).numpy()
    assert abs(found.mean() - theory.gradient_concentration(5, 3)) < 4 * stats.sem(found)


@settings(max_examples=25, deadline=None)
@given(SIZES)
def test_transport_carries_one_gram_matrix_to_the_other_and_ends_the_line(
    sizes: tuple[int, int, int, int],
) -> None:
    task = regression(*sizes)
    carried = measured.transport(task)
    x, y = task.inputs, task.outputs
    scale = float((y.mT @ y).abs().max())
    torch.testing.assert_close(carried @ x.mT @ x @ carried, y.mT @ y, atol=1e-7 * scale, rtol=1e-6)
    # The definition: the first time at which the gradient's positive factor has a zero.
    ends = []
    for one_x, one_y in zip(x.numpy(), y.numpy(), strict=True):
        gram = one_x.T @ one_x
        root = linalg.sqrtm(gram).real
        positive = linalg.sqrtm(root @ one_y.T @ one_y @ root).real
        ends.append(linalg.eigh(positive, gram, eigvals_only=True)[0])
    least = torch.linalg.eigvalsh(carried)[:, 0].numpy()
    np.testing.assert_allclose(least, ends, rtol=1e-5, atol=1e-7)
    until = measured.line(task)[1][:, 0, 0].numpy()
    np.testing.assert_allclose(
        measured.straight_time(task).numpy(), ends, rtol=1e-5, atol=float(2**-11 * until.max())
    )


def test_steps_are_those_of_plain_numpy_and_singular_values_are_the_time() -> None:
    task = regression(3, 1, 2, 5)
    (found,) = [w for k, w in enumerate(measured.steps(task, 0.01, 5)) if k == 4]
    for x, y, w in zip(task.inputs.numpy(), task.outputs.numpy(), found.numpy(), strict=True):
        weights = np.zeros_like(w)
        for _ in range(5):
            weights += 0.01 * plain_polar((y - weights @ x) @ x.T)
        np.testing.assert_allclose(w, weights, atol=1e-9)
    torch.testing.assert_close(measured.after(task, 0.05, 5), found)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(0, 3), st.integers(1, 4), st.integers(0, 999))
def test_the_loss_lies_between_the_bounds_of_a_convex_flow(
    columns: int, more: int, measurements: int, seed: int
) -> None:
    rows = columns + more
    task = measured.sensing(
        generators(3, seed), rows=rows, columns=columns, measurements=measurements
    )
    first = task.gradient(task.start())
    speed = torch.linalg.matrix_norm(first, "nuc")
    time, count = 0.5 / float(speed.max()), 256
    moved = measured.after(task, time, count)
    share = measured.loss_share(task, moved)
    low = (1 - speed * time) ** 2
    steep = measured.square(task.residuals(polar(first)) - task.targets)
    high = low + (steep - speed**2) * time**2
    slack = 4 * steep * time**2 / count
    assert bool((low - 1e-9 <= share).all())
    assert bool((share <= high + slack).all())
    assert bool((torch.linalg.matrix_norm(moved, 2) <= time * (1 + 1e-9)).all())


def test_gradient_is_that_of_automatic_differentiation() -> None:
    tasks = (
        regression(3, 1, 2, 6),
        measured.sensing(generators(3, 6), rows=4, columns=3, measurements=5),
    )
    for task in tasks:
        weights = torch.randn_like(task.start(), requires_grad=True)
        loss = task.residuals(weights).square().sum() / 2
        (slope,) = torch.autograd.grad(loss, weights)
        torch.testing.assert_close(task.gradient(weights.detach()), -slope)


def test_fitting_time_is_when_small_steps_arrive() -> None:
    task = measured.sensing(generators(4, 7), rows=6, columns=6, measurements=3)
    found = measured.fitting_time(task)
    rate = float(found.mean()) / 1000
    arrived = torch.zeros_like(found)
    for step, weights in enumerate(measured.steps(task, rate, 1600), 1):
        near = measured.square(task.residuals(weights)) < 1e-4
        arrived = torch.where(near & (arrived == 0), torch.full_like(found, step * rate), arrived)
    assert float((arrived / found - 1).abs().max()) < 0.03


def test_gradients_as_long_as_muons_have_its_norm() -> None:
    gradient = torch.randn(2, 5, 3)
    norm = measured.as_long_as(3)(gradient).norm(dim=(1, 2))
    torch.testing.assert_close(norm, polar(gradient).norm(dim=(1, 2)))


def test_one_value_has_the_least_share_and_equal_ones_the_largest() -> None:
    one = torch.tensor([[[3.0, 0.0], [0.0, 0.0], [0.0, 0.0]]])
    equal = torch.eye(3)[None, :, :2]
    assert measured.stable_share(one, 2).item() == 0.5
    assert measured.stable_share(equal, 2).item() == 1.0
    assert measured.concentration(one).item() == 2.0
    assert measured.concentration(equal).item() == 1.0
