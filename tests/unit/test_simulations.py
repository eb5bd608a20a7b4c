"""Every replicate of a simulation has the same figures alone as in a batch.

One claim of each simulating function is tried, at the last cell of its lowest tier. Claims of
`SLOW`, `DEAR` and `LEFT_OUT` are not. The tests of devices simulate two batches at the first cell.
"""

import importlib
from dataclasses import replace

import pytest

from recall_claims import Cell, Claim
from recall_claims.evidence import replay
from recall_claims.evidence.simulate import full_precision
from tests.every_claim import DEAR, FILES, SLOW, claims_in, lowest, simulated

TOLERANCE = {"float64": 1e-10, "float32": 1e-5}
"""Rounding tolerance, as a share of the largest figure; `.github/docs/gpu.md` promises it."""

LEFT_OUT = {
    "A.beyond-gradient-descent-length": "its rounding of 2e-16 after 3 steps is 7% after 150",
    "G.beyond-language-model": "minutes; factual/test_simulation_language_model.py tries it",
    "B.beyond-learned-embeddings-order": "B.beyond-learned-embeddings-plateau trains the same",
    "B.beyond-two-layers-order": "B.beyond-two-layers-plateau trains the same",
    "B.trained-mlp-line-few-outputs": "minutes; B.trained-mlp-reach tries its function",
    "B.trained-reference-line": "minutes; factual/test_trained_transformer.py tries it",
    "D.sign-ratios": "D.sign-order tries its function",
    "D.spectral-precision": "D.sign-order tries its function",
}
"""Claims, and why they are not tried."""

SAMPLE = ("claims.memory.test_linear", "claims.attention.test_orthonormal")
"""Files for the default run: a cheap one, and one with exact ties."""


@pytest.mark.parametrize(
    "module",
    [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.thorough) for name in FILES],
)
def test_a_replicate_does_not_depend_on_its_batch(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_precision()
    monkeypatch.setattr(replay, "TOLERANCE", TOLERANCE)
    tried = set()
    for claim in claims_in([importlib.import_module(module)]).values():
        code = claim.observe, claim.dtype
        if claim.id in (*SLOW, *DEAR, *LEFT_OUT) or code in tried:
            continue
        tried.add(code)
        cell = lowest(claim)[-1]
        # Some processors add up a batch of two in another order than one of three. That may show
        # in float32, and not in float64.
        assert not depends(claim, cell) or not depends(replace(claim, dtype="float64"), cell), (
            claim.id
        )


def depends(claim: Claim, cell: Cell) -> bool:
    """Check whether replicates have other figures in a batch of three than alone or as a pair."""
    whole, alone, others = (simulated(claim, cell, part) for part in ([0, 1, 2], [0], [1, 2]))
    return any(
        replay.differing(claim, {name: figures}, [0], {name: alone[name]})
        or replay.differing(claim, {name: figures}, [1, 2], {name: others[name]})
        for name, figures in whole.items()
    )
