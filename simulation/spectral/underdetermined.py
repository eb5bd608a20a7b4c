"""Least squares for a matrix with more weights than measurements, by Muon and gradient descent.

Measurements are outputs for given inputs, or inner products with Gaussian matrices. All runs start
from W = 0. A step of Muon adds its rate times the polar factor of the negative gradient; a time is
the sum of the rates.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from simulation.embeddings import embed
from simulation.spectral.singular_values import largest, polar
from simulation.spectral.softmax_memory import Rule
from simulation.streams import Rngs, Streams

FLAT = 1e-6
"""Largest relative difference of singular values that counts as rounding."""
STEP = 1 / 8
"""Share of the time left (estimated from the loss) that an adaptive step takes."""


class Task(Protocol):
    """R independent least-squares problems."""

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
        """Return the initial weights, W = 0: (R, m, d)."""
        return torch.zeros_like(self.outputs @ self.inputs.mT)

    def residuals(self, weights: Tensor) -> Tensor:
        """Compute the part of the outputs that is not fitted yet: (R, m, n)."""
        return self.outputs - weights @ self.inputs

    def gradient(self, weights: Tensor) -> Tensor:
        """Compute the negative gradient: (R, m, d)."""
        return self.residuals(weights) @ self.inputs.mT


@dataclass(frozen=True)
class Sensing:
    """Half the squared length of targets minus inner products of W with matrices.

    Attributes:
        matrices: (R, n, p, q).
        targets: (R, n).
    """

    matrices: Tensor
    targets: Tensor

    def start(self) -> Tensor:
        """Return the initial weights, W = 0: (R, p, q)."""
        return torch.zeros_like(self.matrices[:, 0])

    def residuals(self, weights: Tensor) -> Tensor:
        """Compute the part of the targets that is not fitted yet: (R, n)."""
        return self.targets - (self.matrices.flatten(2) @ weights.flatten(1)[..., None])[..., 0]

    def gradient(self, weights: Tensor) -> Tensor:
        """Compute the negative gradient: (R, p, q)."""
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
    """Draw samples: inputs by a law of `embed`, with independent Gaussian outputs.

    Inputs and outputs have mean square length 1.

    Raises ValueError unless ``samples`` is below ``dim`` and at most ``outputs``.
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
    """Draw Gaussian matrices of mean square length 1 / columns, and targets of length 1.

    Raises ValueError if there are more measurements than weights.
    """
    if measurements > rows * columns:
        raise ValueError(f"{measurements} measurements of {rows * columns} weights")
    streams = Streams(rngs, device, dtype)
    matrices = embed(streams, measurements, rows * columns, "gaussian").div_(columns**0.5)
    targets = embed(streams, 1, measurements, "sphere")[:, 0]
    return Sensing(matrices.view(-1, measurements, rows, columns), targets)


def steps(task: Task, rate: float | Tensor, count: int, rule: Rule = polar) -> Iterator[Tensor]:
    """Yield the weights after each of ``count`` steps.

    ``rate``: a number, or (R, 1, 1) by replicate.
    """
    weights = task.start()
    for _ in range(count):
        weights = weights + rate * rule(task.gradient(weights))
        yield weights


def after(task: Task, time: float, count: int, rule: Rule = polar) -> Tensor:
    """Return the weights at a time, reached in ``count`` equal steps."""
    (found,) = deque(steps(task, time / count, count, rule), maxlen=1)
    return found


def as_long_as(rank: int) -> Rule:
    """Make a rule for gradient descent in steps of length sqrt(rank), as Muon's at this rank."""

    def rule(gradient: Tensor) -> Tensor:
        scale: Tensor = rank**0.5 / gradient.norm(dim=(-2, -1), keepdim=True)
        return scale * gradient

    return rule


def loss_share(task: Task, weights: Tensor) -> Tensor:
    """Divide the loss by the initial loss: (R,)."""
    return square(task.residuals(weights)) / square(task.residuals(task.start()))


def square(values: Tensor) -> Tensor:
    """Compute the squared length of each replicate's values: (R,)."""
    return values.flatten(1).square().sum(1)


def fitting_time(task: Task, left: float = 0.03) -> Tensor:
    """Find the time (R,) in which Muon fits all measurements, by steps and then extrapolation.

    The extrapolation starts once the residuals' length is ``left`` times the length at the start.
    It assumes a constant speed, the gradient's nuclear norm over the residuals' length. The speed
    only falls, so the true time is at least the extrapolated time.
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
    """Return twice the number of steps until a share ``left`` of a straight path remains."""
    count, now = 0, 1.0
    while now > left:
        count, now = count + 1, now * (1 - STEP)
    return 2 * count


def line(task: Task) -> tuple[Tensor, Tensor]:
    """Find Muon's first direction (R, rows, columns) and time (R, 1, 1) of least loss along it."""
    weights = task.start()
    gradient = task.gradient(weights)
    factor = polar(gradient)
    change = square(task.residuals(factor) - task.residuals(weights))
    return factor, ((gradient * factor).sum((1, 2)) / change)[:, None, None]


def straight_time(task: Task, halvings: int = 11) -> Tensor:
    """Find the time (R,) up to which Muon's path is straight: its direction does not change.

    Bisection between 0 and the time of least loss along the first direction finds the time, to
    2^-halvings of this interval. At the time of least loss a nonzero gradient is orthogonal to the
    first direction, but not to its own polar factor. So the direction has changed.
    """
    factor, until = line(task)
    low = torch.zeros_like(until)
    for _ in range(halvings):
        middle = (low + until) / 2
        # A singular direction that is reversed changes the factor by a length of 2.
        same = square(polar(task.gradient(middle * factor)) - factor)[:, None, None] < 1
        low, until = torch.where(same, middle, low), torch.where(same, until, middle)
    return (low + until)[:, 0, 0] / 2


def flat_steps(task: Regression, rate: Tensor, count: int) -> Tensor:
    """Count Muon's first steps, up to ``count``, with all n singular values of W equal: (R,)."""
    samples = task.inputs.shape[-1]
    values = torch.linalg.svdvals(torch.stack([*steps(task, rate, count)]))[..., :samples]
    flat = values[..., -1] > (1 - FLAT) * values[..., 0]
    number: Tensor = flat.cumprod(0).sum(0).to(rate)
    return number


def transport(task: Regression) -> Tensor:
    """Compute the positive matrix M, (R, n, n), with Y^T Y = M X^T X M.

    M is the optimal transport of Gaussian vectors of covariance X^T X to covariance Y^T Y.
    """
    source, target = (part.mT @ part for part in (task.inputs, task.outputs))
    root = _power(source, 0.5)
    back = _power(source, -0.5)
    return back @ _power(root @ target @ root, 0.5) @ back


def _power(matrix: Tensor, exponent: float) -> Tensor:
    values, vectors = torch.linalg.eigh(matrix)
    found: Tensor = (vectors * values.pow(exponent)[:, None]) @ vectors.mT
    return found


def stable_share(weights: Tensor, rank: int) -> Tensor:
    """Divide the singular values' sum of squares by ``rank`` times the largest square: (R,)."""
    return square(weights) / (rank * largest(weights)[:, 0, 0].square())


def concentration(weights: Tensor) -> Tensor:
    """Divide the singular values' mean fourth power by their squared mean square: (R,)."""
    least = min(weights.shape[-2:])
    gram = weights.mT @ weights if weights.shape[-1] == least else weights @ weights.mT
    return least * square(gram) / square(weights).square()
