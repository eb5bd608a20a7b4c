"""All claims of the suite, for tests about every claim."""

import importlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from recall_claims import Claim
from recall_claims.declare.claim import TIERS
from recall_claims.evidence.block import BlockKey
from recall_claims.evidence.replay import Figures
from recall_claims.evidence.simulate import Task, again
from recall_claims.model.cell import Cell

_ROOT = Path(__file__).parents[1]
FILES = {
    ".".join(file.relative_to(_ROOT).with_suffix("").parts): file
    for file in sorted((_ROOT / "claims").rglob("test_*.py"))
}
"""Every claim file, by the name it is imported by."""

SLOW = (
    *("A.beyond-gradient-descent", "B.beyond-adam-order", "B.beyond-softmax-order"),
    *("B.beyond-weight-decay-order", "B.beyond-zipf-subjects-order", "B.flow-background"),
    *("B.flow-conservation", "B.flow-half-times", "B.flow-hallucination", "B.flow-loss-curve"),
    *("B.flow-order", "B.flow-plateau", "B.flow-plateau-random", "B.flow-time-ratio"),
    *("B.linear-memory-line", "B.published-boundaries", "B.recall-law-large-rank"),
    *("B.sgd-half-steps", "B.trained-capacity-exponent", "B.trained-capacity-growth"),
    *("B.trained-either-weights", "B.trained-line-constant", "B.trained-mlp-line"),
    *("B.trained-reference-line-attention", "B.trained-trade-off", "B.trained-within-best"),
    *("D.beyond-gaussian", "D.beyond-muon-decay", "D.gradient-exponents", "D.gradient-limit"),
    *("D.sign-flow-turns", "D.spectral-order-one", "G.beyond-language-model"),
)
"""Claims that train for long. Most of the code of these claims runs in other claims too, and unit
tests try the rest."""
DEAR = (
    *("B.beyond-adam-plateau", "B.beyond-noise-subjects", "B.beyond-softmax-plateau"),
    *("B.beyond-weight-decay-plateau", "B.beyond-zipf-subjects-plateau"),
)
"""Claims that train for long with code of their own."""


@cache
def imported() -> dict[str, Claim]:
    """Import all claims of the suite, by id."""
    importlib.import_module("claims.papers")
    return claims_in(importlib.import_module(name) for name in FILES)


def claims_in(modules: Iterable[object]) -> dict[str, Claim]:
    return {
        value.id: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Claim)
    }


def lowest(claim: Claim) -> Sequence[Cell]:
    """Return the cells of the lowest tier that has cells."""
    return next(cells for tier in TIERS if (cells := claim.cells.get(tier)))


def simulated(claim: Claim, cell: Cell, places: Sequence[int], device: str = "cpu") -> Figures:
    """Simulate some of three replicates of a cell together, with draws that no evidence has."""
    key = BlockKey(claim.id, "", cell.id, 1000, 0, 3, claim.dtype, device, "", "")
    found = again(claim, Task(claim.module, cell, device, key), places)
    assert found is not None, f"{claim.id}: no memory for {len(places)} replicates on {device}"
    return found
