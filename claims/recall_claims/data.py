"""The observations behind a verdict, as a table: `python -m recall_claims data`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from recall_claims.check.judging import Evidence
from recall_claims.declare.claim import Claim
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Prepared, Settings, task_of
from recall_claims.evidence.simulate import simulate, versions
from recall_claims.judge.rules import Sample
from recall_claims.model.cell import Cell
from recall_claims.model.errors import CheckError, ClaimError, SimulationError

LOOK = "a cell to look at"
"""The random stream of `looked_at`, which no verdict uses."""


def observed(claim: Claim, settings: Settings, path: Path) -> tuple[Sample, ...]:
    """Read the observations behind a claim's verdict from the ledger: a sample per cell.

    The ledger stays as it is, so looking at evidence counts as no attempt.

    Raises:
        ClaimError: the claim has no cells in the tier, or is written wrongly.
        SimulationError: there is no ledger, or it lacks a block.
        LedgerError: the ledger cannot be read.
    """
    _refuse_other_tier(claim, settings)
    lacking = f"the ledger lacks blocks of {claim.id}; run it first"
    if not path.is_file():
        raise SimulationError(f"{lacking}: there is no file {path}")
    with Ledger(path, read_only=True) as ledger:
        evidence = Evidence(ledger, versions(), Prepared.of(claim, settings.tier), settings)
        try:
            return evidence.judged().evidence
        except CheckError as error:
            raise SimulationError(f"{lacking}: {error}") from error


def looked_at(claim: Claim, settings: Settings, cell: Cell) -> Sample:
    """Simulate a block of a claim in any cell, for no ledger and no verdict.

    Raises:
        SimulationError: the claim's function fails in this cell.
        ValueError: the claim has no cells in the tier, or the cell lacks a parameter that all of
            these have.
    """
    _refuse_other_tier(claim, settings)
    grid = claim.cells[settings.tier]
    lacks = [name for name in grid[0] if name not in cell and all(name in one for one in grid)]
    if lacks:
        raise ValueError(
            f"{cell.id} lacks {', '.join(lacks)}; a cell of {claim.id} is {grid[0].id}"
        )
    task = task_of(Prepared(claim, LOOK), settings, cell, 0)
    return Sample(cell, dict(simulate(task).observations))


def _refuse_other_tier(claim: Claim, settings: Settings) -> None:
    if settings.tier not in claim.cells:
        raise ClaimError(
            f"{claim.id} has no cells in tier {settings.tier} (only in {', '.join(claim.cells)})"
        )


def write(samples: Sequence[Sample], path: Path) -> int:
    """Write a row per replicate to a new CSV file, or arrays per cell to a new NPZ file.

    A parameter that a cell lacks is empty in the cell's rows.

    Returns:
        the number of replicates.

    Raises:
        OSError: the file exists, or cannot be written.
        ValueError: the file's name ends in neither .csv nor .npz.
    """
    if path.suffix == ".npz":
        arrays = {f"{s.cell.id}/{name}": v for s in samples for name, v in s.observations.items()}
        with path.open("xb") as file:
            save: Callable[..., None] = np.savez  # here all keywords are names of arrays
            save(file, **arrays)
    elif path.suffix == ".csv":
        names = [*samples[0].observations]
        cells = [*dict.fromkeys(name for sample in samples for name in sample.cell)]
        with path.open("x", newline="", encoding="utf-8") as text:
            table = csv.writer(text)
            table.writerow([*cells, "replicate", *names])
            for sample in samples:
                columns = [sample.observations[name] for name in names]
                given = [sample.cell.get(name) for name in cells]
                rows = zip(*columns, strict=True)
                table.writerows([*given, number, *row] for number, row in enumerate(rows))
    else:
        raise ValueError(f"{path}: name a file that ends with .csv or .npz")
    return sum(sample.replicates for sample in samples)
