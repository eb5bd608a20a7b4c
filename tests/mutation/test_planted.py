"""Planted errors are invisible on the grids of the standard tier, and violations elsewhere."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import torch

from recall_claims import Block, Cell, Claim
from recall_claims.declare.registration import registration
from tests.every_claim import imported
from tests.mutation.judge import falsified, sees
from tests.mutation.planted import PLANTED, Planted

FORMULAS = [p for p in PLANTED.values() if p.changed.startswith("theory.")]
IDENTITIES = [p for p in PLANTED.values() if p not in FORMULAS]
LEAST = {"gaussian-as-sphere": 1.2, "one-length": 1.05, "few-signs": 1.1, "three-sizes": 1.1}
"""Least error of an example in half widths of its region, if not 1.5."""


def each(errors: Iterable[Planted]) -> list[Any]:
    return [pytest.param(planted, id=planted.id) for planted in errors]


@pytest.mark.parametrize("planted", each(FORMULAS))
def test_the_grids_of_its_claims_do_not_see_it(planted: Planted) -> None:
    unchanged(planted, planted.claims)


@pytest.mark.exhaustive
@pytest.mark.parametrize("planted", each(FORMULAS))
def test_no_grid_sees_it(planted: Planted) -> None:
    users = [name for name, claim in imported().items() if claim.cells.get("standard")]
    unchanged(planted, [name for name in users if sees(name, planted.mutant)])


def unchanged(planted: Planted, names: Iterable[str]) -> None:
    """Assert that the error changes no registration of claims in the standard tier."""
    with falsified(planted.mutant, *names) as claims:
        wrong = {name: registration(claims[name], "standard") for name in names}
    assert wrong == {name: registration(imported()[name], "standard") for name in names}


@pytest.mark.parametrize("planted", each(FORMULAS))
def test_its_example_is_wrong(planted: Planted) -> None:
    name = planted.claims[0]
    right = number(imported()[name], planted.example)
    with falsified(planted.mutant, name) as claims:
        wrong = number(claims[name], planted.example)
    region = imported()[name].rule.region  # type: ignore[attr-defined]
    off = wrong - right if region.low < 0 else right / wrong - 1
    half = (region.high - region.low) / 2
    assert abs(off) >= (0.1 if math.isinf(half) else LEAST.get(planted.id, 1.5) * half)
    in_regime(name, planted.example)


def number(claim: Claim, cell: Cell) -> float:
    assert claim.predict is not None
    return float(claim.predict(cell))


def in_regime(name: str, cell: Cell) -> None:
    claim = imported()[name]
    assert claim.regime is not None
    assert claim.searchable(cell)
    assert all(value in claim.regime.ranges[size].steps for size, value in cell.items())


@pytest.mark.parametrize("planted", each(IDENTITIES))
def test_an_identity_breaks_at_its_example_alone(planted: Planted) -> None:
    [name] = planted.claims
    claim = imported()[name]
    right = {cell: errors(claim, cell) for cell in claim.cells["standard"]}
    with pytest.MonkeyPatch.context() as patch:
        planted.plant(patch)
        for cell, expected in right.items():
            assert np.array_equal(errors(claim, cell), expected)
        wrong = errors(claim, planted.example)
    tolerance = claim.rule.tolerance  # type: ignore[attr-defined]
    assert wrong.min() > 1.5 * tolerance
    assert errors(claim, planted.example).max() < tolerance
    in_regime(name, planted.example)


def errors(claim: Claim, cell: Cell) -> np.ndarray[Any, Any]:
    block = Block((np.random.default_rng(7), np.random.default_rng(8)), "cpu", torch.float64)
    found: torch.Tensor = claim.observe(cell, block)["error"]
    return found.numpy()
