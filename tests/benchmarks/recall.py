"""Recall: a tile of scores at a time against all of them at once, and against its own products."""

from collections.abc import Sequence

import numpy as np
import torch

from simulation import decoding
from simulation.memory import linear
from tests.benchmarks.table import Section, compared
from tests.benchmarks.timing import Timing, in_turns, on_cuda, timed

Sizes = tuple[int, int]
Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]

SIZES: Sequence[Sizes] = ((4096, 64), (8192, 512), (16384, 64))
"""(vocab_size, dim); as many values as labels."""
PRODUCTS = {"cpu": (8192, 512), "cuda": (32768, 4096)}
LANGUAGE_MODEL = (131072, 4096)

LEAST_SHARE_OF_PEAK, MOST_SECONDS = 0.6, 60.0
"""Promises on CUDA: recall in float32 over the peak; recall at a language model's sizes."""

NOTE = (
    "the label of each of V values among V labels, float64, one replicate; against "
    "`(values @ memory.T) @ u.T` and its argmax, which give the same labels. Least of 5 runs, in "
    "turns. Products: operations of the two matrix "
    "products of recall over the time of the whole recall, argmax included, against a plain "
    "`torch.mm` of the larger product's shapes into a given matrix: the measured peak."
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


def efficiency(sizes: Sizes, dtype: str, device: str, rounds: int = 5) -> list[float]:
    """Operations a second, in units of 10^9, of recall and of a plain product."""
    vocab_size, dim = sizes
    u, memory, values = draw(sizes, device, getattr(torch, dtype))
    left, right = values[0], u[0].T
    scores = left.new_empty(vocab_size, vocab_size)
    works = (lambda: tiled(u, memory, values), lambda: torch.mm(left, right, out=scores))
    ours, plain = in_turns(works, rounds, device)
    larger = 2 * vocab_size**2 * dim
    return [1e-9 * (larger + 2 * vocab_size * dim**2) / ours.wall, 1e-9 * larger / plain.wall]


def section(device: str, sizes: Sequence[Sizes] = SIZES, product: Sizes | None = None) -> Section:
    """Time at each size, and operations a second in both precisions."""
    rows, kept = [], True
    for each in sizes:
        ours, theirs = (1e3 * timing.wall for timing in speed(each, device))
        rows.append(compared(f"V, d = {each[0]}, {each[1]}: time", ours, "dense", theirs, "ms"))
    large = product or PRODUCTS[torch.device(device).type]
    for dtype in ("float64", "float32"):
        found, peak = efficiency(large, dtype, device)
        case, against = f"V, d = {large[0]}, {large[1]}: products, {dtype}", "torch.mm"
        if on_cuda(device) and dtype == "float32":
            kept, against = found >= LEAST_SHARE_OF_PEAK * peak, f"{against} (promised: 0.6)"
        rows.append(compared(case, found, against, peak, "GFLOP/s", more=True))
    return Section("recall", tuple(rows), NOTE, kept)


def language_model(device: str, sizes: Sizes = LANGUAGE_MODEL) -> Section:
    """Recall of every pair of a vocabulary on a device, from the draws to the share recalled."""
    seconds = recall_seconds(sizes, device)
    row = compared(
        f"V, d = {sizes[0]}, {sizes[1]}, {device}", seconds, "promised", MOST_SECONDS, "s"
    )
    note = "one replicate, all V queries, float32, draws on the CPU included"
    return Section("language-model", (row,), note, seconds <= MOST_SECONDS)


def recall_seconds(sizes: Sizes, device: str) -> float:
    """From the draws to the share recalled of all pairs."""

    def work(associations: int, dim: int) -> None:
        rngs = [np.random.default_rng(1000)]
        pairs = linear.draw(
            rngs, associations=associations, dim=dim, device=device, dtype=torch.float32
        )
        linear.recalled_share(pairs, linear.hebbian(pairs)).item()

    work(64, 8)  # libraries load their kernels once
    return timed(lambda: work(*sizes), device).wall
