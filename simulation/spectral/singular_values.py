"""Polar factors and largest singular values of matrices.

On a CPU a singular value decomposition gives both. On a GPU matrix products give both, as a
decomposition would wait for the host and take one matrix at a time.
"""

import math

import torch
from scipy import linalg
from torch import Tensor

NO_SINGULAR_VALUE = 1e-6
"""A singular value below this share of the largest counts as zero; rounding is far smaller."""
NOT_ORTHONORMAL = 1e-4
"""Error of inner products of singular vectors, above which a decomposition is wrong."""
RISING = 15 / 8, -10 / 8, 3 / 8
"""Odd polynomial that brings numbers between 0 and 1 nearer to 1, and multiplies small ones by
15/8: coefficients of x, x^3 and x^5."""
SPLITTING = 0.0, 5 / 2, -3 / 2
"""Odd polynomial that brings numbers below sqrt(2/3) nearer to 0, and larger ones nearer to 1."""


def polar(matrix: Tensor, least: float = NO_SINGULAR_VALUE) -> Tensor:
    """Compute the polar factor U V^T of each matrix U S V^T (singular value decomposition).

    Singular values below ``least`` times the largest count as zero and are left out. On a GPU this
    limit is exact to a factor of 2. The result has the shape of ``matrix``, (..., m, n).

    >>> polar(torch.tensor([[0.0, 3.0], [-2.0, 0.0]])).tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """
    if matrix.device.type != "cpu":
        return polar_by_products(matrix, least)
    left, values, right = _decomposed(matrix)
    kept = left * (values > least * values[..., :1])[..., None, :]
    factor: Tensor = kept @ right
    return factor


def polar_by_products(matrix: Tensor, least: float) -> Tensor:
    """Compute the polar factor, leaving out singular values below ``least`` times the largest.

    An odd polynomial of a matrix applies the same polynomial to its singular values. First, steps
    that multiply small values by 15/8 bring ``least`` to about sqrt(2/3). Then other steps bring
    each value to 0 or 1.
    """
    if matrix.shape[-2] > matrix.shape[-1]:
        return polar_by_products(matrix.mT, least).mT
    x = matrix.double().reshape(-1, *matrix.shape[-2:])
    x = x / _largest_by_products(x, squarings=2)
    rises = math.ceil(math.log(1 / least) / math.log(RISING[0]))
    for one, three, five in (*rises * [RISING], *4 * [SPLITTING], *2 * [RISING]):
        gram = x @ x.mT
        factor = torch.baddbmm(gram, gram, gram, beta=three, alpha=five)
        x = torch.baddbmm(x, factor, x, beta=one)
    return x.to(matrix.dtype).view_as(matrix)


def largest(matrix: Tensor) -> Tensor:
    """Compute the largest singular value of each matrix of a batch: (..., 1, 1)."""
    if matrix.device.type != "cpu":
        return _largest_by_products(matrix.double(), squarings=32).to(matrix.dtype)
    found: Tensor = torch.linalg.matrix_norm(matrix, 2, keepdim=True)
    return found


def _largest_by_products(matrix: Tensor, squarings: int) -> Tensor:
    """Compute an upper bound of the largest singular value: (..., 1, 1).

    The bound is at most n^(2^-(squarings + 2)) times this value, where n is the rank.
    """
    gram = matrix @ matrix.mT
    found, power = torch.ones_like(gram[..., :1, :1]), 0.5
    for step in range(squarings + 1):
        if step:
            gram, power = gram @ gram, power / 2
        length = gram.square().sum((-2, -1), keepdim=True).sqrt()
        length = length.clamp(min=torch.finfo(matrix.dtype).tiny)
        gram, found = gram / length, found * length**power
    return found


def _decomposed(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Compute a singular value decomposition on a CPU, and check it.

    For some matrices with many equal singular values MKL's algorithm fails, or returns vectors
    that are not orthonormal, without an error. Then a slower algorithm decomposes these matrices.
    """
    try:
        left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
        *batch, rows, columns = matrix.shape
        least = min(rows, columns)
        shapes = (*batch, rows, least), (*batch, least), (*batch, least, columns)
        left, values, right = (matrix.new_full(shape, torch.nan) for shape in shapes)
    one = torch.eye(values.shape[-1], dtype=matrix.dtype)
    off = [(part - one).abs().amax((-2, -1)) for part in (left.mT @ left, right @ right.mT)]
    for place in (~(torch.maximum(*off) <= NOT_ORTHONORMAL)).nonzero().tolist():
        again = linalg.svd(matrix[*place].numpy(), full_matrices=False, lapack_driver="gesvd")
        for whole, part in zip((left, values, right), again, strict=True):
            whole[*place] = torch.from_numpy(part).to(matrix)
    return left, values, right
