"""Items that exact steps recall on the published schedule, next to thresholded ones.

    python -m tests.benchmarks.schedule SEED DIM EXPONENT STEPS REPLICATES

Prints two lines: items recalled after each step, and their ratio to the theory of thresholded
steps. There are d^2 items, and each step has size 2 sqrt(d). A replicate has about 4 d^5 operations
per step: on one core 3 seconds at d = 128. Scores are held in tiles, so that d = 256 fits in 1 GB.
The table of theory/spectral/several_steps.md is made so.
"""

import sys

import numpy as np
import torch

from simulation.spectral.one_step import frequencies, gradient, regularised
from theory.spectral import several_steps as theory

RATE = 2.0
TILE = 2**22
"""Scores in memory at a time."""


def counts(rng: np.random.Generator, dim: int, exponent: float, steps: int) -> list[int]:
    """Count the items recalled after each step: (steps,)."""
    items = dim**2
    p = frequencies(items, exponent)
    weights = torch.from_numpy(p).float()
    draws = (rng.standard_normal((items, dim), dtype=np.float32) for _ in range(2))
    inputs, outputs = (torch.from_numpy(draw) / dim**0.5 for draw in draws)
    memory, missing = torch.zeros(dim, dim), gradient(weights[None], inputs[None], outputs[None])[0]
    found = []
    for step in range(steps):
        ridge = p[0] * theory.last_rank(dim, exponent, step + 1) ** -exponent * dim**0.5
        memory = memory + RATE * dim**0.5 * regularised(missing, float(ridge))
        missing, known = torch.zeros_like(memory), 0
        for rows in torch.split(torch.arange(items), max(1, TILE // items)):
            scores = inputs[rows] @ memory.T @ outputs.T
            known += int((scores.argmax(1) == rows).sum())
            left = (outputs[rows] - scores.softmax(1) @ outputs) * weights[rows, None]
            missing += left.T @ inputs[rows]
        found.append(known)
    return found


def main(seed: int, dim: int, exponent: float, steps: int, replicates: int) -> None:
    """Print the mean counts and their ratios to the theory."""
    rngs = (np.random.default_rng([seed, dim, int(10 * exponent), r]) for r in range(replicates))
    mean = np.mean([counts(rng, dim, exponent, steps) for rng in rngs], axis=0)
    thresholded = [theory.recalled(dim, dim**2, exponent, t + 1) for t in range(steps)]
    print(*mean.round(1))
    print(*(mean / thresholded).round(3))


if __name__ == "__main__":
    torch.set_num_threads(1)
    seed, dim, exponent, steps, replicates = sys.argv[1:]
    main(int(seed), int(dim), float(exponent), int(steps), int(replicates))
