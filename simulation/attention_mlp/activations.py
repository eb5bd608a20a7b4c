"""Activations of the random first layer, each with its derivative."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Map = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Activation:
    """An elementwise map and its derivative; ReLU has slope 0 at 0, as in autograd."""

    value: Map
    slope: Map


def _polynomial(*coefficients: float) -> Activation:
    """Make a polynomial from its coefficients in ascending order of powers."""
    slopes = [power * c for power, c in enumerate(coefficients)][1:]
    return Activation(lambda x: _horner(x, coefficients), lambda x: _horner(x, slopes))


def _horner(x: Tensor, coefficients: "tuple[float, ...] | list[float]") -> Tensor:
    # In place and without adding zeros, because passes over memory take all of the time.
    *lower, last = coefficients
    total = x * last
    for power in range(len(lower) - 1, -1, -1):
        if lower[power]:
            total.add_(lower[power])
        if power:
            total.mul_(x)
    return total


def _density(x: Tensor) -> Tensor:
    return torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


_R2, _R6 = math.sqrt(2), math.sqrt(6)

ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(torch.relu, lambda x: (x > 0).to(x.dtype)),
    "gelu": Activation(
        lambda x: x * torch.special.ndtr(x), lambda x: torch.special.ndtr(x) + x * _density(x)
    ),
    "tanh": Activation(torch.tanh, lambda x: 1 - torch.tanh(x) ** 2),
    "x+x2": _polynomial(0, 1, 1),
    "he2": _polynomial(-1 / _R2, 0, 1 / _R2),
    "he3": _polynomial(0, -3 / _R6, 0, 1 / _R6),
    "he1+he2": _polynomial(-1 / _R2, 1, 1 / _R2),
    "he2+he3": _polynomial(-1 / _R2, -3 / _R6, 1 / _R2, 1 / _R6),
    "0.3he1+he2+he3": _polynomial(-1 / _R2, 0.3 - 3 / _R6, 1 / _R2, 1 / _R6),
}
"""Activations by name. ``he1``, ``he2``, ``he3`` are Hermite polynomials of unit variance under
N(0, 1)."""


def activation(name: str) -> Activation:
    """Look up an activation by name.

    Raises ValueError for an unknown name; the message lists the known names.
    """
    if name not in ACTIVATIONS:
        raise ValueError(f"unknown activation {name!r}: give one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]
