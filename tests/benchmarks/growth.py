"""What a suite costs as it grows: claims, blocks of a ledger, replicates, cells and controls."""

import shutil
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy import optimize

from recall_claims import Cell, Control, MeanRatio, Region, Source, claim, grid
from recall_claims.evidence.block import BlockKey, BlockResult
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.executors import one_thread
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.seeds import replicate_generators
from recall_claims.judge.looks import decide, remembering
from recall_claims.judge.methods import Betting
from recall_claims.judge.rules import Sample
from tests.apart import saved
from tests.benchmarks.table import Row, Section
from tests.benchmarks.timing import Work, python, timed
from tests.faults.conftest import HEAD, HOOKS, PAPER, written

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
RUNS = {"warm": (), "dry run": ("--dry-run",)}
PER_FILE = 50
LONG = 0.5
"""Seconds up to which a measurement is repeated, thrice at least; the least counts."""
VISIBLE = 1.1
"""What two sizes cost at least, relative to the smallest, where a law can be fitted."""

NOTE = (
    "processor seconds, bytes kept and peak memory at each size. Claims are whole processes of "
    "pytest on a synthetic suite, of two cells and two controls each, whose blocks are all in the "
    "ledger; its page has no plots. Blocks are put into a ledger, asked for and summed up. "
    "Replicates, cells and controls are one decision on evidence drawn for it, by betting; "
    "generators are those of a block, one a replicate. The exponent is p of the law `fixed + rate "
    "size^p` that fits all sizes best, relative to each; there is none where fewer than two sizes "
    f"cost a tenth more than the least. Promised: at most {MOST}, and a warm run of 1,000 claims "
    "within 20 s, of 4,000 within 80 s."
)

EDITS = (
    ("(1.0, 2.0, 5.0)", "(1.0, 2.0)"),
    ("controls=[", 'controls=[Control("half", "half", predict=lambda cell: predict(cell) / 2), '),
    ("0.95, 1.05", "0.8, 1.2"),
    ("0.1)", "0.01)"),
)
"""What makes of a claim of the faults' suite one that its first look decides."""


Cost = dict[str, float]
"""Of one size: processor seconds, and the MiB that are kept and held at most."""


def exponent(costs: Mapping[int, float]) -> float:
    """The p of `fixed + rate size^p`, both from 0, by least squares of relative errors."""
    sizes, values = np.array([*costs], float), np.array([*costs.values()])

    def misfit(p: float) -> float:
        law = np.stack([np.ones_like(sizes), (sizes / sizes.max()) ** p], axis=1)
        return float(optimize.nnls(law / values[:, None], np.ones_like(values))[1])

    return float(optimize.minimize_scalar(misfit, bounds=(0.2, 3), method="bounded").x)


def grows(costs: Mapping[int, float]) -> bool:
    """Whether there is a law to fit; the peak of a process is that of its imports up to a size."""
    return sum(value > VISIBLE * min(costs.values()) for value in costs.values()) >= 2


@contextmanager
def suite(count: int) -> Iterator[Path]:
    """A repository with so many claims, judged once, whose record is the baseline."""
    files = {"pytest.ini": "[pytest]\n", ".gitignore": ".recall-claims\nreports\n"}
    files["claims/paper.toml"] = PAPER.replace("26", str(count))
    for first in range(0, count, PER_FILE):
        names = [f"claim_{number}" for number in range(first, min(first + PER_FILE, count))]
        claims = "".join(written(name, *EDITS) for name in names)
        files[f"claims/test_{first}.py"] = HEAD + claims
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        saved(root, files)
        judged(root)
        shutil.copy(root / "reports/latest/report.json", root / "reports/baseline.json")
        yield root


def judged(root: Path, *options: str) -> Cost:
    """What pytest takes there, and the page that it writes."""
    command = ("-m", "pytest", *HOOKS, "claims", "--executor", "serial", "--no-plots", *options)
    timing, peak = python(root, *command)
    page = root / "reports/latest/report.html"
    return {"seconds": timing.processor, "kept": page.stat().st_size / 2**20, "peak": peak}


