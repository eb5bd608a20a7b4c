"""Expected duration of blocks, and the line that shows the duration.

`tests/faults/test_time.py` tests the line on a terminal.
"""

import io
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from rich.console import Console

from recall_claims.evidence.cost import Costs, Earlier
from recall_claims.evidence.ledger import BlockKey, BlockResult, Ledger
from recall_claims.evidence.run import Settings
from recall_claims.plugin import forecast
from recall_claims.plugin.forecast import Forecast, ProgressLine

KEY = BlockKey("claim", "reg", "dim=8", 0, 0, 10, "float64", "cpu", "code", "versions")
EARLIER = {"claim": Earlier(0.2, looks=2)}


def costs(ledger: Ledger | None, device: str = "cpu") -> Costs:
    return Costs(lambda: ledger, device, EARLIER)


def test_a_cell_takes_what_it_took_or_else_what_its_claim_took(ledger: Ledger) -> None:
    found = costs(None)
    assert found.seconds("claim", "dim=8", 100) == pytest.approx(20.0)
    assert found.seconds("other", "dim=8", 100) is None
    found.learn(replace(KEY, claim="other"), 2.0)
    assert found.seconds("other", "dim=8", 20) == pytest.approx(4.0)

    ledger.put(KEY, BlockResult({"value": np.ones(10)}, 3.0))
    ledger.ask("UPDATE blocks SET seconds = -1 WHERE claim = 'nobody'")
    found = costs(ledger)
    assert found.seconds("claim", "dim=8", 20) == pytest.approx(6.0)
    assert found.seconds("claim", "dim=16", 20) == pytest.approx(6.0)
    assert costs(ledger, "cuda").seconds("claim", "dim=8", 100) == pytest.approx(20.0)
    found.learn(replace(KEY, cell="dim=16"), 6.0)
    assert found.seconds("claim", "dim=16", 10) == pytest.approx(6.0)
    assert found.seconds("claim", "dim=32", 10) == pytest.approx(4.5), "the mean of both"


def test_a_path_is_a_chain_of_the_longest_blocks(ledger: Ledger) -> None:
    found = costs(ledger)
    assert found.path("claim", 10, looks=5) == pytest.approx(2 * 2.0)
    assert found.path("other", 10, looks=5) == float("inf")
    for cell, seconds in (("dim=8", 1.0), ("dim=16", 4.0)):
        found.learn(replace(KEY, claim="other", cell=cell), seconds)
    assert found.path("other", 10, looks=5) == pytest.approx(5 * 4.0)


@pytest.mark.parametrize(("code", "left"), [("code", 1.0), ("edited", 2.0)])
def test_blocks_of_other_code_are_still_ahead(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, code: str, left: float
) -> None:
    ledger.put(KEY, BlockResult({"value": np.ones(10)}, 1.0))
    monkeypatch.setattr(forecast, "find", lambda module, claim: (None, code))
    monkeypatch.setattr(forecast, "versions", lambda: "versions")
    earlier = Mock(registration="reg", cells=[Mock(params={"dim": 8}, replicates=20)])
    earlier.blocks.total = 2
    expected = Forecast(costs(ledger), Settings(), Mock(records={"claim": earlier}))
    claim = Mock(id="claim")
    assert expected.ahead([claim]) == {"claim": pytest.approx(left)}


def test_the_line_tells_claims_and_the_time_left() -> None:
    console = Console(file=io.StringIO())
    line = ProgressLine(console, 3, {"a": 5000.0, "b": 7000.0, "c": 450.8}, workers=2)
    line.decided("a", passes=True)
    assert line.sentence == "1 of 3 claims decided, none fails; about 62 min left"
    line.finish("a")  # at its turn: it is counted once
    line.decided("b", passes=False)
    assert line.sentence == "2 of 3 claims decided, 1 fails; about 4 min left"
    line.finish("c")
    assert line.sentence == "3 of 3 claims decided, 1 fails; about 0 s left"


def test_without_a_terminal_there_is_a_plain_line_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    written, now = io.StringIO(), iter((0.0, 59.0, 61.0, 61.0, 62.0, 122.0, 122.0))
    monkeypatch.setattr("recall_claims.plugin.forecast.time.monotonic", lambda: next(now))
    line = ProgressLine(Console(file=written), 3, {}, workers=2)
    for block in range(4):
        line("b", 1, block, 12)
    assert written.getvalue() == 2 * "\n0 of 3 claims decided, none fails\n"
    line.names = True
    line.decided("b", "SUPPORTED b 1.000 [0.990, 1.010]", passes=True)
    line.finish("b")
    assert written.getvalue().endswith("fails\nSUPPORTED b 1.000 [0.990, 1.010]\n")
