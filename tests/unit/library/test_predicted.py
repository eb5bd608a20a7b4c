"""Predictions are worked out once, as long as nothing changes that they depend on."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from claims.memory import test_linear as module
from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import Claim
from recall_claims.declare.registration import registration
from recall_claims.evidence import predicted
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.predicted import Predicted

CLAIM = next(
    c for c in vars(module).values() if isinstance(c, Claim) and c.id == "B.linear-accuracy"
)


def counted(calls: list[Cell]) -> Claim:
    """The claim, which keeps an account of what it is asked to predict."""

    def predict(cell: Cell) -> float | str:
        calls.append(cell)
        assert CLAIM.predict is not None
        return CLAIM.predict(cell)

    return replace(CLAIM, predict=predict)


def test_what_the_ledger_knows_is_not_predicted_again(tmp_path: Path) -> None:
    calls, begun = list[Cell](), time.time()
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        first = Predicted(counted(calls), "standard", ledger, begun)
        named = registration(first.claim, "standard")
        assert calls
        first.keep(ledger)
        calls.clear()

        again = Predicted(counted(calls), "standard", ledger, begun)
        assert registration(again.claim, "standard") == named
        assert dict(again.claim.cells) == dict(CLAIM.cells)
        assert not calls
        again.claim.predict(Cell(**{**first.claim.cells["standard"][0], "more": 1}))  # type: ignore[misc]
        assert len(calls) == 1


def test_a_file_that_changed_or_is_younger_than_the_process_is_predicted_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, file = time.time(), tmp_path / "beside"
    monkeypatch.setattr(predicted, "_roots", lambda claim: (claim.module, (file,)))

    def calls(ledger: Ledger, begun: float) -> int:
        found: list[Cell] = []
        one = Predicted(counted(found), "standard", ledger, begun)
        registration(one.claim, "standard")
        one.keep(ledger)
        return len(found)

    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert calls(ledger, begun) > 0
        assert calls(ledger, begun) == 0
        file.write_text("one")
        assert calls(ledger, time.time() + 1) > 0
        assert calls(ledger, time.time() + 2) == 0
        file.write_text("two")
        assert calls(ledger, time.time() + 3) > 0
        assert calls(ledger, time.time() + 4) == 0
        assert calls(ledger, begun - 1e9) > 0


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"cells": {"standard": [{}]}, "figures": {}}', '{"cells": {}, "figures": 1}'],
)
def test_what_is_damaged_is_predicted_anew(tmp_path: Path, text: str) -> None:
    calls, begun = list[Cell](), time.time()
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        first = Predicted(counted(calls), "standard", ledger, begun)
        named = registration(first.claim, "standard")
        first.keep(ledger)
        ledger.ask("UPDATE predicted SET kept = ?", (text,), action="write")
        again = Predicted(counted(calls), "standard", ledger, begun)
        assert registration(again.claim, "standard") == named
