"""A replicate's figures are its own, in every claim of the suite."""

from __future__ import annotations

import importlib
from functools import partial

import pytest

from recall_claims.evidence import replay
from recall_claims.evidence.block import BlockKey
from recall_claims.evidence.simulate import Task, again, full_precision
from tests.every_claim import DEAR, FILES, SLOW, claims_in, lowest

LEFT_OUT = ("B.trained-reference-line",)  # factual/test_simulation_trained_transformer.py tries it
SAMPLE = ("claims.memory.test_linear", "claims.attention.test_orthonormal")
"""Files for the default run: a cheap one, and one with exact ties."""


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
            key = BlockKey(claim.id, "", cell.id, 1000, 0, 3, claim.dtype, "cpu", "", "")
            task = Task(module, cell, "cpu", key)
            figures = again(claim, task, range(3))
            assert figures is not None
            assert replay.fault(claim, figures, 0.0, partial(again, claim, task)) is None
