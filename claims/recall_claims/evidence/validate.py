"""Checks of a block before it becomes evidence, whether a worker or a ledger returns it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from recall_claims.evidence.block import (
    LARGEST,
    LONGEST_NAME,
    MOST_NAMES,
    BlockKey,
    BlockResult,
)
from recall_claims.judge.methods import Array

ZERO = 1e-12
"""Largest size of a figure that counts as rounding of 0."""
TOLERANCE = {"float64": 1e-9, "float32": 1e-5}
"""Share of the largest figure by which rounding may move a figure on another processor."""

AMPLIFIED, OF_SPREAD = 10, 1e-4
"""Rounding may grow so many times where its root mean square is at most this share of the standard
deviation of the replicates: it then moves no verdict."""


def fault(key: BlockKey, result: object, names: Collection[str] | None = None) -> str | None:
    """Describe the fault of a block's result; None if the result is evidence.

    `Ledger.put` and `Ledger.get` call this for every block, before anybody judges it. Figures from
    other code, seeds or draws than the key says pass: only simulating the block again shows these.

    Args:
        names: the observables that the result must have, as in the cell's first block; None if
            unknown.
    """
    if type(result) is not BlockResult:
        return f"a {type(result).__name__[:LONGEST_NAME]} instead of a BlockResult"
    observations: Any = result.observations
    if type(observations) is not dict or not 0 < len(observations) <= MOST_NAMES:
        return f"its observables are not a dict of 1 to {MOST_NAMES} arrays"
    if 8 * key.replicates * len(observations) > LARGEST:
        return f"its values take more than {LARGEST} bytes: have the claim's block= be smaller"
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
            count = f"one value per replicate ({key.replicates},)"
            return f"observable {name!r} has shape {values.shape}, not {count}"
        if not np.isfinite(values).all():
            count = f"{(~np.isfinite(values)).sum()} values that are not finite"
            return (
                f"observable {name!r} has {count}: what simulates is broken or the cell senseless"
            )
    if not (isinstance(result.seconds, float) and 0 <= result.seconds < math.inf):
        return "its seconds are not a finite number from 0"
    if type(result.parts) is not int or not 1 <= result.parts <= key.replicates:
        return f"its parts are not a whole number from 1 to {key.replicates}"
    return None


def difference(
    kept: Mapping[str, Array], again: Mapping[str, Array], dtype: str, floor: float = ZERO
) -> str | None:
    """Describe how two results for one block differ by more than rounding; None if they do not.

    Args:
        kept: observables of one result.
        again: observables of the other, for as many replicates.
        dtype: floating-point type of the simulation.
        floor: difference allowed for any observable, however small.
    """
    if kept.keys() != again.keys():
        return f"observables {sorted(kept)!s:.200} and {sorted(again)!s:.200}"
    for name, values in again.items():
        off, largest = float(abs(kept[name] - values).max()), float(abs(values).max())
        apart = math.hypot(*(kept[name] - values)) / math.sqrt(values.size)
        share = AMPLIFIED if apart <= OF_SPREAD * float(values.std()) else 1
        if off > max(share * TOLERANCE[dtype] * largest, floor):
            return f"{name!r:.80} is off by {off:.2g}, where its largest is {largest:.2g}"
    return None
