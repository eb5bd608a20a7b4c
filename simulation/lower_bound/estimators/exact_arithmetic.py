r"""Decoder that finds all counts from one exact number, so the lower bound needs a noisy channel.

With d = 1 the gradient is one number, :math:`G \propto \sum_{kx} u_k C_{kx} z_x`. The integer
:math:`C_{kx}` counts how often token x occurs under label k, and G determines each column of C only
up to a constant, because the u_k are centred. Apart from these constants and for generic
embeddings, no two of the finitely many tables C give the same G. So a decoder of infinite precision
finds the table in a list of all, and applies Bayes' rule:

.. math:: P(\pi \mid C) \propto \sum_{C' \sim C} \prod_k
    \frac{C'_{kx}!}{(C'_{kx} - n_k)!}\Big|_{x = \pi^{-1}(k)} \prod_{kx} \frac{1}{C'_{kx}!} ,

summed over the tables C' of non-negative counts, with the true total, that differ from C by
such constants. Here :math:`n_k` is the number of sequences with label k.
"""

import itertools
import math
from functools import cache

import numpy as np
import numpy.typing as npt
import torch

from simulation.lower_bound.estimators.exact_bayes import every_map
from simulation.lower_bound.gradient_channel import Observation

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def labels(observation: Observation) -> torch.Tensor:
    """Find the likeliest label of each token, (R, V) int64, from observations of ``dim`` 1."""
    maps = every_map(observation.vocab_size).numpy()
    tables = [_table(observation, r) for r in range(len(observation.gradient))]
    found = [_likeliest(t, maps, observation.samples, observation.length) for t in tables]
    return torch.from_numpy(np.stack(found))


def gap(observation: Observation) -> torch.Tensor:
    """Divide the least difference between two tables' gradients by the largest gradient: (R,)."""
    values = np.stack([_gradients(observation, r) for r in range(len(observation.gradient))])
    values.sort(axis=1)
    return torch.from_numpy(np.diff(values, axis=1).min(1) / np.abs(values).max(1))


@cache
def every_table(vocab_size: int, length: int, samples: int) -> Integers:
    """List every count table of ``samples`` sequences: (number of tables, V, V), labels by tokens.

    The smallest entry of each column is subtracted, because the gradient does not depend on it.
    """
    bags = itertools.combinations_with_replacement(range(vocab_size), length)
    rows = np.stack([np.bincount(bag, minlength=vocab_size) for bag in bags])
    one = np.zeros((vocab_size, len(rows), vocab_size, vocab_size), dtype=np.int64)
    one[np.arange(vocab_size), :, np.arange(vocab_size)] = rows
    base = samples * length + 1
    powers = base ** np.arange(vocab_size**2, dtype=np.int64)
    steps = one.reshape(-1, vocab_size**2) @ powers
    codes = np.zeros(1, dtype=np.int64)
    for _ in range(samples):
        codes = np.unique(codes[:, None] + steps)
    tables = (codes[:, None] // powers % base).reshape(-1, vocab_size, vocab_size)
    tables -= tables.min(1, keepdims=True)
    known = np.unique(tables.reshape(-1, vocab_size**2) @ powers)
    least: Integers = known[:, None] // powers % base
    return least.reshape(-1, vocab_size, vocab_size)


@cache
def _entries(vocab_size: int, length: int, samples: int) -> Floats:
    tables = every_table(vocab_size, length, samples)
    return tables.reshape(len(tables), -1).astype(np.float64)


def _gradients(observation: Observation, replicate: int) -> Floats:
    entries = _entries(observation.vocab_size, observation.length, observation.samples)
    u, z = (table[replicate, :, 0].numpy() for table in (observation.u, observation.z))
    weights = np.outer(u - u.mean(), z).ravel() / (observation.samples * observation.length)
    gradients: Floats = entries @ weights
    return gradients


def _table(observation: Observation, replicate: int) -> Integers:
    seen = float(observation.gradient[replicate, 0, 0])
    tables = every_table(observation.vocab_size, observation.length, observation.samples)
    nearest: Integers = tables[np.abs(_gradients(observation, replicate) - seen).argmin()]
    return nearest


def _likeliest(table: Integers, maps: Integers, samples: int, length: int) -> Integers:
    size = len(table)
    spare = (samples * length - int(table.sum())) // size
    counts = (table.sum(1) + spare) // length
    # Each column of the true table is higher by a constant; these constants add up to `spare`.
    shifts = [s for s in itertools.product(range(spare + 1), repeat=size) if sum(s) == spare]
    tokens = np.argsort(maps, axis=1)
    chances = np.zeros(len(maps))
    for shift in shifts:
        full = table + np.array(shift)
        ways = 1 / math.prod(math.factorial(int(count)) for count in full.flat)
        rest = full - counts[:, None]
        falling = np.array(
            [[math.perm(int(c), int(n)) for c in row] for row, n in zip(full, counts, strict=True)]
        ) * (rest >= 0)
        chances += ways * falling[np.arange(size), tokens].prod(1)
    marginals = np.stack([chances @ (maps == label) for label in range(size)], axis=1)
    likeliest: Integers = marginals.argmax(1)
    return likeliest
