"""Linear memory of items of unequal frequency, after one or a few steps of an optimiser.

Item i = 1, ..., N has frequency p_i, a power law, and Gaussian embeddings u_i, v_i of mean square
length 1. The memory W answers v_i with the output of largest score ``u_j . W v_i``; item i is
recalled if the answer is u_i. Steps start from W = 0, where all softmax probabilities are 1/N and
the cross-entropy has the gradient -G, ``G = sum_i p_i (u_i - ubar) v_i^T``, with ubar the mean
output.

Replicates are simulated in groups that fit a tile.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import torch

from simulation.embeddings import gaussian
from simulation.spectral.singular_values import largest, polar
from simulation.streams import Rngs, Streams
from simulation.tiles import groups

Floats = npt.NDArray[np.float64]

_FIRST = {"cpu": 32, "cuda": None}
"""Number of outputs compared first, by device type. Only items whose own output scores above these
are compared with all. A GPU compares all: it would wait for a count of items."""
_RANK = 1e-10
"""Singular values below this part of the largest are rounding."""


def frequencies(items: int, exponent: float) -> Floats:
    """Compute the items' frequencies, proportional to i^-exponent: (items,), adding up to 1.

    >>> frequencies(2, 2.0).tolist()
    [0.8, 0.2]
    """
    values: Floats = np.arange(1.0, items + 1) ** -exponent
    values /= values.sum()
    return values


def gradient(weights: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    """Compute minus the gradient of the cross-entropy at W = 0: (R, d, d).

    ``weights``: (R, N) or (1, N), of the items.  ``inputs``, ``outputs``: (R, N, d).

    >>> u = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    >>> gradient(torch.tensor([[1.0, 0.0]]), u, u).tolist()
    [[[0.5, 0.0], [-0.5, 0.0]]]
    """
    return (_centred(outputs) * weights[..., None]).mT @ inputs


def softmax_gradient(
    memory: torch.Tensor, weights: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor
) -> torch.Tensor:
    """Compute minus the gradient of the cross-entropy at W = ``memory``: (R, d, d)."""
    shares = (inputs @ memory.mT @ outputs.mT).softmax(2)
    return ((outputs - shares @ outputs) * weights[..., None]).mT @ inputs


def newton(weights: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    """Compute Newton's step from W = 0: (R, d, d).

    The Hessian at W = 0 is the Kronecker product of the outputs' covariance, with all N weighted
    equally, and the inputs' second moment under the weights. If a factor is singular, as with at
    most d items, the step is made of rounding errors, or is not finite. No error is raised, because
    a GPU would have to wait for the test.
    """
    centred = _centred(outputs)
    covariance = centred.mT @ centred / outputs.shape[1]
    moment = (inputs * weights[..., None]).mT @ inputs
    half = torch.linalg.solve_ex(covariance, gradient(weights, inputs, outputs))[0]
    step: torch.Tensor = torch.linalg.solve_ex(moment, half.mT)[0].mT
    return step


def recalled(memory: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    """Check whether each input scores its own output above all others: (R, N) bool."""
    answers = inputs @ memory.mT
    own = (answers * outputs).sum(2)
    index = torch.arange(own.shape[1], device=own.device).expand(own.shape)
    first = outputs[:, : _FIRST[own.device.type]]
    found = _above(own, answers, first, index)
    if first.shape != outputs.shape:
        # Survivors come first; other items fill up the rows with fewer survivors.
        left = found.sort(dim=1, descending=True).indices[:, : int(found.sum(1).max())]
        rows = answers.take_along_dim(left[..., None], 1)
        rest = _above(own.gather(1, left), rows, outputs, left)
        found.scatter_(1, left, rest & found.gather(1, left))
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
    """Count the items recalled after one step of each kind: (R,), by kind.

    ``steps``: some of "gradient", "spectral" (the polar factor of the gradient) and "newton".
    ``batch``: number of samples over which the gradient averages; None for the population.
    Embeddings are drawn before the batch, so a batch does not change them.
    """
    found: dict[str, list[torch.Tensor]] = {step: [] for step in steps}
    streams, population = Streams(rngs, device, dtype), frequencies(items, exponent)
    for inputs, outputs, seen, _ in _drawn(streams, population, dim, batch=batch):
        for step in steps:
            memory = _STEPS[step](seen[:, 0], inputs, outputs)
            found[step].append(recalled(memory, inputs, outputs).sum(1))
    return {step: torch.cat(counts).to(dtype) for step, counts in found.items()}


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
    """Count the items recalled after a step on a batch, and after a step on the population.

    Returns (R,) counts under each step's name, with the suffix "_all" for the population. Both have
    the same embeddings. Parameters are as for `one_step`.
    """
    found: dict[str, list[torch.Tensor]] = {}
    streams, population = Streams(rngs, device, dtype), frequencies(items, exponent)
    for inputs, outputs, seen, every in _drawn(streams, population, dim, batch=batch):
        for name, p in (("", seen[:, 0]), ("_all", every)):
            for step in steps:
                count = recalled(_STEPS[step](p, inputs, outputs), inputs, outputs).sum(1)
                found.setdefault(step + name, []).append(count)
    return {name: torch.cat(counts).to(dtype) for name, counts in found.items()}


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

    The gradient of a step is the gradient at W = 0 of the items not yet recalled. So these items
    count as if their softmax probabilities were still equal, and other items as learned perfectly.

    Args:
        rngs, dim, items, exponent, device, dtype: as for `one_step`.
        steps: number of steps.
        rule: matrix that a step adds: the polar factor of the gradient ("spectral"), the gradient
            over its largest singular value ("gradient"), or the paper's `regularised` polar
            factor ("regularised").
        rate: if given, each step uses the exact softmax gradient at the current memory, and a
            "regularised" step has size rate * sqrt(d). Steps of the other rules have size 1.
        batch: samples per step, new for each step; None for the population.

    Returns:
        Number of items recalled, and total frequency of all other items, both (R, steps).
    """
    counts, masses = [], []
    streams, population = Streams(rngs, device, dtype), frequencies(items, exponent)
    scores = 0 if rate is None else items**2
    drawn = _drawn(streams, population, dim, steps, batch=batch, scores=scores)
    for inputs, outputs, seen, every in drawn:
        memory = inputs.new_zeros(len(inputs), dim, dim)
        known = torch.zeros_like(inputs[..., 0], dtype=torch.bool)
        path = []
        for step in range(steps):
            if rate is not None:
                missing = softmax_gradient(memory, seen[:, step], inputs, outputs)
            else:
                missing = gradient(seen[:, step] * ~known, inputs, outputs)
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
        whole = torch.stack(path, 1).to(dtype)
        counts.append(whole.sum(2))
        masses.append((1 - whole) @ every)
    return torch.cat(counts), torch.cat(masses)


