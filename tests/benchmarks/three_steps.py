"""Time of one replicate: closed form against automatic differentiation.

The whole three steps in float64, of the same batch: one replicate, of 16 at a time on CUDA, which
has to be kept busy. Least of 50 runs of the closed form and of 5 of automatic differentiation.
"""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from simulation.attention import oracle, sampling, three_steps
from tests.benchmarks.timing import Row, in_turns, on_cuda

Sizes = tuple[int, int, int, int]

PROMISED: Mapping[Sizes, float] = {(1024, 8192, 32, 64): 25.0, (2048, 16384, 32, 64): 50.0}
"""Least ratio of the two times on a CPU, by (vocab_size, samples, length, dim)."""
PROMISED_ON_CUDA = 20.0


def closed_form(batch: sampling.Batch) -> None:
    """All replicates of the batch."""
    scores = three_steps.token_scores(batch)
    three_steps.trained_memory(batch, three_steps.attend(batch, scores))


def rows(device: str, promised: Mapping[Sizes, float] = PROMISED) -> Iterator[Row]:
    """Compare both at each of the sizes."""
    count = 16 if on_cuda(device) else 1
    for sizes, least in promised.items():
        vocab_size, samples, length, dim = sizes
        batch = sampling.draw(
            [np.random.default_rng(index) for index in range(count)],
            vocab_size=vocab_size,
            samples=samples,
            length=length,
            dim=dim,
            device=device,
        )
        works = partial(closed_form, batch), partial(oracle.train, batch, eta=1e-3, gamma=1e6)
        ours, theirs = in_turns(works, 5, device, calls=(10, 1))
        case = "three-steps, V, N, L, d = " + ", ".join(map(str, sizes))
        least = PROMISED_ON_CUDA if on_cuda(device) else least
        yield Row(case, ours / count, "autograd", theirs, promised=least)
