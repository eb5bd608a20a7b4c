"""The observations behind a verdict, as a table: `python -m recall_claims data`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from recall_claims.declare.claim import Claim
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Prepared, Settings, task_of
from recall_claims.evidence.scheduler import run_claim
from recall_claims.evidence.simulate import simulate
from recall_claims.judge.rules import Sample
from recall_claims.model.cell import Cell

LOOK = "a cell to look at"
"""The random stream of `looked_at`, which no verdict uses."""


def observed(claim: Claim, settings: Settings, path: Path) -> tuple[Sample, ...]:
    """Read the observations behind a claim's verdict from the ledger: a sample per cell.

    Raises:
        SimulationError: the ledger lacks a block.
    """
    with Ledger(path) as ledger:
        return run_claim(claim, settings, ledger, None).evidence


def looked_at(claim: Claim, settings: Settings, cell: Cell) -> Sample:
    """Simulate a block of a claim in any cell, for no ledger and no verdict.

    Raises:
        SimulationError: the claim's function fails in this cell.
        ValueError: the cell lacks a parameter that all cells of the claim have.
    """
    grid = claim.cells.get(settings.tier, ())
    lacks = [n for n in (grid[0] if grid else ()) if n not in cell and all(n in c for c in grid)]
    if lacks:
        raise ValueError(
            f"{cell.id} lacks {', '.join(lacks)}; a cell of {claim.id} is {grid[0].id}"
        )
    task = task_of(Prepared(claim, LOOK), settings, cell, 0)
    return Sample(cell, dict(simulate(task).observations))


def write(samples: Sequence[Sample], path: Path) -> int:
    """Write a row per replicate to a new CSV file, or arrays per cell to a new NPZ file.

    Returns:
        the number of replicates.

    Raises:
        OSError: the file exists, or cannot be written.
        ValueError: its name ends in neither .csv nor .npz.
    """
    if path.suffix == ".npz":
        arrays = {f"{s.cell.id}/{name}": v for s in samples for name, v in s.observations.items()}
        with path.open("xb") as file:
            save: Callable[..., None] = np.savez  # no keyword here is its flag
            save(file, **arrays)
    elif path.suffix == ".csv":
        names, cells = [*samples[0].observations], [*samples[0].cell]
        with path.open("x", newline="", encoding="utf-8") as text:
            table = csv.writer(text)
            table.writerow([*cells, "replicate", *names])
            for sample in samples:
                columns = [sample.observations[name] for name in names]
                given = [sample.cell[name] for name in cells]
                rows = zip(*columns, strict=True)
                table.writerows([*given, number, *row] for number, row in enumerate(rows))
    else:
        raise ValueError(f"{path}: name a file that ends with .csv or .npz")
    return sum(sample.replicates for sample in samples)