def regularised(matrix: torch.Tensor, ridge: float) -> torch.Tensor:
    """Replace each singular value z of each matrix by z / sqrt(z^2 + ridge^2): (..., d, d).

    >>> regularised(torch.tensor([[0.0, 3.0], [-3.0, 0.0]]), 4.0).round(decimals=3).tolist()
    [[0.0, 0.6000000238418579], [-0.6000000238418579, 0.0]]
    """
    double = matrix.double()  # a square in float32 would lose singular values as small as the ridge
    if matrix.device.type != "cpu":  # a GPU would have to wait for a decomposition
        below = ridge * torch.eye(matrix.shape[-1], dtype=double.dtype, device=double.device)
        stacked = torch.cat([double, below.expand(*double.shape[:-2], -1, -1)], -2)
        return polar(stacked, _RANK)[..., : matrix.shape[-2], :].to(matrix.dtype)
    values, vectors = torch.linalg.eigh(double.mT @ double)
    scaled = vectors / (values + ridge**2).sqrt()[..., None, :]
    factor: torch.Tensor = double @ scaled @ vectors.mT
    return factor.to(matrix.dtype)


def _spectral(p: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    return polar(gradient(p, inputs, outputs), _RANK)


def _normalised(matrix: torch.Tensor) -> torch.Tensor:
    """Divide the matrix by its largest singular value; 0 stays 0."""
    return matrix / largest(matrix).clamp(min=torch.finfo(matrix.dtype).tiny)


_STEPS: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "gradient": gradient,
    "spectral": _spectral,
    "newton": newton,
}
_NORMALISED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "gradient": _normalised,
    "spectral": lambda matrix: polar(matrix, _RANK),
}


def _centred(outputs: torch.Tensor) -> torch.Tensor:
    return outputs - outputs.mean(1, keepdim=True)


def _above(
    own: torch.Tensor, answers: torch.Tensor, outputs: torch.Tensor, index: torch.Tensor
) -> torch.Tensor:
    """Check whether all ``outputs`` but the one at each index score below ``own``: (R, n) bool."""
    found, (rows, rivals) = [], (own.shape[1], outputs.shape[1])
    for r in groups(len(own), outputs[0].numel() + rows * rivals, own):
        scores = answers[r] @ outputs[r].mT
        # Only the first rows can have an index among the first outputs.
        scores[:, :rivals].scatter_(2, index[r, :rivals, None], -torch.inf)
        found.append(own[r] > scores.amax(2))
    return torch.cat(found)


def _drawn(
    streams: Streams,
    population: Floats,
    dim: int,
    steps: int = 1,
    *,
    batch: int | None,
    scores: int = 0,
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Draw inputs and outputs, (R, N, d), and two tables, for groups of replicates.

    The tables are frequencies in each step, (R or 1, steps, N), and in the population, (N,).

    ``scores``: number of scores of a replicate that are in memory at a time, in addition to four
    tables of the size of the inputs.
    """
    items = len(population)
    for r in groups(len(streams), 4 * items * dim + scores, streams):
        some = streams[r]
        with some.together():
            inputs, outputs = (gaussian(some, items, dim) for _ in range(2))
            every = some.moved(population, some.dtype)
            seen = every.expand(1, steps, -1)
            if batch is not None:
                seen = some.counts(batch, population, steps)
        yield inputs, outputs, seen if batch is None else seen / batch, every
