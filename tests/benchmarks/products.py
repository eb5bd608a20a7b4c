"""How near recall comes to the speed of its matrix products, and replicates per second."""

from __future__ import annotations

import torch

from tests.benchmarks import recall, three_steps
from tests.benchmarks.table import Section, compared
from tests.benchmarks.timing import in_turns, isolated

SIZES: recall.Sizes = (8192, 512)
BATCH: three_steps.Sizes = (1024, 8192, 32, 64)
REPLICATES = {"cpu": 1, "cuda": 16}
"""Replicates in one call of the closed form, by device type: a GPU needs many to be busy."""

NOTE = (
    "operations of the two matrix products of recall over the time of the whole recall, argmax "
    "included, against a plain `torch.mm` of the larger product's shapes into a given matrix: the "
    "measured peak. Replicates a second of the whole three steps, float64. Least of 5 runs, in "
    "turns."
)


def efficiency(sizes: recall.Sizes, dtype: str, device: str, rounds: int = 5) -> list[float]:
    """Operations a second, in units of 10^9, of recall and of a plain product."""
    vocab_size, dim = sizes
    u, memory, values = recall.draw(sizes, device, getattr(torch, dtype))
    left, right = values[0], u[0].T
    scores = left.new_empty(vocab_size, vocab_size)
    works = (
        lambda: recall.tiled(u, memory, values),
        lambda: torch.mm(left, right, out=scores),
    )
    ours, plain = in_turns(works, rounds, device)
    larger = 2 * vocab_size**2 * dim
    return [1e-9 * (larger + 2 * vocab_size * dim**2) / ours.wall, 1e-9 * larger / plain.wall]


def replicates(sizes: three_steps.Sizes, device: str, rounds: int = 5) -> list[float]:
    """Replicates a second of the closed form, batched, and of the oracle."""
    count = REPLICATES[torch.device(device).type]
    batch = three_steps.draw(sizes, device, count)
    works = (lambda: three_steps.closed_form(batch), lambda: three_steps.by_autograd(batch))
    ours, theirs = in_turns(works, rounds, device)
    return [count / ours.wall, 1 / theirs.wall]


def section(
    device: str,
    threads: int,
    sizes: recall.Sizes = SIZES,
    batch: three_steps.Sizes = BATCH,
) -> Section:
    """Both precisions, and replicates a second."""
    rows = []
    for dtype in ("float64", "float32"):
        ours, plain = isolated(threads, efficiency, sizes, dtype, device)
        case = f"recall, V, d = {sizes[0]}, {sizes[1]}, {dtype}, {device}"
        rows.append(compared(case, ours, "torch.mm", plain, "GFLOP/s", more=True))
    ours, theirs = isolated(threads, replicates, batch, device)
    case = f"{three_steps.name(batch)}, {device}"
    rows.append(compared(case, ours, "autograd", theirs, "replicates/s", more=True))
    return Section("products", tuple(rows), NOTE)
