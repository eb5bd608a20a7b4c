"""How the cost of the closed form and of recall grows, against their counts of operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import statsmodels.api as sm
import torch

from simulation.attention.contractions import DENSE_RATIO, DENSE_SUM_RATIO
from tests.benchmarks import recall, three_steps
from tests.benchmarks.table import Row, Section
from tests.benchmarks.timing import Work, in_turns, isolated

Sizes = Mapping[str, int]
DTYPE = torch.float64

NOTE = (
    "exponents of the time, by least squares through the logarithms of the least of 5 runs at each "
    "size, in turns, with 95% intervals of Student's t; theirs is the exponent that the count of "
    "operations has on the same sizes, and says where it is outside of the interval. A matrix "
    "product is slower by the operation where it is small or narrow."
)


def operations(sizes: Sizes) -> float:
    """Operations of the three steps in closed form, one replicate.

    12 N L for the passes over the tokens that sort, gather, count and centre; to add values up by
    label 2 V^2 d by the table of counts where V^2 is at most DENSE_SUM_RATIO N L, else N L d; for
    their inner products with the readouts 2 V^2 d where V^2 is at most DENSE_RATIO N L, else
    2 N L d; 2 V d^2 for each of three products of embeddings with a memory; 4 V d for scores, and
    N d for the sums of the last memory. So O(N L min(d, V^2 d / (N L)) + N L + V d^2).
    """
    v, n, length, d = (sizes[key] for key in "VNLd")
    tokens, square = n * length, v**2
    sums = 2 * square * d if square <= DENSE_SUM_RATIO[DTYPE] * tokens else tokens * d
    products = 2 * d * (square if square <= DENSE_RATIO[DTYPE] * tokens else tokens)
    return 12 * tokens + sums + products + 6 * v * d**2 + 4 * v * d + n * d


def recall_operations(sizes: Sizes) -> float:
    """Additions and multiplications of recalling V values among V labels: 2 V^2 d + 2 V d^2, and
    V^2 comparisons."""
    v, d = sizes["V"], sizes["d"]
    return 2 * v**2 * d + 2 * v * d**2 + v**2


def closed_form(sizes: Sizes, device: str) -> Work:
    """The three steps at these sizes, ready to run."""
    batch = three_steps.draw((sizes["V"], sizes["N"], sizes["L"], sizes["d"]), device)
    return lambda: three_steps.closed_form(batch)


def tiled_recall(sizes: Sizes, device: str) -> Work:
    """Recall at these sizes, ready to run."""
    tensors = recall.draw((sizes["V"], sizes["d"]), device)
    return lambda: recall.tiled(*tensors)


@dataclass(frozen=True)
class Sweep:
    """One parameter varied, the others fixed.

    Attributes:
        what: is timed.
        parameter: that varies.
        values: it takes.
        fixed: the others.
        prepare: makes the work at given sizes on a device.
        count: operations at given sizes.
    """

    what: str
    parameter: str
    values: Sequence[int]
    fixed: Sizes
    prepare: Callable[[Sizes, str], Work]
    count: Callable[[Sizes], float]

    @property
    def sizes(self) -> list[Sizes]:
        """All sizes, in the order of `values`."""
        return [{**self.fixed, self.parameter: value} for value in self.values]

    @property
    def case(self) -> str:
        """The sweep in words."""
        fixed = ", ".join(f"{name} = {value}" for name, value in self.fixed.items())
        return f"{self.what} in {self.parameter} = {self.values[0]} to {self.values[-1]} ({fixed})"


THREE_STEPS = Sweep("three steps", "", (), {}, closed_form, operations)
RECALL = Sweep("recall", "", (), {}, tiled_recall, recall_operations)
SWEEPS: Sequence[Sweep] = (
    replace(
        THREE_STEPS,
        parameter="N",
        values=(65536, 131072, 262144, 524288, 1048576),  # the tokens fill no cache
        fixed={"V": 64, "L": 32, "d": 64},
    ),
    replace(
        THREE_STEPS,
        parameter="L",
        values=(256, 512, 1024, 2048, 4096),
        fixed={"V": 64, "N": 8192, "d": 64},
    ),
    replace(
        THREE_STEPS,
        parameter="V",
        values=(4096, 8192, 16384, 32768, 65536),
        fixed={"N": 1024, "L": 8, "d": 128},
    ),
    replace(
        THREE_STEPS,
        parameter="d",
        values=(128, 256, 512, 1024, 2048),
        fixed={"V": 2048, "N": 256, "L": 8},
    ),
    replace(RECALL, parameter="V", values=(1024, 2048, 4096, 8192, 16384), fixed={"d": 64}),
    replace(RECALL, parameter="d", values=(32, 64, 128, 256, 512), fixed={"V": 8192}),
)
"""Each parameter where the term that it drives is most of the count."""


@dataclass(frozen=True)
class Exponent:
    """A slope in logarithms with its 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> Exponent:
    """Of cost ~ size^e, by ordinary least squares in logarithms."""
    fit = sm.OLS(np.log(costs), sm.add_constant(np.log(sizes))).fit()
    low, high = fit.conf_int(0.05)[1]
    return Exponent(float(fit.params[1]), float(low), float(high))


def seconds(sweep: Sweep, device: str, rounds: int = 5) -> list[float]:
    """Least time at each size."""
    works = [sweep.prepare(sizes, device) for sizes in sweep.sizes]
    return [timing.wall for timing in in_turns(works, rounds, device)]


def section(device: str, threads: int, sweeps: Sequence[Sweep] = SWEEPS) -> Section:
    """A row per sweep."""
    rows = []
    for sweep in sweeps:
        found = exponent(sweep.values, isolated(threads, seconds, sweep, device))
        counted = exponent(sweep.values, [sweep.count(sizes) for sizes in sweep.sizes]).value
        outside = "" if found.low <= counted <= found.high else ", outside"
        rows.append(
            Row(
                sweep.case,
                f"exponent {found}",
                "operations",
                f"{counted:.2f}{outside}",
                "–",
            )
        )
    return Section("operations", tuple(rows), NOTE)
