"""Least squares with fewer measurements than weights: one matrix, by Muon and by gradient descent.

Measurements are inputs that the matrix maps, or inner products with Gaussian matrices. All start
from W = 0. Muon adds the polar factor of minus the gradient, and a time is the sum of its rates.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from simulation.embeddings import embed
from simulation.spectral.flows import polar
from simulation.spectral.softmax_memory import Rule
from simulation.streams import Rngs, Streams

FLAT = 1e-6
"""Part by which singular values that rounding alone separates may differ."""
STEP = 1 / 8
"""Part of the time that is left, as the loss has it, which an adaptive step takes."""


class Task(Protocol):
    """Least squares in R replicates, each of its own."""

    def start(self) -> Tensor: ...
    def residuals(self, weights: Tensor) -> Tensor: ...
    def gradient(self, weights: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Regression:
    """Half the squared length of Y - W X.

    Attributes:
        inputs: X, (R, d, n), with n below d.
        outputs: Y, (R, m, n).
    """

    inputs: Tensor
    outputs: Tensor

    def start(self) -> Tensor:
        """W = 0, (R, m, d)."""
        return torch.zeros_like(self.outputs @ self.inputs.mT)

    def residuals(self, weights: Tensor) -> Tensor:
        """The part that is not fitted yet, (R, m, n)."""
        return self.outputs - weights @ self.inputs

    def gradient(self, weights: Tensor) -> Tensor:
        """Minus the gradient, (R, m, d)."""
        return self.residuals(weights) @ self.inputs.mT


@dataclass(frozen=True)
class Sensing:
    """Half the squared length of the targets less the inner products of W with matrices.

    Attributes:
        matrices: (R, n, p, q).
        targets: (R, n).
    """

    matrices: Tensor
    targets: Tensor

    def start(self) -> Tensor:
        """W = 0, (R, p, q)."""
        return torch.zeros_like(self.matrices[:, 0])

    def residuals(self, weights: Tensor) -> Tensor:
        """The part that is not fitted yet, (R, n)."""
        return self.targets - (self.matrices.flatten(2) @ weights.flatten(1)[..., None])[..., 0]

    def gradient(self, weights: Tensor) -> Tensor:
        """Minus the gradient, (R, p, q)."""
        summed = self.residuals(weights)[:, None] @ self.matrices.flatten(2)
        return summed[:, 0].view_as(weights)


def regression(
    rngs: Rngs,
    *,
    samples: int,
    dim: int,
    outputs: int,
    inputs: str = "gaussian",
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Regression:
    """Draw samples of these inputs, a law of `embed`, with unrelated Gaussian outputs.

    Inputs and outputs have mean square length 1. Raises ValueError if samples are not fewer than
    dimensions, or more than the outputs of one of them.
    """
    if not samples < dim or samples > outputs:
        raise ValueError(f"{samples} samples: give fewer than {dim}, and at most {outputs}")
    streams = Streams(rngs, device, dtype)
    x = embed(streams, samples, dim, inputs).mT
    return Regression(x, embed(streams, samples, outputs, "gaussian").mT)


def sensing(
    rngs: Rngs,
    *,
    rows: int,
    columns: int,
    measurements: int,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> Sensing:
    """Draw Gaussian matrices of mean square length 1 / columns, with unrelated targets of length 1.

    Raises ValueError if there are more measurements than weights.
    """
    if measurements > rows * columns:
        raise ValueError(f"{measurements} measurements of {rows * columns} weights")
    streams = Streams(rngs, device, dtype)
    matrices = embed(streams, measurements, rows * columns, "gaussian").div_(columns**0.5)
    targets = embed(streams, 1, measurements, "sphere")[:, 0]
    return Sensing(matrices.view(-1, measurements, rows, columns), targets)


def steps(task: Task, rate: float | Tensor, count: int, rule: Rule = polar) -> Iterator[Tensor]:
    """The weights after each of some steps of one rate: a number, or one a replicate, (R, 1, 1)."""
    weights = task.start()
    for _ in range(count):
        weights = weights + rate * rule(task.gradient(weights))
        yield weights


def after(task: Task, time: float, count: int, rule: Rule = polar) -> Tensor:
    """The weights at a time, after that many steps."""
    (found,) = deque(steps(task, time / count, count, rule), maxlen=1)
    return found


def as_long_as(rank: int) -> Rule:
    """Gradient descent with steps as long as Muon's: the Frobenius norm of `rank` values of 1."""

    def rule(gradient: Tensor) -> Tensor:
        scale: Tensor = rank**0.5 / gradient.norm(dim=(-2, -1), keepdim=True)
        return scale * gradient

    return rule