def measured(work: Work) -> Cost:
    """Least seconds of some calls, then the peak memory of another."""
    one_thread()  # as a run judges: another one spins while it waits, which counts
    times = [timed(work, "cpu").processor]
    while len(times) < 3 or (sum(times) < LONG and len(times) < 20):
        times.append(timed(work, "cpu").processor)
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"seconds": min(times), "peak": peak / 2**20}


def blocks(count: int) -> Cost:
    """Put blocks of 64 values into a ledger, ask for each, and sum up what they took."""
    values = {"value": np.random.default_rng(0).random(64)}
    with tempfile.TemporaryDirectory() as folder:
        path, begin = Path(folder) / "ledger", time.process_time()
        first = BlockKey("c0", "r", "a=1", 0, 0, 64, "float64", "cpu", "", "")
        keys = [replace(first, claim=f"c{n // 100}", block=n) for n in range(count)]
        with Ledger(path) as ledger:
            for key in keys:
                ledger.put(key, BlockResult(values, 0.1))
            for key in keys:
                ledger.get(key)
            Costs(lambda: ledger, "cpu", dict).seconds("c0", "a=1", 64)
        return {"seconds": time.process_time() - begin, "kept": path.stat().st_size / 2**20}


def decision(replicates: int = 64, cells: int = 1, controls: int = 2) -> Cost:
    """Judge a claim once, whose mean is one half, each time on other evidence: bounds are kept."""
    wrong = [Control(f"{n}", "wrong", partial(_wrong, n)) for n in range(controls)]
    one = claim(
        "growth",
        "A mean is one half",
        source=Source("growth", "1"),
        regime="everywhere",
        cells=grid(place=range(cells)),
        replicates=(64, 512),
        rule=MeanRatio(Region(0.5, 1.5), method=Betting(0.0, 1.0)),
        why="wide",
        predict=lambda _: 0.5,
        controls=wrong,
    )(lambda cell, block: {})
    rng = np.random.default_rng(0)

    def judge() -> None:
        drawn = (Sample(c, {"value": rng.random(replicates)}) for c in one.cells["standard"])
        decide(remembering(one), tuple(drawn), 1e-6)

    return measured(judge)


def _wrong(number: int, _: Cell) -> float:
    return 1.0 + number / 2


SWEEPS: dict[str, Callable[[int], Cost]] = {
    "blocks": blocks,
    "replicates": lambda count: decision(replicates=count),
    "generators": lambda n: measured(lambda: replicate_generators(0, "claim", "r", "a=1", 0, n)),
    "cells": lambda count: decision(cells=count),
    "controls": lambda count: decision(controls=count),
}


def section(only: str = "", claims: Sequence[int] = CLAIMS) -> Section:
    """A row for each kind of run and each sweep whose name has this text."""
    costs: dict[str, dict[int, Cost]] = {n: {} for n in (*RUNS, *SWEEPS) if only in n}
    for count in claims if set(costs) & set(RUNS) else ():
        with suite(count) as root:
            for name in filter(costs.__contains__, RUNS):
                costs[name][count] = judged(root, *RUNS[name])
    for name in filter(costs.__contains__, SWEEPS):
        costs[name] = {size: SWEEPS[name](size) for size in SIZES[name]}
    rows, kept = [], True
    for name, found in costs.items():
        kinds = {kind for cost in found.values() for kind in cost}
        costs_of = {kind: {n: c[kind] for n, c in found.items()} for kind in sorted(kinds)}
        grown = {kind: exponent(each) for kind, each in costs_of.items() if grows(each)}
        slow = name == "warm" and any(found[n]["seconds"] > WARM[n] for n in WARM.keys() & found)
        kept = kept and not slow and all(value <= MOST for value in grown.values())
        ours = "; ".join(f"{size:,}: {_told(cost)}" for size, cost in found.items())
        told = ", ".join(f"{kind} {value:.2f}" for kind, value in grown.items())
        rows.append(Row(name, ours, f"exponent (promised: {MOST})", told, "–"))
    return Section("growth", tuple(rows), NOTE, kept)


def _told(cost: Cost) -> str:
    figures = (f"{kind} {size:.3g} MiB" for kind, size in cost.items() if kind != "seconds")
    return ", ".join([f"{cost['seconds']:.3g} s", *figures])
