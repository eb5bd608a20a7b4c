"""What half an hour on a GPU is for, in the order of worth; each part is kept when it is done.

`python -m tests.benchmarks gpu --device cuda --minutes 9` measures the parts that have not been
measured on this machine, and spends what is left of its time on the full tier, from a ledger that
the next call goes on with. On a CPU the same parts run in small.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from simulation.memory import linear
from tests.benchmarks import products, recall, three_steps, training
from tests.benchmarks.table import Row, Section, compared
from tests.benchmarks.timing import isolated, machine, timed

FOLDER = Path(".recall-claims/gpu")
"""Where results and ledger lie."""

LEAST_SPEED_UP, LEAST_SHARE_OF_PEAK, MOST_SECONDS = 20.0, 0.6, 60.0
"""Promises on CUDA: closed form over autograd; recall over the peak; recall at a language
model's sizes."""

RESERVE = 0.5
"""Minutes of a call that are kept for writing the report of the full tier."""


@dataclass(frozen=True)
class Sizes:
    """Of each part, in order."""

    three_steps: three_steps.Sizes
    products: recall.Sizes
    language_model: recall.Sizes
    training: training.Load


SMALL = Sizes((64, 128, 4, 8), (256, 16), (512, 32), training.TINY)
LARGE = Sizes((1024, 8192, 32, 64), (32768, 4096), (131072, 4096), training.PUBLISHED)


def speed_up(sizes: Sizes, device: str, threads: int) -> Section:
    """Replicates a second of the three steps against automatic differentiation."""
    ours, theirs = isolated(threads, products.replicates, sizes.three_steps, device)
    case = f"{three_steps.name(sizes.three_steps)}, {device}"
    against = f"autograd (promised: {LEAST_SPEED_UP:.0f})"
    row = compared(case, ours, against, theirs, "replicates/s", more=True)
    kept = ours >= LEAST_SPEED_UP * theirs
    return Section("gpu: three steps", (row,), "float64, the whole three steps", kept)


def share_of_peak(sizes: Sizes, device: str, threads: int) -> Section:
    """Recall against a plain product, in single precision without TF32."""
    ours, plain = isolated(threads, products.efficiency, sizes.products, "float32", device)
    case = f"recall, V, d = {sizes.products[0]}, {sizes.products[1]}, float32, {device}"
    against = f"torch.mm, the peak (promised: {LEAST_SHARE_OF_PEAK})"
    row = compared(case, ours, against, plain, "GFLOP/s", more=True)
    return Section("gpu: products", (row,), products.NOTE, ours >= LEAST_SHARE_OF_PEAK * plain)


def language_model(sizes: Sizes, device: str, threads: int) -> Section:
    """Recall of every pair of a vocabulary, from the draws to the share recalled."""
    seconds = isolated(threads, recall_seconds, sizes.language_model, device)
    case = f"recall, V, d = {sizes.language_model[0]}, {sizes.language_model[1]}, {device}"
    row = compared(case, seconds, "promised", MOST_SECONDS, "s")
    note = "one replicate, all V queries, float32, draws on the CPU included"
    return Section("gpu: language model", (row,), note, seconds <= MOST_SECONDS)


def recall_seconds(sizes: recall.Sizes, device: str) -> float:
    """From the draws to the share recalled of all pairs."""
    vocab_size, dim = sizes

    def work(associations: int = vocab_size, dim: int = dim) -> object:
        pairs = linear.draw(
            [np.random.default_rng(1000)],
            associations=associations,
            dim=dim,
            device=device,
            dtype=torch.float32,
        )
        return linear.recalled_share(pairs, linear.hebbian(pairs)).item()

    work(64, 8)  # libraries load their kernels once
    return timed(work, device).wall


PARTS: dict[str, Callable[[Sizes, str, int], Section]] = {
    "three steps": speed_up,
    "products": share_of_peak,
    "language model": language_model,
    "training": lambda sizes, device, threads: training.section(device, threads, sizes.training),
}


def sections(
    device: str, threads: int, minutes: float, folder: Path = FOLDER, tier: str = "full"
) -> list[Section]:
    """All parts that this call or an earlier one has measured; the rest of the time is a run's.

    A promise is one on CUDA: on a CPU none is broken.
    """
    end = time.monotonic() + 60 * minutes
    sizes = SMALL if torch.device(device).type == "cpu" else LARGE
    where, found = machine(device, threads), []
    for name, measure in PARTS.items():
        file = folder / f"{name.replace(' ', '-')}.json"
        known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        if known.get("machine") != where:
            if time.monotonic() >= end:
                break
            section = measure(sizes, device, threads)
            known = {"machine": where, **asdict(section)}
            known["kept"] = section.kept or sizes is SMALL
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        rows = tuple(Row(**row) for row in known["rows"])
        found.append(Section(known["name"], rows, known["note"], known["kept"]))
    left = (end - time.monotonic()) / 60 - RESERVE
    if left > 0:
        subprocess.run(command(device, left, folder, tier), check=False)
    return found


def command(device: str, minutes: float, folder: Path, tier: str) -> list[str]:
    """The suite for so many minutes; the next call goes on from its ledger."""
    return [
        *(sys.executable, "-m", "pytest", "claims/", "-q", "-p", "no:cacheprovider"),
        *("--tier", tier, "--device", device, "--time-limit", f"{60 * minutes:.0f}s"),
        *("--ledger", str(folder / "ledger.sqlite"), "--report-dir", str(folder / "report")),
    ]