def loss_share(task: Task, weights: Tensor) -> Tensor:
    """The loss over its start, (R,)."""
    return square(task.residuals(weights)) / square(task.residuals(task.start()))


def square(values: Tensor) -> Tensor:
    """The squared length of each replicate's values, (R,)."""
    return values.flatten(1).square().sum(1)


def fitting_time(task: Task, left: float = 0.03) -> Tensor:
    """Time (R,) in which Muon fits all measurements; the last of it, from residuals of relative
    length ``left`` on, as if these fell at their present speed.

    At that speed, the gradient's nuclear norm over the residuals' length, they would take the time
    that is left; it only falls, so that they take no less.
    """
    weights = task.start()
    passed = torch.zeros_like(weights[:, 0, 0])
    residuals = square(task.residuals(weights))
    enough = left**2 * residuals
    for _ in range(_most(left)):
        gradient = task.gradient(weights)
        factor = polar(gradient)
        remaining = residuals / (gradient * factor).sum((1, 2))
        rate = STEP * remaining * (residuals > enough)
        weights = weights + rate[:, None, None] * factor
        passed = passed + rate
        residuals = square(task.residuals(weights))
    gradient = task.gradient(weights)
    return passed + residuals / (gradient * polar(gradient)).sum((1, 2))


def _most(left: float) -> int:
    """Steps after which all have this little left: as many again as on a straight line."""
    count, now = 0, 1.0
    while now > left:
        count, now = count + 1, now * (1 - STEP)
    return 2 * count


def line(task: Task) -> tuple[Tensor, Tensor]:
    """Muon's first direction, (R, rows, columns), and the time (R, 1, 1) of least loss along it."""
    weights = task.start()
    gradient = task.gradient(weights)
    factor = polar(gradient)
    change = square(task.residuals(factor) - task.residuals(weights))
    return factor, ((gradient * factor).sum((1, 2)) / change)[:, None, None]


def straight_time(task: Task, halvings: int = 11) -> Tensor:
    """Time (R,) up to which the gradient's polar factor does not change along Muon's first one.

    Found by bisection, to 2^-halvings of the time of least loss, where it has changed: the gradient
    is orthogonal to its polar factor only if it vanishes.
    """
    factor, until = line(task)
    low = torch.zeros_like(until)
    for _ in range(halvings):
        middle = (low + until) / 2
        # A singular direction that turns round changes the factor by 2.
        same = square(polar(task.gradient(middle * factor)) - factor)[:, None, None] < 1
        low, until = torch.where(same, middle, low), torch.where(same, until, middle)
    return (low + until)[:, 0, 0] / 2


def flat_steps(task: Regression, rate: Tensor, count: int) -> Tensor:
    """Number (R,) of Muon's steps, of some, after which all n singular values are the same."""
    samples = task.inputs.shape[-1]
    flat = torch.ones(len(rate), dtype=torch.bool, device=rate.device)
    number = torch.zeros_like(rate[:, 0, 0])
    for weights in steps(task, rate, count):
        values = torch.linalg.svdvals(weights)[:, :samples]
        flat = flat & (values[:, -1] > (1 - FLAT) * values[:, 0])
        number = number + flat
    return number


def transport(task: Regression) -> Tensor:
    """The positive matrix M, (R, n, n), with Y^T Y = M X^T X M: it carries Gaussian vectors of
    covariance X^T X to ones of covariance Y^T Y, the least distance."""
    source, target = (part.mT @ part for part in (task.inputs, task.outputs))
    root = _power(source, 0.5)
    back = _power(source, -0.5)
    return back @ _power(root @ target @ root, 0.5) @ back


def _power(matrix: Tensor, exponent: float) -> Tensor:
    values, vectors = torch.linalg.eigh(matrix)
    found: Tensor = (vectors * values.pow(exponent)[:, None]) @ vectors.mT
    return found


def stable_share(weights: Tensor, rank: int) -> Tensor:
    """The mean squared singular value over the largest, (R,): 1 if ``rank`` are equal, and no
    others."""
    largest: Tensor = torch.linalg.matrix_norm(weights, 2)
    return square(weights) / (rank * largest.square())


def concentration(weights: Tensor) -> Tensor:
    """The mean fourth power of the singular values over their squared mean square, (R,)."""
    least = min(weights.shape[-2:])
    gram = weights.mT @ weights if weights.shape[-1] == least else weights @ weights.mT
    return least * square(gram) / square(weights).square()
