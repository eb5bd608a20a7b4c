"""What a suite costs as it grows: claims, blocks of a ledger, replicates, cells and controls."""

import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recall_claims import Control, MeanRatio, Region, Source, claim, grid
from recall_claims.declare.cell import Block, Cell
from recall_claims.declare.claim import Claim
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.executors import one_thread
from recall_claims.evidence.ledger import BlockKey, BlockResult, Ledger
from recall_claims.evidence.seeds import replicate_generators
from recall_claims.judge.looks import decide, remembering
from recall_claims.judge.methods import Betting
from recall_claims.judge.rules import Sample
from tests.benchmarks.table import Row, Section

MOST = 1.05
"""Exponent that is promised."""
WARM = {1000: 20.0, 4000: 80.0}
"""Processor seconds that are promised of a run of so many claims whose blocks are all known."""
CLAIMS = (50, 250, 1000, 4000)
SIZES = {
    "blocks": (1_000, 10_000, 100_000, 1_000_000),
    "replicates": (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    "generators": (1_000, 10_000, 100_000),
    "cells": (10, 100, 1_000, 3_000),
    "controls": (2, 10, 100, 1_000),
}
RUNS = {"warm": (), "dry run": ("--dry-run",), "changed since": ("--changed-since", "HEAD")}
FOLDER = "claims"
PER_FILE = 50

NOTE = (
    "processor seconds, bytes kept and peak memory at each size. Claims are whole processes of "
    "pytest on a synthetic suite, of two cells and two controls each, whose blocks are all in the "
    "ledger; its page has no plots. Blocks are put into a ledger, asked for and summed up. "
    "Replicates, cells and controls are one decision on evidence at hand, by betting; generators "
    "are those of a block, one a replicate. The exponent is that of the two largest sizes, beyond "
    f"what the smallest costs. Promised: at most {MOST}, and a warm run of 1,000 claims within "
    "20 s, of 4,000 within 80 s."
)

HEAD = """
from pathlib import Path

from recall_claims import MeanRatio, Region, Source, add_paper, claim, grid, times

add_paper(Path(__file__).with_name("paper.toml"))
"""
CLAIM = '''

@claim(
    "tiny.{0}",
    "A mean has its value",
    source=Source("tiny", "1", provenance="derived", reference="here"),
    regime="everywhere",
    cells=grid(scale=(1.0, 2.0)),
    replicates=16,
    rule=MeanRatio(Region(0.8, 1.2)),
    why="wide enough to be decided at once",
    predict=lambda cell: cell["scale"],
    controls=(times(2.0), times(0.5)),
)
def claim_{0}(cell, block):
    """The mean of the value is the cell's scale."""
    return {{"value": [rng.normal(cell["scale"], 0.01) for rng in block.rngs]}}
'''
PAPER = """
id = "tiny"
title = "Tiny"
authors = "Nobody"
identifier = "none"
share = 0.5
slots = {count}

[[statements]]
id = "1"
provenance = "stated"
text = "A mean has its value."
"""


@dataclass(frozen=True)
class Cost:
    """Of one size: processor seconds, bytes kept, and the largest memory."""

    seconds: float
    kept: float = 0.0
    peak: float = 0.0

    def __str__(self) -> str:
        sizes = {"kept": self.kept, "peak": self.peak}
        told = [f"{name} {size / 2**20:.3g} MiB" for name, size in sizes.items() if size]
        return ", ".join([f"{self.seconds:.3g} s", *told])


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """Of the two largest sizes, beyond what the smallest costs."""
    (n0, n1, n2), (c0, c1, c2) = ((values[0], values[-2], values[-1]) for values in (sizes, costs))
    return math.log(max(c2 - c0, 1e-9) / max(c1 - c0, 1e-9)) / math.log((n2 - n0) / (n1 - n0))


@contextmanager
def suite(count: int) -> Iterator[Path]:
    """A repository with so many claims, judged once, whose record is the baseline."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "pytest.ini").write_text("[pytest]\naddopts = -p recall_claims.plugin\n")
        (root / ".gitignore").write_text("*\n")
        (root / "reports").mkdir()
        (root / FOLDER).mkdir()
        (root / FOLDER / "paper.toml").write_text(PAPER.format(count=count))
        for first in range(0, count, PER_FILE):
            text = HEAD + "".join(map(CLAIM.format, range(first, min(first + PER_FILE, count))))
            (root / FOLDER / f"test_{first}.py").write_text(text)
        for git in ("init -q", "add -f .", "-c user.name=- -c user.email=- commit -qm -"):
            subprocess.run(["git", *git.split()], cwd=root, check=True)
        judged(root)
        shutil.copy(root / "reports/latest/report.json", root / "reports/baseline.json")
        yield root


def judged(root: Path, *options: str) -> Cost:
    """Run pytest there.

    Raises:
        RuntimeError: it failed.
    """
    command = [sys.executable, "-m", "pytest", FOLDER, "-q", "-p", "no:cacheprovider"]
    command += ["--executor", "serial", "--no-plots", *options]
    with (root / "printed").open("wb") as printed:
        process = subprocess.Popen(command, cwd=root, stdout=printed, stderr=printed)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise RuntimeError((root / "printed").read_text()[-2000:])
    page = root / "reports/latest/report.html"
    return Cost(used.ru_utime + used.ru_stime, page.stat().st_size, 1024.0 * used.ru_maxrss)


def measured(work: Callable[[], float]) -> Cost:
    """Seconds of one call, then the peak memory of another; what it returns are bytes kept."""
    one_thread()  # as a run judges: another one spins while it waits, which counts
    begin = time.process_time()
    kept = work()
    seconds = time.process_time() - begin
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return Cost(seconds, kept, peak)


def blocks(count: int) -> Cost:
    """Put blocks of 64 values into a ledger, ask for each, and sum up what they took."""
    values = {"value": np.random.default_rng(0).random(64)}
    with tempfile.TemporaryDirectory() as folder:
        path, begin = Path(folder) / "ledger", time.process_time()
        with Ledger(path) as ledger:
            keys = [
                BlockKey(f"c{n // 100}", "r", f"a={n % 10}", 0, n, 64, "float64", "cpu", "", "")
                for n in range(count)
            ]
            for key in keys:
                ledger.put(key, BlockResult(values, 0.1))
            for key in keys:
                ledger.get(key)
            Costs(lambda: ledger, "cpu", dict).seconds("c0", "a=0", 64)
        return Cost(time.process_time() - begin, path.stat().st_size)


def generators(count: int) -> Cost:
    """The generators of a block."""
    return measured(lambda: 0.0 * len(replicate_generators(0, "claim", "r", "a=1", 0, count)))


def decision(replicates: int = 64, cells: int = 1, controls: int = 2) -> Cost:
    """Judge a claim once."""
    one = synthetic(cells, controls)
    rng = np.random.default_rng(0)
    evidence = tuple(
        Sample(cell, {"value": rng.random(replicates)}) for cell in one.cells["standard"]
    )
    return measured(lambda: 0.0 * len(decide(remembering(one), evidence, 1e-6).components))


def synthetic(cells: int, controls: int) -> Claim:
    """A claim with so many cells and controls."""

    def predict(cell: Cell) -> float:
        return 0.5

    def wrong(factor: float) -> Control:
        return Control(f"times-{factor}", "wrong", lambda cell: factor * predict(cell))

    @claim(
        "growth",
        "A mean is one half",
        source=Source("growth", "1"),
        regime="everywhere",
        cells={"standard": grid(place=range(cells))},
        replicates=64,
        rule=MeanRatio(Region(0.5, 1.5), method=Betting(0.0, 1.0)),
        why="wide",
        predict=predict,
        controls=[wrong(2.0 + index) for index in range(controls)],
    )
    def half(cell: Cell, block: Block) -> dict[str, float]:
        """The mean of the value is one half."""
        raise NotImplementedError

    return half


SWEEPS: dict[str, Callable[[int], Cost]] = {
    "blocks": blocks,
    "replicates": lambda count: decision(replicates=count),
    "generators": generators,
    "cells": lambda count: decision(cells=count),
    "controls": lambda count: decision(controls=count),
}


def section(largest: float, sizes: Sequence[int] = CLAIMS) -> Section:
    """A row for each kind of run and each sweep, as far as sizes are at most the largest."""
    costs: dict[str, dict[int, Cost]] = {f"{name}, claims": {} for name in RUNS}
    for count in (size for size in sizes if size <= largest):
        with suite(count) as root:
            for name, options in RUNS.items():
                costs[f"{name}, claims"][count] = judged(root, *options)
    for name, sweep in SWEEPS.items():
        costs[name] = {size: sweep(size) for size in SIZES[name] if size <= largest}
    rows, kept = [], True
    for name, found in costs.items():
        if len(found) < 3:
            continue
        grown = {
            what: exponent(list(found), [getattr(cost, what) for cost in found.values()])
            for what in ("seconds", "kept", "peak")
            if getattr(found[max(found)], what)
        }
        kept = kept and all(value <= MOST for value in grown.values())
        if name.startswith("warm"):
            kept = kept and all(found[n].seconds <= most for n, most in WARM.items() if n in found)
        ours = "; ".join(f"{size:,}: {cost}" for size, cost in found.items())
        told = ", ".join(f"{what} {value:.2f}" for what, value in grown.items())
        rows.append(Row(name, ours, f"exponent (promised: {MOST})", told, "–"))
    return Section("growth", tuple(rows), NOTE, kept)
