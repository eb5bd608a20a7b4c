"""Gradient, spectral and sign flow of a transformer's matrices, and optimisers.

A rule determines the flow of each matrix: along the negative gradient G of the loss, along the
polar factor of G, or along the signs of G's entries. In shapes, B is the number of replicates.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol, Self, TypeVar

import torch
from torch import Tensor

from simulation.adam import Adam
from simulation.spectral.facts import Facts, Odds, Weights
from simulation.spectral.singular_values import polar
from simulation.streams import Rngs, Streams
from simulation.tiles import LOOK_EVERY

NO_ENTRY = 1e-10
"""An entry below this share of the largest counts as zero; rounding errors are far smaller."""


def sign(matrix: Tensor) -> Tensor:
    """Take the sign of each entry, and 0 where the entry is a rounding error."""
    return unrounded(matrix).sign()


def unrounded(matrix: Tensor) -> Tensor:
    """Set entries below `NO_ENTRY` times the largest entry to 0."""
    largest = matrix.abs().amax((-2, -1), keepdim=True)
    return matrix * (matrix.abs() > NO_ENTRY * largest)


def newton_schulz(matrix: Tensor) -> Tensor:
    """Take Muon's five quintic Newton-Schulz steps.

    The steps bring singular values above 0.002 of the Frobenius norm to between 0.7 and 1.2.
    Much smaller values end lower: 0.001 of the norm at 0.5, and 0.0001 at 0.05.

    K. Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024).
    """
    if matrix.shape[-2] > matrix.shape[-1]:
        across: Tensor = newton_schulz(matrix.mT).mT
        return across
    x: Tensor = matrix / (matrix.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x


def muon(matrix: Tensor) -> Tensor:
    """Compute Muon's direction: `newton_schulz`, scaled up if there are more rows than columns."""
    rows, columns = matrix.shape[-2:]
    return newton_schulz(matrix) * math.sqrt(max(1.0, rows / columns))


def identity(matrix: Tensor) -> Tensor:
    """Return the matrix itself."""
    return matrix


RULES: dict[str, Callable[[Tensor], Tensor]] = {
    "gradient": identity,
    "spectral": polar,
    "sign": sign,
}
"""Function that each flow applies to the negative gradient of a matrix."""


class Moving(Protocol):
    """Weights that a flow can move."""

    def moved(self, direction: Self, step: float) -> Self: ...
    def mapped(self, function: Callable[[Tensor], Tensor]) -> Self: ...


W = TypeVar("W", bound=Moving)


class Descended(Protocol[W]):
    """Task to be learned, with the negative gradient of its loss."""

    def gradient(self, weights: W, /) -> W: ...


class Answering(Descended[Weights], Protocol):
    """Model of facts: whole matrices, or matrices reduced by symmetry."""

    def start(self, alpha: float, beta: float) -> Weights: ...
    def odds(self, weights: Weights) -> Odds: ...


def flow(task: Descended[W], weights: W, rule: str, times: Iterable[float]) -> Iterator[W]:
    """Yield the weights at each time, by a classical Runge-Kutta step from the time before.

    Args:
        task: task that gives the negative gradient.
        weights: weights at the first time.
        rule: "gradient", "spectral" or "sign".
        times: increasing times.
    """

    def slope(at: W) -> W:
        return task.gradient(at).mapped(RULES[rule])

    yield weights
    for before, after in pairwise(times):
        h = after - before
        first = slope(weights)
        second = slope(weights.moved(first, h / 2))
        third = slope(weights.moved(second, h / 2))
        fourth = slope(weights.moved(third, h))
        for part, share in ((first, 1 / 6), (second, 1 / 3), (third, 1 / 3), (fourth, 1 / 6)):
            weights = weights.moved(part, share * h)
        yield weights


def clock(duration: float, steps: int, *, growing: float | None = None) -> list[float]:
    """List times from 0 to ``duration`` in equal steps and, if given, from there to ``growing``.

    Later steps are about a twentieth of the elapsed time, because the flow slows down.

    >>> clock(2.0, 2)
    [0.0, 1.0, 2.0]
    >>> [round(t, 3) for t in clock(2.0, 1, growing=2.2)]
    [0.0, 2.0, 2.098, 2.2]
    """
    times = [duration * step / steps for step in range(steps + 1)]
    if growing is None:
        return times
    ratio = growing / duration
    more = math.ceil(20 * math.log(ratio))
    return times + [duration * ratio ** (step / more) for step in range(1, more + 1)]


