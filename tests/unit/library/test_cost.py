"""What blocks are expected to take."""

import math
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from recall_claims.evidence import cost
from recall_claims.evidence.cost import Costs, PowerLaw, Spent, Total, exponents
from recall_claims.evidence.ledger import BlockKey, BlockResult, Ledger

KEY = BlockKey("claim", "reg", "dim=8", 0, 0, 10, "float64", "cpu", "code", "versions")
BASELINE = {"claim": Total(30.0, (Spent("dim=8", 100), Spent("dim=16", 100)))}


def cell(dim: int, length: int) -> Spent:
    """Two replicates of a cell, each of dim^2 length milliseconds."""
    return Spent(f"dim={dim},length={length},kind=text", 2, 2e-3 * dim**2 * length)


GRID = [cell(dim, length) for dim in (8, 64, 512) for length in (2, 32)]


def test_a_power_law_follows_the_cells_that_are_known() -> None:
    law = PowerLaw(GRID, {})
    assert law("dim=64,length=32,kind=other") == pytest.approx(1e-3 * 64**2 * 32, rel=0.1)
    assert law("dim=2048,length=8") == pytest.approx(1e-3 * 2048**2 * 8, rel=0.3)


def test_one_cell_is_scaled_by_the_exponents_of_others() -> None:
    prior = exponents([GRID, [Spent("dim=4", 1, 1.0)]], {})
    assert prior["dim"] == pytest.approx(2, abs=0.1)
    assert PowerLaw([Spent("dim=8", 1, 1.0)], prior)("dim=16") == pytest.approx(4, rel=0.1)
    assert PowerLaw([Spent("dim=8", 1, 1.0)], {})("dim=16") == pytest.approx(2)


def costs(ledger: Ledger | None, device: str = "cpu") -> Costs:
    return Costs(lambda: ledger, device, lambda: BASELINE)


def test_the_baseline_is_spread_over_its_cells_and_a_first_block_over_all_others() -> None:
    found = costs(None)
    assert found.seconds("claim", "dim=8", 100) == pytest.approx(10)
    assert found.seconds("claim", "dim=16", 100) == pytest.approx(20)
    assert found.seconds("other", "dim=8", 100) is None
    found.learn(replace(KEY, claim="other"), 2.0)
    assert found.seconds("other", "dim=8", 10) == pytest.approx(2.0)
    assert found.seconds("other", "dim=16", 10) == pytest.approx(4.0)


def test_the_ledger_tells_more_than_the_baseline_and_this_run_more_than_both(
    ledger: Ledger,
) -> None:
    ledger.put(KEY, BlockResult({"value": np.ones(10)}, 3.0))
    found = costs(ledger)
    assert found.seconds("claim", "dim=8", 20) == pytest.approx(6.0)
    assert found.seconds("claim", "dim=16", 10) == pytest.approx(6.0)
    assert costs(ledger, "cuda").seconds("claim", "dim=8", 100) == pytest.approx(10)

    found.learn(KEY, 12.0)
    assert found.seconds("claim", "dim=8", 10) == pytest.approx(12.0)
    assert 6.0 < (found.seconds("claim", "dim=16", 10) or math.nan) < 24.0


def test_a_block_that_was_given_up_may_take_as_much_again(ledger: Ledger) -> None:
    given_up = replace(KEY, claim="other")
    costs(ledger).give_up(given_up, 5.0)
    found = costs(ledger)  # of a later run
    assert found.bounded("other")
    assert found.seconds("other", "dim=8", 10) == pytest.approx(10.0)
    assert found.seconds("other", "dim=16", 10) == pytest.approx(20.0)
    assert costs(ledger, "cuda").seconds("other", "dim=8", 10) is None

    found.give_up(given_up, 20.0)
    assert found.seconds("other", "dim=16", 10) == pytest.approx(80.0)

    ledger.put(given_up, BlockResult({"value": np.ones(10)}, 30.0))
    found = costs(ledger)
    assert not found.bounded("other")
    assert found.seconds("other", "dim=8", 10) == pytest.approx(30.0)


def test_machines_are_compared_where_both_are_known(ledger: Ledger) -> None:
    found = costs(ledger)
    found.compare(["claim"])
    assert found.machine is None
    ledger.put(replace(KEY, replicates=100), BlockResult({"value": np.ones(100)}, 25.0))
    found = costs(ledger)
    found.compare(["claim", "other"])
    assert found.machine == pytest.approx(2.5)


class Name(str):
    """A claim's id; all of them together count how often one is compared with another."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def test_what_a_block_teaches_does_not_take_a_look_at_every_claim() -> None:
    found, Name.compared = costs(None), 0
    for number in range(100):
        found.learn(replace(KEY, claim=Name(number)), 2.0)
    assert Name.compared < 1000  # each with each: 4,950


def test_cells_of_an_unknown_claim_are_fitted_when_there_are_twice_as_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, law = costs(None), Mock(side_effect=PowerLaw)
    monkeypatch.setattr(cost, "PowerLaw", law)
    for dim in range(1, 130):
        found.learn(replace(KEY, claim="other", cell=f"dim={dim}"), 2.0)
        assert found.seconds("other", "dim=1000", 10) is not None
    fitted = [len(call.args[0]) for call in law.call_args_list]
    assert fitted[1:] == [1, 2, 4, 8, 16, 32, 64, 128]  # after the law of the baseline
