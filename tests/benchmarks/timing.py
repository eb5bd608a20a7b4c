"""Time of a function on a CPU or a CUDA device, and a row of the table that compares two."""

import multiprocessing
import platform
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from recall_claims.evidence.executors import cores

Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """Two figures in a unit.

    Attributes:
        case: benchmark and sizes.
        against: the other way.
        more: whether the larger figure is better.
        promised: how many times better ours is at least.
    """

    case: str
    ours: float
    against: str
    theirs: float
    unit: str = "ms"
    more: bool = False
    promised: float = 0.0

    @property
    def factor(self) -> float:
        """How many times better ours is."""
        return self.ours / self.theirs if self.more else self.theirs / self.ours

    @property
    def kept(self) -> bool:
        """Whether the promise was kept."""
        return self.factor >= self.promised

    def __str__(self) -> str:
        """A line of a Markdown table."""
        promised = f" (promised: {self.promised:g})" if self.promised else ""
        ours, theirs = (
            f"{x:.{0 if x >= 100 else 1}f} {self.unit}" for x in (self.ours, self.theirs)
        )
        shown = f"{self.factor:.2g}" if self.factor < 9.95 else f"{self.factor:.0f}"
        return f"| {self.case} | {ours} | {self.against}{promised} | {theirs} | {shown} |"


def in_turns(
    works: Sequence[Work], rounds: int, device: str, calls: Sequence[int] | None = None
) -> list[float]:
    """Least milliseconds of each function over several rounds, after one run each to warm up.

    In turns, so that a slow minute of the machine meets them all.

    Args:
        works: what to time.
        rounds: how often all of them are run.
        device: "cpu" or "cuda", which is waited for.
        calls: how often each is run in a round; once if not given.
    """
    for work in works:
        timed(work, device)
    runs: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, found, repeats in zip(works, runs, calls or [1] * len(works), strict=True):
            found += [timed(work, device) for _ in range(repeats)]
    return [1e3 * min(found) for found in runs]


def timed(work: Work, device: str) -> float:
    """Seconds of one run, from an idle device to an idle device."""
    _synchronize(device)
    begin = time.perf_counter()
    work()
    _synchronize(device)
    return time.perf_counter() - begin


def on_cuda(device: str) -> bool:
    """Whether this names a CUDA device."""
    return torch.device(device).type == "cuda"


def _synchronize(device: str) -> None:
    if on_cuda(device):
        torch.cuda.synchronize(device)


def machine(device: str, threads: int) -> str:
    """What the figures were measured on."""
    cpu = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", cpu.read_text()) if cpu.exists() else None
    where = found[1] if found else platform.processor()
    if on_cuda(device):
        where += f", {torch.cuda.get_device_name(device)}"
    return (
        f"{where}; {cores()} of {multiprocessing.cpu_count()} cores, {threads} thread(s), "
        f"device {device}; torch {torch.__version__}, Python {platform.python_version()}"
    )
