"""Time of one replicate: closed form against automatic differentiation.

Both sides take the same batch, in the same process, with the same threads, one after the other,
and do the whole three steps.
"""

from collections.abc import Mapping

import numpy as np

from simulation.attention import oracle, sampling, three_steps
from tests.benchmarks.table import Section, compared
from tests.benchmarks.timing import Timing, in_turns, on_cuda

Sizes = tuple[int, int, int, int]

PROMISED: Mapping[Sizes, float] = {(1024, 8192, 32, 64): 25.0, (2048, 16384, 32, 64): 50.0}
"""Least ratio of the two times on a CPU, by (vocab_size, samples, length, dim)."""
PROMISED_ON_CUDA = 20.0
NOTE = (
    "one replicate (of 16 at a time on CUDA, which has to be kept busy), the whole three steps, "
    "float64; least of 50 runs of the closed form and of 5 of automatic differentiation, in turns."
)


def closed_form(batch: sampling.Batch) -> None:
    """All replicates of the batch."""
    scores = three_steps.token_scores(batch)
    three_steps.trained_memory(batch, three_steps.attend(batch, scores))


def by_autograd(batch: sampling.Batch) -> None:
    """The first replicate of the batch."""
    oracle.train(batch, eta=1e-3, gamma=1e6)


def draw(sizes: Sizes, device: str, replicates: int = 1) -> sampling.Batch:
    """A batch of (vocab_size, samples, length, dim)."""
    vocab_size, samples, length, dim = sizes
    rngs = [np.random.default_rng(index) for index in range(replicates)]
    return sampling.draw(
        rngs, vocab_size=vocab_size, samples=samples, length=length, dim=dim, device=device
    )


def speed(sizes: Sizes, device: str, rounds: int = 5) -> list[Timing]:
    """The closed form and the oracle, a replicate each."""
    count = 16 if on_cuda(device) else 1
    batch = draw(sizes, device, count)
    works = (lambda: closed_form(batch), lambda: by_autograd(batch))
    ours, theirs = in_turns(works, rounds, device, calls=(10, 1))
    return [Timing(ours.wall / count, ours.processor / count), theirs]


def section(device: str, promised: Mapping[Sizes, float] = PROMISED) -> Section:
    """Time at the promised sizes."""
    rows, kept = [], True
    for sizes, on_cpu in promised.items():
        fast, slow = speed(sizes, device)
        case = "V, N, L, d = " + ", ".join(map(str, sizes))
        least = PROMISED_ON_CUDA if on_cuda(device) else on_cpu
        kept &= slow.wall >= least * fast.wall
        for kind, against in (("wall", f"autograd (promised: {least:.0f})"), ("processor", "")):
            ours, theirs = (1e3 * getattr(timing, kind) for timing in (fast, slow))
            told = f"{case}: {kind} time"
            rows.append(compared(told, ours, against or "autograd", theirs, "ms"))
    return Section("three-steps", tuple(rows), NOTE, kept)
