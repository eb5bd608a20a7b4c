"""A linear memory of items of unequal frequency, after one step of an optimiser or a few.

Item i = 1, ..., N has frequency p_i, a power law, and Gaussian embeddings u_i, v_i of mean square
length 1.  The memory W answers v_i with the output of largest score ``u_j . W v_i``; item i is
recalled if that is u_i.  Steps start from W = 0, where all softmax probabilities are 1/N and the
cross-entropy has the gradient -G, ``G = sum_i p_i (u_i - ubar) v_i^T``.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch

from simulation.embeddings import gaussian
from simulation.spectral.flows import polar
from simulation.streams import Rngs, Streams

Floats = npt.NDArray[np.float64]

_FIRST = 32
"""Outputs that all scores are compared with first; what survives is compared with the others."""
_RANK = 1e-10
"""Singular values below this part of the largest are rounding."""


def frequencies(items: int, exponent: float) -> Floats:
    """Frequencies i^-exponent of the items, adding up to 1.

    >>> frequencies(2, 2.0).tolist()
    [0.8, 0.2]
    """
    values: Floats = np.arange(1.0, items + 1) ** -exponent
    values /= values.sum()
    return values


def gradient(weights: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    """Minus the gradient of the cross-entropy at W = 0, for items of these weights: (d, d).

    >>> u = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> gradient(torch.tensor([1.0, 0.0]), u, u).tolist()
    [[0.5, 0.0], [-0.5, 0.0]]
    """
    centred = outputs - outputs.mean(0)
    return torch.mm((centred * weights[:, None]).mT, inputs)


def softmax_gradient(
    memory: torch.Tensor, weights: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor
) -> torch.Tensor:
    """Minus the gradient of the cross-entropy at any W, for items of these weights: (d, d)."""
    shares = (inputs @ memory.mT @ outputs.mT).softmax(1)
    return ((outputs - shares @ outputs) * weights[:, None]).mT @ inputs


def newton(weights: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    """Newton's step from W = 0: (d, d).

    The Hessian there is the Kronecker product of the outputs' covariance, all N alike, and the
    inputs' second moment under the weights.
    """
    centred = outputs - outputs.mean(0)
    covariance = centred.mT @ centred / len(outputs)
    moment = (inputs * weights[:, None]).mT @ inputs
    half = torch.linalg.solve(covariance, gradient(weights, inputs, outputs))
    step: torch.Tensor = torch.linalg.solve(moment, half.mT).mT
    return step


def recalled(memory: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    """Whether each input scores its own output above all others: (N,) bool."""
    answers = inputs @ memory.mT
    own = (answers * outputs).sum(1)
    index = torch.arange(len(outputs), device=outputs.device)
    found = _above(own, answers, outputs[:_FIRST], index)
    left = torch.nonzero(found)[:, 0]
    found[left] = _above(own[left], answers[left], outputs, index[left])
    return found


def one_step(
    rngs: Rngs,
    *,
    dim: int,
    items: int,
    exponent: float,
    steps: Sequence[str] = ("gradient", "spectral", "newton"),
    batch: int | None = None,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> dict[str, torch.Tensor]:
    """Number of items recalled after one step of each kind: (R,), by kind.

    ``steps``: of "gradient", "spectral" (the polar factor of the gradient) and "newton".
    ``batch``: samples that the gradient is an average over; None for the population. The embeddings
    are drawn before the batch, so that they are the same with and without.
    """
    found: dict[str, list[torch.Tensor]] = {step: [] for step in steps}
    population = frequencies(items, exponent)
    for streams in Streams(rngs, device, dtype).alone():
        inputs, outputs = _embeddings(streams, items, dim)
        p = torch.from_numpy(population).to(inputs)
        if batch is not None:
            p = streams.counts(batch, population)[0] / batch
        for step in steps:
            memory = _STEPS[step](p, inputs, outputs)
            found[step].append(recalled(memory, inputs, outputs).sum())
    return {step: torch.stack(counts).to(dtype) for step, counts in found.items()}


def batch_and_population(
    rngs: Rngs,
    *,
    dim: int,
    items: int,
    exponent: float,
    batch: int,
    steps: Sequence[str],
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> dict[str, torch.Tensor]:
    """Items recalled after a step on a batch, and on the population, of the same embeddings.

    Returns (R,) counts under the name of each step, and under that with "_all" for the population.
    """
    found: dict[str, list[torch.Tensor]] = {}
    population = frequencies(items, exponent)
    every = torch.from_numpy(population).to(device, dtype)
    for streams in Streams(rngs, device, dtype).alone():
        inputs, outputs = _embeddings(streams, items, dim)
        sampled = streams.counts(batch, population)[0] / batch
        for name, p in (("", sampled), ("_all", every)):
            for step in steps:
                count = recalled(_STEPS[step](p, inputs, outputs), inputs, outputs).sum()
                found.setdefault(step + name, []).append(count)
    return {name: torch.stack(counts).to(dtype) for name, counts in found.items()}


def several_steps(
    rngs: Rngs,
    *,
    dim: int,
    items: int,
    exponent: float,
    steps: int,
    rule: str,
    rate: float | None = None,
    batch: int | None = None,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Count the items recalled after each of several thresholded steps.

    Each step takes the gradient at W = 0 of the items that are not yet recalled, as if these had
    softmax probability 0 and all others 1.

    Args:
        rngs, dim, items, exponent, device, dtype: as above.
        steps: how many.
        rule: matrix that a step adds: the polar factor of the gradient ("spectral"), the gradient
            over its largest singular value ("gradient"), or the paper's `regularised` polar
            factor ("regularised").
        rate: if given, each step has size rate * sqrt(d), along the exact gradient of the whole
            softmax at the current memory.
        batch: samples per step, drawn afresh for each step; None for the population.

    Returns:
        Number of items recalled, and the probability of all others, each (R, steps).
    """
    counts, masses = [], []
    population = frequencies(items, exponent)
    p = seen = torch.from_numpy(population).to(device, dtype)
    for streams in Streams(rngs, device, dtype).alone():
        inputs, outputs = _embeddings(streams, items, dim)
        memory = torch.zeros(dim, dim, device=device, dtype=dtype)
        known = torch.zeros(items, device=device, dtype=torch.bool)
        if batch is not None:
            batches = streams.counts(batch, population, steps)[0] / batch
        path = []
        for step in range(steps):
            if batch is not None:
                seen = batches[step]
            if rate is not None:
                missing = softmax_gradient(memory, seen, inputs, outputs)
            else:
                missing = gradient(seen * ~known, inputs, outputs)
            if missing.any():
                if rule == "regularised":
                    last = dim ** (2 - (1 - 1 / (2 * exponent)) ** (step + 1))
                    last = last if batch is None else min(last, batch ** (1 / exponent))
                    ridge = population[0] * last**-exponent * dim**0.5
                    added = (1 if rate is None else rate * dim**0.5) * regularised(missing, ridge)
                else:
                    added = _NORMALISED[rule](missing)
                memory = memory + added
                known = recalled(memory, inputs, outputs)
            path.append(known)
        whole = torch.stack(path).to(dtype)
        counts.append(whole.sum(1))
        masses.append((1 - whole) @ p)
    return torch.stack(counts), torch.stack(masses)


