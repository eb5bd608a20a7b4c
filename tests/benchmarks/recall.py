"""Time and peak memory of recall: a tile of scores at a time against all of them at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from simulation import decoding
from tests.benchmarks.table import Section, compared
from tests.benchmarks.timing import Timing, in_turns, isolated, peak_mib

Sizes = tuple[int, int]
Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]

SIZES: Sequence[Sizes] = ((4096, 64), (8192, 512), (16384, 64))
"""(vocab_size, dim); as many values as labels."""

NOTE = (
    "the label of each of V values among V labels, float64, one replicate; against "
    "`(values @ memory.T) @ u.T` and its argmax, which give the same labels. Least of 5 runs, in "
    "turns; memory is the peak beyond the arguments."
)


def draw(sizes: Sizes, device: str, dtype: torch.dtype = torch.float64) -> Tensors:
    """Labels' embeddings, memory and values, of Gaussian entries."""
    vocab_size, dim = sizes
    generator = torch.Generator().manual_seed(0)
    shapes = ((1, vocab_size, dim), (1, dim, dim), (1, vocab_size, dim))
    u, memory, values = (
        torch.randn(shape, generator=generator, dtype=dtype).to(device) for shape in shapes
    )
    return u, memory, values


def tiled(u: torch.Tensor, memory: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """What the suite uses: (1, V) labels."""
    return decoding.predict(u, memory, values)


def dense(u: torch.Tensor, memory: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The definition: (1, V) labels from a (V, V) matrix of scores."""
    return ((values[0] @ memory[0].T) @ u[0].T).argmax(1)[None]


def speed(sizes: Sizes, device: str, rounds: int = 5) -> list[Timing]:
    """Tiled and dense.

    Raises:
        AssertionError: they differ.
    """
    tensors = draw(sizes, device)
    assert torch.equal(tiled(*tensors), dense(*tensors)), f"tiled and dense recall differ, {sizes}"
    return in_turns((lambda: tiled(*tensors), lambda: dense(*tensors)), rounds, device)


def memory_of(method: str, sizes: Sizes, device: str) -> float:
    """Peak memory of the method of that name in this module, in MiB."""
    function, tensors, small = globals()[method], draw(sizes, device), draw((64, 8), device)
    return peak_mib(lambda: function(*tensors), lambda: function(*small), device)


def section(device: str, threads: int, sizes: Sequence[Sizes] = SIZES) -> Section:
    """Time and memory at each size."""
    rows = []
    for each in sizes:
        ours, theirs = isolated(threads, speed, each, device)
        lean = isolated(threads, memory_of, "tiled", each, device)
        heavy = isolated(threads, memory_of, "dense", each, device)
        case = f"V, d = {each[0]}, {each[1]}"
        rows += [
            compared(f"{case}: time", 1e3 * ours.wall, "dense", 1e3 * theirs.wall, "ms"),
            compared(f"{case}: memory", lean, "dense", heavy, "MiB"),
        ]
    return Section("recall", tuple(rows), NOTE)
