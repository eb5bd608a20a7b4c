"""Polar factors and largest singular values by decomposition, or by matrix products as on GPUs."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from scipy import linalg
from torch import Tensor

from simulation.spectral.one_step import regularised
from simulation.spectral.singular_values import (
    NO_SINGULAR_VALUE,
    largest,
    polar,
    polar_by_products,
)
from tests.pretended import pretended_gpu

Polar = Callable[[Tensor], Tensor]
both = pytest.mark.parametrize(
    "polar", [polar, partial(polar_by_products, least=NO_SINGULAR_VALUE)], ids=["svd", "products"]
)


def random_matrix(*shape: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(3).standard_normal(shape))


@both
@pytest.mark.parametrize("shape", [(2, 7, 4), (2, 4, 7), (1, 5, 5)])
def test_polar_factor_is_scipys(shape: tuple[int, ...], polar: Polar) -> None:
    matrix = random_matrix(*shape)
    for found, one in zip(polar(matrix).numpy(), matrix.numpy(), strict=True):
        np.testing.assert_allclose(found, linalg.polar(one)[0], atol=1e-12)


@both
def test_polar_factor_is_right_where_singular_values_differ_widely(polar: Polar) -> None:
    left, right = torch.linalg.qr(random_matrix(2, 5, 5)).Q
    matrix = left @ torch.diag(torch.logspace(0, -5, 5, dtype=torch.float64)) @ right
    assert torch.allclose(polar(matrix), left @ right, atol=1e-10)


@both
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_polar_factor_leaves_out_what_is_zero(dtype: torch.dtype, polar: Polar) -> None:
    low = random_matrix(1, 6, 2) @ random_matrix(1, 2, 5)
    left, _, right = torch.linalg.svd(low)
    expected = left[..., :2] @ right[:, :2]
    rounding = 1e-8 if dtype is torch.float64 else 1e-5
    assert torch.allclose(polar(low.to(dtype)).double(), expected, atol=rounding)
    assert torch.equal(polar(torch.zeros(1, 3, 2)), torch.zeros(1, 3, 2))


@pytest.mark.parametrize("least", [1e-6, 1e-10])
@pytest.mark.parametrize("largest", [1, 32])
def test_products_leave_out_what_is_below_the_limit(least: float, largest: int) -> None:
    for share, kept in ((least / 2, 0.0), (2 * least, 1.0)):
        values = torch.ones(64, dtype=torch.float64)
        values[largest:] = share
        found = polar_by_products(values.diag(), least).diagonal()[largest:]
        torch.testing.assert_close(found, torch.full_like(found, kept), atol=1e-3, rtol=0)


def test_a_gpu_waits_for_no_singular_value() -> None:
    matrix = random_matrix(3, 6, 5)
    with pretended_gpu() as count:
        there = matrix.to("cuda")
        found = polar(there), largest(there), regularised(there, 0.3)
        assert count.synchronisations == 0
        values = [each.cpu() for each in found]
    for value, right in zip(
        values, (polar(matrix), largest(matrix), regularised(matrix, 0.3)), strict=True
    ):
        torch.testing.assert_close(value, right, rtol=1e-12, atol=1e-12)