def regularised(matrix: torch.Tensor, ridge: float) -> torch.Tensor:
    """Replace each singular value z of the matrix by z / sqrt(z^2 + ridge^2): (d, d).

    >>> regularised(torch.tensor([[0.0, 3.0], [-3.0, 0.0]]), 4.0).round(decimals=3).tolist()
    [[0.0, 0.6000000238418579], [-0.6000000238418579, 0.0]]
    """
    values, vectors = torch.linalg.eigh(matrix.mT @ matrix)
    factor: torch.Tensor = matrix @ (vectors / (values + ridge**2).sqrt()) @ vectors.mT
    return factor


def _spectral(p: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    return polar(gradient(p, inputs, outputs), _RANK)


_STEPS: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "gradient": gradient,
    "spectral": _spectral,
    "newton": newton,
}
_NORMALISED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "gradient": lambda matrix: matrix / torch.linalg.matrix_norm(matrix, 2),
    "spectral": lambda matrix: polar(matrix, _RANK),
}


def _above(
    own: torch.Tensor, answers: torch.Tensor, outputs: torch.Tensor, index: torch.Tensor
) -> torch.Tensor:
    """Whether no output but number ``index`` scores at least ``own``: (n,) bool."""
    scores = answers @ outputs.mT
    inside = index < len(outputs)
    scores[inside, index[inside]] = -torch.inf
    return own > scores.amax(1)


def _embeddings(streams: Streams, items: int, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and outputs, each (N, d), of one replicate."""
    inputs, outputs = (gaussian(streams, items, dim)[0] for _ in range(2))
    return inputs, outputs
