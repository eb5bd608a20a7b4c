"""Memories of Zipf data: W = sum_x q(x) u_{f(x)} e_x^T over tokens of unequal frequency.

Token x = 1, 2, ... has frequency x^-alpha / zeta(alpha), embedding e_x, and one of M labels, f(x) =
x mod M. Its answer is the label a of largest score ``u_a . W e_x``, where u_a is the label's
embedding. The schemes of weights q are taken from arXiv 2310.02984 (paper C, statement C3). Tokens
of one label that are not stored are exchangeable. So a few of them, the probes, represent
infinitely many if each label has probes.
"""

import numpy as np
import numpy.typing as npt
import torch
from scipy import special

from simulation.embeddings import unit_vectors
from simulation.streams import Rngs, Streams
from simulation.tiles import groups

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

PROBES = 100
"""Number of probes, tested but not stored."""


def frequencies(tokens: int, alpha: float) -> Floats:
    """Compute the frequencies of the ``tokens`` most frequent tokens among infinitely many.

    Raises ValueError unless alpha is above 1.
    """
    if alpha <= 1:
        raise ValueError(f"alpha is {alpha}: frequencies add up only above 1")
    values: Floats = np.arange(1.0, tokens + 1) ** -alpha / special.zeta(alpha)
    return values


def weights(tokens: int, alpha: float, *, power: float = 0.0) -> Floats:
    """Compute weights (p / p_1)^power of the stored tokens, with frequencies p: (tokens,).

    Errors as for `frequencies`.

    >>> weights(3, 2.0, power=0.5).round(3).tolist()
    [1.0, 0.5, 0.333]
    """
    values = frequencies(tokens, alpha)
    relative: Floats = (values / values[0]) ** power
    return relative


def memory(
    weight: torch.Tensor, label: torch.Tensor, inputs: torch.Tensor, outputs: torch.Tensor
) -> torch.Tensor:
    """Compute the memory sum_x q(x) u_{f(x)} e_x^T: (..., d, d).

    >>> q, f, basis = torch.tensor([1.0, 0.5]), torch.tensor([0, 1]), torch.eye(2)
    >>> memory(q, f, basis, basis).tolist()
    [[1.0, 0.0], [0.0, 0.5]]
    """
    return (weight[..., None] * outputs[..., label, :]).mT @ inputs


def error(
    rngs: Rngs,
    *,
    stored: int,
    labels: int,
    dim: int,
    alpha: float,
    power: float = 0.0,
    samples: int | None = None,
    fresh: int = 0,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> torch.Tensor:
    """Measure the error rate of a memory of the most frequent tokens, from each generator: (R,).

    ``stored``: number of most frequent tokens in the memory.  ``samples``: size of the training
    set; tokens that it does not contain get weight 0.  ``power``: as for :func:`weights`.

    Each token's frequency is replaced by the mean frequency of all tokens of equal weight whose
    labels have equally many stored tokens. Without samples, or with power 0, these tokens are
    exchangeable, so the measured error has the same mean and varies much less. Otherwise the mean
    frequency is an approximation, because the labels have tokens of different weights.

    ``fresh``: if positive, each stored token is tested under this number of fresh embeddings, with
    the other tokens' embeddings unchanged. The expected error is again the same. These tests need
    tensors of stored x fresh x labels numbers, and show failures of frequent tokens that a few
    thousand memories would never show.

    Raises ValueError for fewer than 2 labels, fewer than 1 stored token or dimension, or ``alpha``
    of at most 1.
    """
    if labels < 2 or stored < 1 or dim < 1:
        raise ValueError(
            f"labels={labels}, stored={stored}, dim={dim}: give at least 2 labels, 1 stored token "
            "and 1 dimension"
        )
    mass = np.concatenate([frequencies(stored, alpha), np.zeros(PROBES)])
    mass[stored:] = (1 - mass.sum()) / PROBES
    label = np.arange(1, stored + PROBES + 1) % labels
    scheme = np.concatenate([weights(stored, alpha, power=power), np.zeros(PROBES)])
    streams = Streams(rngs, device, dtype)
    with streams.together():
        inputs, outputs = unit_vectors(streams, mass.size, dim), unit_vectors(streams, labels, dim)
        held = np.ones((len(rngs), stored), dtype=bool)
        if samples is not None:
            law = np.append(mass[:stored], mass[stored:].sum())
            held = Streams(rngs).counts(samples, law)[:, :stored].numpy() > 0  # stays on the host
        drawn = unit_vectors(streams, fresh, dim) if fresh else None
        kept = np.concatenate([held, np.zeros((len(rngs), PROBES), dtype=bool)], 1) * scheme
        shares = np.stack([_averaged(mass, weight, label) for weight in kept])
        q, share, f = streams.moved(kept, dtype), streams.moved(shares, dtype), streams.moved(label)
    errors = []
    for r in groups(len(rngs), max(mass.size * (labels + dim), stored * fresh * labels), inputs):
        e, u = inputs[r], outputs[r]
        wrong = ((u @ memory(q[r], f, e, u) @ e.mT).argmax(1) != f).to(dtype)
        if drawn is not None:
            old = q[r, :stored], f[:stored], e[:, :stored]
            wrong[:, :stored] = _failures(*old, u, drawn[r])
        errors.append((share[r] * wrong).sum(1))
    return torch.cat(errors)


def _failures(
    weight: torch.Tensor,
    label: torch.Tensor,
    inputs: torch.Tensor,
    outputs: torch.Tensor,
    fresh: torch.Tensor,
) -> torch.Tensor:
    """Measure the error rate of each token under fresh embeddings: (R, tokens)."""
    kept = outputs @ memory(weight, label, inputs, outputs) @ fresh.mT
    # The fresh embedding replaces the old one in the memory. Axes: replicate, token, fresh
    # embedding, label.
    swapped = weight[..., None] * (1 - inputs @ fresh.mT)
    scores = swapped[..., None] * (outputs @ outputs.mT)[:, label, None]
    scores += kept.mT[:, None]
    return (scores.argmax(3) != label[:, None]).to(inputs).mean(2)


def _averaged(mass: Floats, weight: Floats, label: Integers) -> Floats:
    """Average frequencies over exchangeable tokens."""
    load = np.bincount(label, weight > 0)[label]
    kinds = np.unique(np.stack([weight, load]), axis=1, return_inverse=True)[1].ravel()
    averages: Floats = (np.bincount(kinds, mass) / np.bincount(kinds))[kinds]
    return averages
