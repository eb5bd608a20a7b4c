"""Items that exact steps recall on the published schedule, next to thresholded ones.

    python -m tests.benchmarks.schedule SEED DIM EXPONENT STEPS

One memory, in float32. There are d^2 items, and each step has size 2 sqrt(d). Prints a line for
each step: its number, the items recalled, and their ratio to the theory of thresholded steps. A
step takes about 4 d^5 operations: one to two minutes at d = 256 on a core. Scores are held in
tiles, so that d = 512 fits in 3 GB. The rows of theory/spectral/several_steps.md at d = 256 are
made so.
"""

import sys

import numpy as np
import torch

from simulation.spectral.one_step import frequencies, gradient, regularised
from theory.spectral import several_steps as theory

RATE = 2.0
TILE = 2**27
"""Scores in memory at a time."""


def main(seed: int, dim: int, exponent: float, steps: int) -> None:
    """Print the items recalled after each step, and their ratio to the theory."""
    items = dim**2
    rng = np.random.default_rng([seed, dim, int(10 * exponent), 0])
    p = frequencies(items, exponent)
    weights = torch.as_tensor(p).float()
    draws = (rng.standard_normal((items, dim), dtype=np.float32) for _ in range(2))
    inputs, outputs = (torch.from_numpy(draw) / dim**0.5 for draw in draws)
    memory, missing = torch.zeros(dim, dim), gradient(weights[None], inputs[None], outputs[None])[0]
    scores = torch.empty(max(1, TILE // items), items)
    for step in range(steps):
        ridge = p[0] * theory.last_rank(dim, exponent, step + 1) ** -exponent * dim**0.5
        memory = memory + RATE * dim**0.5 * regularised(missing, float(ridge))
        missing, known = torch.zeros_like(memory), 0
        for rows in torch.split(torch.arange(items), len(scores)):
            tile = torch.mm(inputs[rows] @ memory.T, outputs.T, out=scores[: len(rows)])
            known += int((tile.argmax(1) == rows).sum())
            if step < steps - 1:
                tile -= tile.amax(1, keepdim=True)
                answers = tile.exp_() @ outputs / tile.sum(1, keepdim=True)
                missing += ((outputs[rows] - answers) * weights[rows, None]).T @ inputs[rows]
        ratio = known / theory.recalled(dim, items, exponent, step + 1)
        print(step + 1, known, round(ratio, 3), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
