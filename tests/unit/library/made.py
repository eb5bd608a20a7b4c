"""Claims that tests of the library declare for their own use."""

from collections.abc import Callable
from typing import Any

import numpy as np

from recall_claims import Block, Cell, Claim, Control, MeanRatio, Region, Source, claim, grid
from recall_claims.declare.claim import Observe
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Outcome, Prepared, Settings, task_of
from recall_claims.evidence.scheduler import run_claim
from recall_claims.evidence.simulate import Task
from recall_claims.model.budget import Budget
from recall_claims.model.papers import papers

SMOKE = Settings(tier="smoke")
CELLS = grid(length=(4, 8))
ALPHA = Budget().per_claim(papers()["A"])
"""The alpha of a claim that `declared` makes."""


def declared(id: str, cells: Any = CELLS, **changes: Any) -> Callable[[Observe], Claim]:
    """Declare the claim that a mean is 2, with a control of 3, and with some fields changed.

    Args:
        id: id of the claim, by which a worker finds it in the module of the decorated function.
        cells: cells of the smoke tier as a tuple, or any argument that `claim` takes.
        changes: other arguments of `claim`.
    """
    given: dict[str, Any] = {
        "source": Source("A", "A3", provenance="derived", reference="nowhere"),
        "regime": "everywhere",
        "cells": {"smoke": cells} if isinstance(cells, tuple) else cells,
        "replicates": (16, 256),
        "rule": MeanRatio(Region(0.9, 1.1)),
        "why": "for the test",
        "predict": lambda cell: 2.0,
        "controls": (Control("off", "too large", predict=lambda cell: 3.0),),
    }
    return claim(id, "Made for a test", **{**given, **changes})


def mean(cell: Cell, block: Block) -> np.ndarray[Any, Any]:
    """A mean is two."""
    return np.array([2 + 0.3 * rng.normal() for rng in block.rngs])


mean_claim = declared("T.mean")(mean)


def outcome_of(one: Claim, ledger: Ledger) -> Outcome:
    """Run a claim's smoke tier in this process."""
    return run_claim(one, SMOKE, ledger, SerialExecutor())


def first_task(one: Claim) -> Task:
    """Make the task of a worker for the first block of a claim's smoke tier."""
    return task_of(Prepared(one, "reg"), SMOKE, one.cells["smoke"][0], 0)
