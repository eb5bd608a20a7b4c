"""A replicate's figures are its own: those that it has alone, but for rounding."""

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

from recall_claims import Block, Claim
from recall_claims.declare.cell import Cell
from recall_claims.evidence.seeds import replicate_generators
from recall_claims.evidence.simulate import full_precision
from tests.every_claim import DEAR, FILES, SLOW, claims_in, lowest

TOLERANCE = {"float64": 1e-10, "float32": 1e-5}
"""Of the largest figure; `.github/docs/gpu.md` promises it."""

LEFT_OUT = {
    "A.same-on-every-device": "it measures rounding",
    "B.trained-reference-line": "minutes; factual/test_simulation_trained_transformer.py tries it",
    "D.manifold": "it measures rounding",
}
"""Claims, and why they are not tried."""

SAMPLE = ("claims.memory.test_linear", "claims.attention.test_orthonormal")
"""Files for the default run: a cheap one, and one with exact ties."""


def observed(claim: Claim, cell: Cell, span: slice) -> dict[str, np.ndarray[Any, Any]]:
    """Figures of some of three replicates, simulated together."""
    rngs = replicate_generators(1000, claim.id, "", cell.id, 0, 3)
    block = Block(rngs=rngs[span], device="cpu", dtype=getattr(torch, claim.dtype))
    found = claim.observe(cell, block)
    figures = found if isinstance(found, Mapping) else {"value": found}
    return {name: np.asarray(values, dtype=float) for name, values in figures.items()}


@pytest.mark.parametrize(
    "module",
    [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.thorough) for name in FILES],
)
def test_a_replicate_does_not_depend_on_its_batch(module: str) -> None:
    full_precision()
    for claim in claims_in([importlib.import_module(module)]).values():
        if claim.id in (*SLOW, *DEAR, *LEFT_OUT):
            continue
        cells = lowest(claim)
        for cell in {cells[0], cells[-1]}:
            whole = observed(claim, cell, slice(3))
            alone, others = (observed(claim, cell, span) for span in (slice(1), slice(1, 3)))
            for name, values in whole.items():
                difference = np.abs(np.append(alone[name], others[name]) - values).max()
                size = np.abs(values).max()
                assert difference <= TOLERANCE[claim.dtype] * size, (claim.id, cell.id, name)
