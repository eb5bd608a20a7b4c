"""Time of a function on a CPU or a CUDA device or of a process, and the machine that it is of."""

import multiprocessing
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from recall_claims.evidence.executors import cores

Work = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Least wall-clock and processor seconds over several runs.

    The least of several runs is what the code needs; the rest is what other processes took.
    """

    wall: float
    processor: float


def in_turns(
    works: Sequence[Work], rounds: int, device: str, calls: Sequence[int] | None = None
) -> list[Timing]:
    """Time every function in every round, after one run each to warm up.

    In turns, so that a slow minute of the machine meets them all.

    Args:
        works: what to time.
        rounds: how often all of them are run.
        device: "cpu" or "cuda", which is waited for.
        calls: how often each is run in a round; once if not given.
    """
    for work in works:
        timed(work, device)
    runs: list[list[Timing]] = [[] for _ in works]
    for _ in range(rounds):
        for work, found, repeats in zip(works, runs, calls or [1] * len(works), strict=True):
            found += [timed(work, device) for _ in range(repeats)]
    return [
        Timing(min(run.wall for run in found), min(run.processor for run in found))
        for found in runs
    ]


def timed(work: Work, device: str) -> Timing:
    """One run, from an idle device to an idle device."""
    synchronize(device)
    wall, processor = time.perf_counter(), time.process_time()
    work()
    synchronize(device)
    return Timing(time.perf_counter() - wall, time.process_time() - processor)


def python(folder: Path, *arguments: str, **variables: str) -> tuple[Timing, float]:
    """Time and peak memory, in MiB, of a Python that runs there with these variables set.

    It finds the bytecode that an earlier one has left, and leaves its own.

    Raises:
        RuntimeError: it failed; the message ends with what it printed.
    """
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **variables},
            stdout=printed,
            stderr=printed,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            printed.seek(0)
            raise RuntimeError(f"{' '.join(arguments)} failed:\n{printed.read()[-4000:]}")
    timing = Timing(time.perf_counter() - begin, used.ru_utime + used.ru_stime)
    return timing, used.ru_maxrss / 1024


def on_cuda(device: str) -> bool:
    """Whether this names a CUDA device."""
    return torch.device(device).type == "cuda"


def available(device: str) -> bool:
    """Whether torch finds the device here."""
    return not on_cuda(device) or torch.cuda.is_available()


def synchronize(device: str) -> None:
    """Wait until the device has done all that was asked of it; a CPU always has."""
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
