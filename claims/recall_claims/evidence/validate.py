"""What a block must be before it is evidence, whoever returns it: a worker, a ledger, a bundle."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from recall_claims.evidence.block import MOST_NAMES, BlockKey, BlockResult

LONGEST_NAME = 200


def fault(key: BlockKey, result: object, names: Collection[str] | None = None) -> str | None:
    """What is wrong with what somebody returned for a block, in words; None if it is evidence.

    `Ledger.put` and `Ledger.get` ask this of every block. Whoever judges a block before it is
    kept asks it first, and says who returned it::

        wrong = fault(task.key, result, names=first.observations)
        if wrong is not None:
            raise SimulationError(f"a worker's block of {task.key.claim}: {wrong}")

    Figures that follow from other code, seeds or draws than the key says pass: only drawing the
    block again tells.

    Args:
        key: of the block that was asked for.
        result: whatever came.
        names: the observables that it must have, such as those of the cell's first block; None
            where that is not known.
    """
    if type(result) is not BlockResult:
        return f"a {type(result).__name__[:LONGEST_NAME]} in place of a BlockResult"
    observations: Any = result.observations
    if type(observations) is not dict or not 0 < len(observations) <= MOST_NAMES:
        return f"its observables are not a dict of 1 to {MOST_NAMES} arrays"
    for name in observations:
        if type(name) is not str or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            return f"the name of an observable is not a text of up to {LONGEST_NAME} characters"
    if names is not None and set(names) != set(observations):
        return f"it has the observables {sorted(observations)!s:.200}, not {sorted(names)!s:.200}"
    for name, values in observations.items():
        if type(values) is not np.ndarray or values.dtype != np.float64:
            kind = getattr(values, "dtype", type(values).__name__)
            return f"observable {name!r} is of type {kind!s:.50}, not an array of float64"
        if values.shape != (key.replicates,):
            return f"observable {name!r} has shape {values.shape}, not ({key.replicates},)"
        if not np.isfinite(values).all():
            return f"observable {name!r} has values that are not finite"
    if not _amount(result.seconds):
        return "its seconds are not a finite number from 0"
    if result.peak_memory is not None and not _amount(result.peak_memory):
        return "its peak memory is not a finite number from 0"
    if type(result.parts) is not int or not 1 <= result.parts <= key.replicates:
        return f"its parts are not a whole number from 1 to {key.replicates}"
    return None


def _amount(value: object) -> bool:
    """Whether this is a finite float from 0."""
    return isinstance(value, float) and 0 <= value < math.inf
