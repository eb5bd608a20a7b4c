"""Time and peak memory of one replicate of recall and of one-step decoding at large vocabularies.

``python -m tests.benchmarks.large_vocabulary recall --vocab-size 16384 --dim 512 --queries 16384``
prints one line of RESULTS.md.  Every measurement has a process of its own.
"""

import argparse
import multiprocessing
import time
from dataclasses import dataclass

import numpy as np
import torch

from simulation import gradient_channel, linear_memory
from simulation.estimators import matched_filter
from tests.benchmarks.timing import resident


@dataclass(frozen=True)
class Sizes:
    """What to measure: ``task`` is "recall" or "decoding"."""

    task: str
    vocab_size: int
    dim: int
    queries: int
    length: int = 4
    load: int = 16


@dataclass(frozen=True)
class Measured:
    """``start``, ``peak``: MiB resident before, and at most.  ``accuracy``: share recalled."""

    seconds: float
    start: float
    peak: float
    accuracy: float


def measure(sizes: Sizes, threads: int) -> Measured:
    """One replicate in float32, from the draws to the share recalled, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        return pool.apply(_measure, (sizes, threads))


def _measure(sizes: Sizes, threads: int) -> Measured:
    torch.set_num_threads(threads)
    _replicate(Sizes(task=sizes.task, vocab_size=64, dim=8, queries=8))  # buffers of libraries
    start, clock = resident("VmRSS"), time.perf_counter()
    accuracy = _replicate(sizes)
    return Measured(time.perf_counter() - clock, start, resident("VmHWM"), accuracy)


def _replicate(sizes: Sizes) -> float:
    rng = np.random.default_rng(1000)
    if sizes.task == "recall":
        pairs = linear_memory.draw(
            [rng], associations=sizes.vocab_size, dim=sizes.dim, dtype=torch.float32
        )
        stored = linear_memory.hebbian(pairs)
        return float(linear_memory.accuracy(pairs, stored, queries=sizes.queries))
    seen = gradient_channel.discrete(
        [rng],
        vocab_size=sizes.vocab_size,
        length=sizes.length,
        samples=sizes.load * sizes.vocab_size,
        dim=sizes.dim,
        dtype=torch.float32,
    )

    def labels(observation: gradient_channel.Observation) -> torch.Tensor:
        return matched_filter.labels(observation, queries=sizes.queries)

    return float(gradient_channel.accuracy(seen, labels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("task", choices=("recall", "decoding"))
    for name in ("vocab-size", "dim", "queries"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--length", type=int, default=4)
    parser.add_argument("--load", type=int, default=16, help="samples per token")
    parser.add_argument("--threads", type=int, default=1)
    options = vars(parser.parse_args())
    threads = options.pop("threads")
    sizes = Sizes(**options)
    found = measure(sizes, threads)
    tables = 2 * sizes.vocab_size * sizes.dim * 4 / 2**20
    square = sizes.vocab_size**2 * 4 / 2**20
    print(
        f"| {sizes.task} | {threads} | {sizes.vocab_size}, {sizes.dim}, {sizes.queries} "
        f"| {found.seconds:.1f} | {found.peak:.0f} | {found.peak - found.start:.0f} "
        f"| {tables:.0f} | {square:.0f} | {found.accuracy:.3f} |"
    )


if __name__ == "__main__":
    main()
