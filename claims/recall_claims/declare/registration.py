"""Registration: a short hash of what a claim declared when its evidence was drawn.

If somebody moves a region after seeing the evidence, and judges by the same evidence, the verdict
has no error rate. So random streams and ledger keys derive from the declaration, and an edit draws
fresh evidence. Predictions count to 4 digits, so that a formula may be rewritten without drawing
again. If rounding changes the last digit, evidence is drawn again, and nothing else happens.
"""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import inspect
import json
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Set
from enum import Enum
from typing import Any

import numpy as np

from recall_claims.declare.claim import Claim
from recall_claims.judge.methods import Array
from recall_claims.judge.rules.law import Law
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError

OFF_TIES = 1.0000317
"""Factor on a number before rounding, so that 0.12345 and the like are no ties."""

GIVEN = frozenset({"abc", "builtins", "recall_claims", "typing"})
"""Modules of classes that no claim author wrote."""

FINE = 50
"""Number of hashed quantiles times `Law.within`."""


def registration(claim: Claim, tier: str) -> str:
    """Hash `declaration` by SHA-256, to 16 hex digits.

    Raises:
        ClaimError: as for `declaration`.
    """
    return hashlib.sha256(declaration(claim, tier).encode()).hexdigest()[:16]


def declaration(claim: Claim, tier: str) -> str:
    """Return everything that fixes a claim's verdict in a tier beforehand, as JSON.

    It holds the claim's id, tier, rule, cells, replicates, looks, block size if below the first
    look's, floating-point type, expected verdict and controls. It also holds predictions of the
    claim and each control in every cell, and the code of a rule that is not the library's. It
    leaves out titles, prose, LaTeX, plots, the regime and the simulation's code. It also leaves out
    what alpha depends on: budget, share and slots. The result is the same in every process.

    Raises:
        ClaimError: a field of a rule is neither number nor text, nor made of these, so that two
            processes could write it differently. Or the text of a rule's class cannot be read.
    """
    cells = claim.cells.get(tier, ())
    first, _ = claim.replicates[tier]
    planted = {control.id: control.planted(claim) for control in claim.controls}
    declared = {
        "claim": claim.id,
        "tier": tier,
        "dtype": claim.dtype,
        "expected": claim.expected,
        "replicates": first,
        "looks": claim.looks(tier),
        "cells": [cell.id for cell in cells],
        "judged": _judged(claim, cells),
        "controls": {name: _judged(wrong, cells) for name, wrong in planted.items()},
    }
    if claim.block.get(tier, first) != first:
        declared["block"] = claim.block[tier]
    return json.dumps(declared, sort_keys=True)


def _judged(claim: Claim, cells: Iterable[Cell]) -> dict[str, Any]:
    predict = claim.predict
    within = min(
        [r.within for r, _ in claim.rule.parts(predict) if isinstance(r, Law)], default=0.1
    )
    return {
        "rule": _plain(claim.rule, f"the rule of claim {claim.id}"),
        "predictions": None if predict is None else [_predicted(predict(c), within) for c in cells],
    }


def _predicted(value: Any, within: float) -> Any:
    """Convert a prediction to JSON types; a law becomes its `_quantiles` for `within`."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {name: _predicted(one, within) for name, one in value.items()}
    if callable(value):
        return _quantiles(value, within)
    return _rounded(float(value) * OFF_TIES, 4)


def _quantiles(law: Callable[[Any], Any], within: float) -> list[float]:
    """Return a law's quantiles at equally spaced levels, rounded to fit the law's own scale.

    A quantile is rounded to about 1/1000 of the distance between two others: at levels lower and
    higher by `within`. So two laws differ in some rounded quantile if they are farther apart than a
    few hundredths of `within`. The tails of a law, which rounding distorts, do not count. Quantiles
    at a jump are rounded more finely, since moving a jump moves all of its probability.
    """
    count = math.ceil(FINE / within)
    with np.errstate(all="ignore"):  # a law may overflow far out
        found = _where(law, (np.arange(count) + 0.4683) / count)  # levels where few laws jump
        around = np.pad(found, FINE, mode="edge")
        whole = found[-1] - found[0] or abs(found[0]) or 1.0
        jumps = np.diff(found, append=math.inf) < 1e-9 * whole
        jumps[1:] |= jumps[:-1]
        nearby = around[2 * FINE :] - around[: -2 * FINE]
        scale = np.where(jumps, 1e-6 * np.maximum(whole, abs(found)), nearby)
        steps = 2.0 ** (np.floor(np.log2(scale * OFF_TIES)) - 10)
        rounded: list[float] = (np.round(found / steps + 0.0317) * steps).tolist()
    return rounded


def _where(law: Callable[[Any], Any], levels: Array) -> Array:
    """Find where a distribution function reaches these levels, by bisection."""

    def beyond(far: float) -> bool:
        below, above = law(np.array([-far, far]))
        return bool(below < levels[0] and above >= levels[-1])

    far = next((2.0**power for power in range(1000) if beyond(2.0**power)), 2.0**1000)
    low, high = np.full(levels.size, -far), np.full(levels.size, far)
    for _ in range(2100):
        middle = (low + high) / 2
        if ((middle <= low) | (middle >= high)).all():
            break
        reached = np.asarray(law(middle)) >= levels
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}") + 0.0  # no negative zero


def _plain(value: object, where: str) -> Any:
    """Convert a value to JSON types; equal values give equal results."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, bool | str) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return [type(value).__qualname__, value.name]
    if isinstance(value, int):
        return value if abs(value) >= 10**8 else float(value)  # 1 and 1.0 are one declaration
    if isinstance(value, float):
        return _rounded(value, 8)
    if isinstance(value, Cell):
        return value.id
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: _plain(getattr(value, field.name), f"{field.name} of {where}")
            for field in dataclasses.fields(value)
        }
        return [type(value).__qualname__, fields, *_texts(type(value), where)]
    if isinstance(value, Mapping):
        return sorted(
            [[_plain(k, where), _plain(v, f"{k!r} in {where}")] for k, v in value.items()],
            key=json.dumps,
        )
    if isinstance(value, Set):
        return sorted((_plain(entry, where) for entry in value), key=json.dumps)
    if isinstance(value, tuple | list):
        return [_plain(entry, where) for entry in value]
    kind = "a function" if callable(value) else f"a {type(value).__name__}"
    raise ClaimError(
        f"{where} is {kind}, which has no text that every process agrees on, so the claim cannot "
        "be registered; give numbers, texts, or a dataclass of such"
    )


def _texts(kind: type, where: str) -> list[str]:
    """Return the syntax trees of a class and its bases, without those that no author wrote."""
    own = (one for one in kind.__mro__ if one.__module__.split(".")[0] not in GIVEN)
    try:
        return [ast.dump(ast.parse(textwrap.dedent(inspect.getsource(one)))) for one in own]
    except (OSError, TypeError) as error:
        raise ClaimError(
            f"{where} is a {kind.__qualname__}, whose text cannot be read, so that nobody would "
            f"notice a change of it ({error}); define the class in a file"
        ) from error