def followed(task: Answering, path: Iterable[Weights], until: float = 0.0) -> Odds:
    """Compute the odds along a path, (points, B), to its end or until all replicates have learned.

    Args:
        task: task that gives the odds.
        path: weights along the path.
        until: error probability, of subjects and of relations, that counts as learned.
    """
    level = math.log(1 / until - 1) if until else math.inf
    points: list[Odds] = []
    for step, weights in enumerate(path):
        points.append(task.odds(weights))
        lowest = torch.minimum(points[-1].subject.min(), points[-1].relation.min())
        if until and step % LOOK_EVERY[lowest.device.type] == 0 and lowest >= level:
            break
    return Odds(
        subject=torch.stack([point.subject for point in points]),
        relation=torch.stack([point.relation for point in points]),
    )


def learning_time(odds: Tensor, times: Sequence[float], error: float) -> Tensor:
    """Find the time (B,) at which the error first falls to ``error``, interpolating linearly.

    Args:
        odds: log odds of a right answer, (points, B).
        times: of the points; further times are ignored.
        error: error probability in (0, 1).

    Raises ValueError if a replicate never reaches ``error`` or starts at or below it, or if odds
    are nan.
    """
    level = math.log(1 / error - 1)
    reached = odds >= level
    faults = odds.isnan().any(), reached[0].any() | ~reached.any(0).all()
    unstable, outside = torch.stack(faults).tolist()
    if unstable:
        raise ValueError("the odds are nan: the flow is unstable, so take smaller steps")
    if outside:
        raise ValueError(f"an error of {error} is not reached on the way: train longer")
    after = reached.to(torch.int8).argmax(0, keepdim=True)
    high, low = odds.gather(0, after)[0], odds.gather(0, after - 1)[0]
    clocked = torch.tensor(times, device=odds.device, dtype=odds.dtype)
    end, begin = clocked[after[0]], clocked[after[0] - 1]
    return begin + (end - begin) * (level - low) / (high - low)


AT_ONCE = 64
"""Steps whose batches are drawn in one go."""


def one_step_at_a_time(
    task: Facts,
    weights: Weights,
    direction: Callable[[Tensor], Tensor],
    *,
    rate: float,
    steps: int,
    momentum: float = 0.0,
    batch: int | None = None,
    rngs: Rngs = (),
) -> Iterator[Weights]:
    """Take steps of an optimiser, and yield the weights at the start and after each step.

    Args:
        task: task to be learned.
        weights: initial weights.
        direction: maps a (mean) gradient to a step, such as `polar`.
        rate: size of a step.
        steps: number of steps.
        momentum: share of the old mean of gradients in the new mean, with Nesterov's look ahead.
        batch: number of pairs drawn uniformly for a step; all pairs if not given.
        rngs: generators of the replicates, for the batches.
    """
    pairs = task.answers
    mean, streams = weights.mapped(torch.zeros_like), Streams.like(rngs, task.uniform)
    yield weights
    for step in range(steps):
        often = None
        if batch is not None:
            if step % AT_ONCE == 0:
                size = min(AT_ONCE, steps - step)
                drawn = streams.counts(batch, [1 / pairs] * pairs, size) / batch
            often = drawn[:, step % AT_ONCE].view_as(task.uniform)
        new = task.gradient(weights, often)
        mean = mean.mapped(lambda old: momentum * old).moved(new, 1 - momentum)
        ahead = mean.mapped(lambda old: momentum * old).moved(new, 1 - momentum)
        weights = weights.moved(ahead.mapped(direction), rate)
        yield weights


def adam_steps(task: Facts, weights: Weights, *, rate: float, steps: int) -> Iterator[Weights]:
    """Take full-batch steps of Adam, and yield the weights at the start and after each step.

    Adam has its usual constants. Entries of a gradient that are rounding errors count as zero,
    because Adam would divide them by their own size and take full steps.
    """
    now = weights.mapped(torch.clone)
    adam = Adam([now.ov, now.kq], [rate] * len(now.ov))
    yield weights
    for _ in range(steps):
        descent = task.gradient(now).mapped(lambda gradient: -unrounded(gradient).contiguous())
        adam.step([now.ov, now.kq], [descent.ov, descent.kq])
        yield now.mapped(torch.clone)
