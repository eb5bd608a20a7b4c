"""Time and peak memory of what reads large vocabularies, one replicate."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from simulation.attention import noise_decomposition, sampling
from simulation.lower_bound import gradient_channel
from simulation.lower_bound.estimators import matched_filter, ridge
from simulation.memory import linear
from tests.benchmarks.table import Row, Section, compared, figure
from tests.benchmarks.timing import isolated, resident

NOTE = (
    "one replicate in float32, from its draws to the share recalled, in a process of its own; "
    "memory is all that is resident at the peak, libraries included. Decoding draws sequences of "
    "length 4 and scores by the matched filter; linear MMSE and noise, all pieces, have them too. "
    "CPU only."
)


@dataclass(frozen=True)
class Sizes:
    """What to measure: ``task`` is "recall", "decoding", "linear MMSE", which has no queries, or
    "noise", neither; ``load`` is of samples a token."""

    task: str
    vocab_size: int
    dim: int
    queries: int
    length: int = 4
    load: int = 16


@dataclass(frozen=True)
class Measured:
    """``start``, ``peak``: MiB resident before, and at most.  ``accuracy``: share recalled, or the
    variance of a piece of the noise."""

    seconds: float
    start: float
    peak: float
    accuracy: float


LARGE: Sequence[Sizes] = (
    Sizes("recall", 16384, 512, 16384),
    Sizes("decoding", 16384, 512, 2048),
    Sizes("linear MMSE", 100_000, 16, 100_000, load=1),
    Sizes("noise", 100_000, 16, 100_000, load=1),
)
LANGUAGE_MODEL: Sequence[Sizes] = (
    Sizes("recall", 131072, 4096, 256),
    Sizes("decoding", 131072, 4096, 256, load=1),
)
"""Minutes, and 9 GB."""


def section(name: str, threads: int, sizes: Sequence[Sizes]) -> Section:
    """Time, and memory against that of one V x V matrix."""
    rows = []
    for each in sizes:
        found = isolated(threads, measure, each)
        case = f"{each.task}, V, d, queries = {each.vocab_size}, {each.dim}, {each.queries}"
        square = each.vocab_size**2 * 4 / 2**20
        rows += [
            Row(f"{case}: time", figure(found.seconds, "s"), "–", "–", "–"),
            compared(f"{case}: memory", found.peak, "one V x V matrix", square, "MiB"),
        ]
    return Section(name, tuple(rows), NOTE)


def measure(sizes: Sizes) -> Measured:
    """One replicate; call it in a process of its own, or the peak is somebody else's."""
    _replicate(Sizes(task=sizes.task, vocab_size=64, dim=8, queries=8))  # buffers of libraries
    start, clock = resident("VmRSS"), time.perf_counter()
    accuracy = _replicate(sizes)
    return Measured(time.perf_counter() - clock, start, resident("VmHWM"), accuracy)


def _replicate(sizes: Sizes) -> float:
    rng = np.random.default_rng(1000)
    if sizes.task == "recall":
        pairs = linear.draw(
            [rng], associations=sizes.vocab_size, dim=sizes.dim, dtype=torch.float32
        )
        stored = linear.hebbian(pairs)
        return float(linear.recalled_share(pairs, stored, queries=sizes.queries))
    given: dict[str, Any] = {
        "vocab_size": sizes.vocab_size,
        "length": sizes.length,
        "samples": sizes.load * sizes.vocab_size,
        "dim": sizes.dim,
        "dtype": torch.float32,
    }
    if sizes.task == "noise":
        return float(noise_decomposition.variances(sampling.draw([rng], **given))["C"])
    few = partial(matched_filter.labels, queries=sizes.queries)
    estimator = ridge.linear_mmse_labels if sizes.task == "linear MMSE" else few
    return float(
        gradient_channel.estimator_accuracy(gradient_channel.discrete([rng], **given), estimator)
    )
