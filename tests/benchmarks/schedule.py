"""Items that exact steps recall on the published schedule, next to thresholded ones.

    python -m tests.benchmarks.schedule SEED DIM EXPONENT STEPS [KEPT]

One memory, in float32. There are d^2 items, and each step has size 2 sqrt(d). Prints a line for
each step: its number, the items recalled, and their ratio to the theory of thresholded steps. A
step takes about 4 d^5 operations: one to two minutes at d = 256 on a core, half an hour at
d = 512. Scores are held in blocks of rows and columns that stay in cache, with a running maximum
and a running sum of exponentials. KEPT is a file for the state after each step.
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch

from simulation.spectral.one_step import frequencies, gradient, regularised
from theory.spectral import several_steps as theory

RATE = 2.0
ROWS, COLUMNS = 256, 4096


def main(seed: int, dim: int, exponent: float, steps: int, kept: Path | None) -> None:
    """Print the items recalled after each step, and their ratio to the theory."""
    items = dim**2
    rng = np.random.default_rng([seed, dim, int(10 * exponent), 0])
    p = frequencies(items, exponent)
    weights = torch.as_tensor(p).float()
    draws = (rng.standard_normal((items, dim), dtype=np.float32) for _ in range(2))
    inputs, outputs = (torch.from_numpy(draw) / dim**0.5 for draw in draws)
    memory, missing = torch.zeros(dim, dim), gradient(weights[None], inputs[None], outputs[None])[0]
    first = 0
    if kept is not None and kept.exists():
        first, memory, missing = torch.load(kept)
    blocks = [
        (columns[0], outputs[columns[0] : columns[-1] + 1])
        for columns in torch.split(torch.arange(items), COLUMNS)
    ]
    scores = torch.empty(ROWS * COLUMNS)
    for step in range(first, steps):
        began = time.process_time()
        ridge = p[0] * theory.last_rank(dim, exponent, step + 1) ** -exponent * dim**0.5
        memory = memory + RATE * dim**0.5 * regularised(missing, float(ridge))
        missing, known = torch.zeros_like(memory), 0
        last = step == steps - 1
        for rows in torch.split(torch.arange(items), ROWS):
            queries = inputs[rows] @ memory.T
            top = torch.full((len(rows),), -torch.inf)
            own = torch.empty(len(rows))
            total, answers = torch.zeros(len(rows)), torch.zeros(len(rows), dim)
            for start, values in blocks:
                tile = scores[: len(rows) * len(values)].view(len(rows), len(values))
                torch.mm(queries, values.T, out=tile)
                higher = torch.maximum(top, tile.amax(1))
                if start <= rows[0] < start + len(values):
                    own = tile[:, int(rows[0]) - start :].diagonal().clone()
                if not last:
                    old = torch.exp(top - higher)
                    tile.sub_(higher[:, None]).exp_()
                    total = total * old + tile.sum(1)
                    answers.mul_(old[:, None]).addmm_(tile, values)
                top = higher
            known += int((own == top).sum())
            if not last:
                wrong = outputs[rows] - answers / total[:, None]
                missing += (wrong * weights[rows, None]).T @ inputs[rows]
        ratio = known / theory.recalled(dim, items, exponent, step + 1)
        seconds = round(time.process_time() - began)
        print(step + 1, known, round(ratio, 3), f"{seconds} s", flush=True)
        if kept is not None:
            torch.save((step + 1, memory, missing), kept)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    kept = Path(sys.argv[5]) if len(sys.argv) > 5 else None
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), kept)
