"""A hunt finds an error of the theory that the grid of its claim does not show."""

import time
from pathlib import Path

import pytest

from recall_claims.declare.registration import registration
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Settings
from recall_claims.hunt import campaign
from tests.every_claim import imported
from tests.mutation.mutants import forget
from theory.attention import orthonormal
from theory.attention.problem import Problem

RIGHT = orthonormal.recall


def never_guessed(problem: Problem) -> float:
    """Predict the recall as if a token that was not seen were never guessed.

    This error is planted only for vocabularies of fewer than 32 tokens and a trigger that is not in
    the values.
    """
    if problem.vocab_size >= 32 or problem.trigger_in_values:
        return RIGHT(problem)
    return float(1 - (1 - 1 / problem.vocab_size) ** problem.samples)


def test_an_error_that_the_grid_does_not_show_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = imported()["A.orthonormal-recall"]
    registered = registration(claim, "standard")
    forget()
    with monkeypatch.context() as patch, Ledger(tmp_path / "ledger.sqlite") as ledger:
        patch.setattr(orthonormal, "recall", never_guessed)
        assert registration(claim, "standard") == registered
        given = [claim], Settings(), ledger, SerialExecutor(), 60.0
        [trail] = campaign.hunt(*given, clock=time.process_time)
    forget()
    assert trail.confirmation is not None
    point = trail.confirmation.probe.point
    assert point["vocab_size"] < 32
    assert not point["trigger_in_values"]
