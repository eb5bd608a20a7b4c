"""Recall: a tile of scores at a time against all of them at once, and against its own products.

The label of each of V values among V labels, one replicate, against `(values @ memory.T) @ u.T` and
its argmax, which give the same labels. Least of 5 runs, in turns. Products: operations of the two
matrix products of recall over the time of the whole recall, argmax included, against a plain
`torch.mm` of the larger product's shapes into a given matrix: the measured peak.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import torch

from simulation import decoding
from simulation.memory import linear
from tests.benchmarks.timing import Row, in_turns, on_cuda, timed

Sizes = tuple[int, int]
"""(vocab_size, dim); as many values as labels."""
Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]

SIZES: Sequence[Sizes] = ((4096, 64), (8192, 512), (16384, 64))
PRODUCTS = {"cpu": (8192, 512), "cuda": (32768, 4096)}
LANGUAGE_MODEL = (131072, 4096)
LEAST_SHARE_OF_PEAK, MOST_SECONDS = 0.6, 60.0
"""Promises on CUDA: recall in float32 over the peak; recall at a language model's sizes."""


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
    """The suite's way: (1, V) labels."""
    return decoding.predict(u, memory, values)


def dense(u: torch.Tensor, memory: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The definition: (1, V) labels from a (V, V) matrix of scores."""
    return ((values[0] @ memory[0].T) @ u[0].T).argmax(1)[None]


def rows(device: str, sizes: Sequence[Sizes] = SIZES, large: Sizes | None = None) -> Iterator[Row]:
    """Compare time at each size, and operations a second in both precisions.

    Raises:
        AssertionError: tiled and dense recall differ.
    """
    for each in sizes:
        tensors = draw(each, device)
        assert torch.equal(tiled(*tensors), dense(*tensors)), f"tiled and dense differ at {each}"
        works = partial(tiled, *tensors), partial(dense, *tensors)
        ours, theirs = in_turns(works, 5, device)
        yield Row(f"recall, V, d = {each[0]}, {each[1]}", ours, "dense", theirs)
    V, dim = large or PRODUCTS[torch.device(device).type]
    for dtype in ("float64", "float32"):
        u, memory, values = draw((V, dim), device, getattr(torch, dtype))
        scores = values.new_empty(V, V)
        works = partial(tiled, u, memory, values), partial(torch.mm, values[0], u[0].T, out=scores)
        ours, plain = in_turns(works, 5, device)
        larger, both = 2e-6 * V**2 * dim, 2e-6 * V * dim * (V + dim)
        least = LEAST_SHARE_OF_PEAK if on_cuda(device) and dtype == "float32" else 0.0
        case = f"recall, V, d = {V}, {dim}: products, {dtype}"
        yield Row(case, both / ours, "torch.mm", larger / plain, "GFLOP/s", True, least)


def language_model(device: str, sizes: Sizes = LANGUAGE_MODEL) -> Iterator[Row]:
    """Time the recall of every pair of a vocabulary, from the draws to the share recalled.

    One replicate, float32, draws on the CPU included.
    """

    def work(associations: int, dim: int) -> None:
        rngs = [np.random.default_rng(1000)]
        pairs = linear.draw(
            rngs, associations=associations, dim=dim, device=device, dtype=torch.float32
        )
        linear.recalled_share(pairs, linear.hebbian(pairs)).item()

    work(64, 8)  # libraries load their kernels once
    seconds = timed(lambda: work(*sizes), device)
    case = f"language-model, V, d = {sizes[0]}, {sizes[1]}, {device}"
    yield Row(case, seconds, "limit", MOST_SECONDS, "s", promised=1.0)
