"""Time and peak memory of one replicate: closed form against automatic differentiation.

``python -m tests.benchmarks.three_steps [--threads 2]`` prints the tables of RESULTS.md and exits
with status 1 when a promised factor is missed.  Both sides take the same batch, in the same
process, with the same threads, one after the other, and do the whole three steps.
"""

import argparse
import gc
import multiprocessing
import platform
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from simulation import oracle, sampling, three_steps

Sizes = tuple[int, int, int, int]

PROMISED: dict[Sizes, float] = {(1024, 8192, 32, 64): 25.0, (2048, 16384, 32, 64): 50.0}
"""Least ratio of the two times, by (vocab_size, samples, length, dim)."""

LARGE: tuple[Sizes, ...] = ((4096, 65536, 32, 64), (16384, 16384, 32, 64), (32768, 65536, 32, 64))
"""Sizes at which only the closed form is measured, for its memory."""


def closed_form(batch: sampling.Batch) -> None:
    scores = three_steps.token_scores(batch)
    three_steps.trained_memory(batch, three_steps.attend(batch, scores))


def by_autograd(batch: sampling.Batch) -> None:
    oracle.train(batch, eta=1e-3, gamma=1e6)


def draw(sizes: Sizes) -> sampling.Batch:
    vocab_size, samples, length, dim = sizes
    rng = np.random.default_rng(0)
    return sampling.draw([rng], vocab_size=vocab_size, samples=samples, length=length, dim=dim)


@dataclass(frozen=True)
class Timing:
    """Least wall-clock and processor seconds over several runs.

    The least of several runs is what the code needs; the rest is what other processes took.
    """

    wall: float
    processor: float


def speed(sizes: Sizes, threads: int) -> tuple[Timing, Timing]:
    """The closed form and the oracle, in turns, after one run each to warm up."""
    torch.set_num_threads(threads)
    batch = draw(sizes)
    closed_form(batch)
    by_autograd(batch)
    closed, differentiated = [], []
    for _ in range(5):
        closed += [timed(closed_form, batch) for _ in range(10)]
        differentiated.append(timed(by_autograd, batch))
    return least(closed), least(differentiated)


def timed(function: Callable[[sampling.Batch], None], batch: sampling.Batch) -> Timing:
    """One run."""
    wall, processor = time.perf_counter(), time.process_time()
    function(batch)
    return Timing(time.perf_counter() - wall, time.process_time() - processor)


def least(runs: list[Timing]) -> Timing:
    """The least of each."""
    return Timing(min(run.wall for run in runs), min(run.processor for run in runs))


def peak_mib(function: Callable[[sampling.Batch], None], sizes: Sizes, threads: int) -> float:
    """Most memory resident during the call beyond what the batch takes, in MiB (Linux)."""
    torch.set_num_threads(threads)
    function(draw((64, 128, 4, 8)))  # libraries allocate their own buffers once
    batch = draw(sizes)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = resident("VmRSS")
    function(batch)
    return resident("VmHWM") - before


def resident(field: str) -> float:
    """A line of /proc/self/status, in MiB: VmRSS now, VmHWM at its peak (Linux)."""
    match = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if match is None:
        raise RuntimeError(f"no {field} in /proc/self/status: peak memory needs Linux")
    return int(match[1]) / 1024


def processor_name() -> str:
    match = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return match[1] if match else platform.processor()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=2)
    threads: int = parser.parse_args().threads
    # A process each: one measurement must not find the memory another one left behind.
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        print(
            f"{processor_name()}, {multiprocessing.cpu_count()} cores, {threads} thread(s); "
            f"torch {torch.__version__}, Python {platform.python_version()}, float64\n\n"
            "| V, N, L, d | closed form, ms | autograd, ms | ratio | promised "
            "| ratio of processor times | closed form, MiB | autograd, MiB |\n"
            "|---|---|---|---|---|---|---|---|"
        )
        missed = False
        for sizes, promised in PROMISED.items():
            fast, slow = pool.apply(speed, (sizes, threads))
            lean = pool.apply(peak_mib, (closed_form, sizes, threads))
            heavy = pool.apply(peak_mib, (by_autograd, sizes, threads))
            missed |= slow.wall < promised * fast.wall
            print(
                f"| {', '.join(map(str, sizes))} | {1e3 * fast.wall:.1f} | {1e3 * slow.wall:.0f} "
                f"| {slow.wall / fast.wall:.0f} | {promised:.0f} "
                f"| {slow.processor / fast.processor:.0f} | {lean:.0f} | {heavy:.0f} |",
                flush=True,
            )
        print(
            "\n| V, N, L, d | closed form, MiB | N L + V d numbers, MiB | V x V numbers, MiB |\n"
            "|---|---|---|---|"
        )
        for sizes in LARGE:
            vocab_size, samples, length, dim = sizes
            lean = pool.apply(peak_mib, (closed_form, sizes, threads))
            linear = 8 * (samples * length + vocab_size * dim) / 2**20
            square = 8 * vocab_size**2 / 2**20
            name = ", ".join(map(str, sizes))
            print(f"| {name} | {lean:.0f} | {linear:.0f} | {square:.0f} |", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
