"""What the record says of a decision."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from recall_claims import Region, recording
from recall_claims.evidence.ledger import Ledger
from recall_claims.model.region import Component, Interval, Verdict
from recall_claims.plugin.report import commit
from recall_reports.record import Range
from tests.apart import saved
from tests.unit.library.made import mean_claim, outcome_of


@pytest.mark.parametrize("expected", ["SUPPORTED", "REFUTED"])
@pytest.mark.parametrize("verdict", Verdict)
def test_what_passes(verdict: Verdict, expected: Literal["SUPPORTED", "REFUTED"]) -> None:
    claim = replace(mean_claim, refuted="it is false" * (expected == "REFUTED"))
    assert recording.passes(claim, verdict) == (verdict == expected)
    assert recording.passes(replace(claim, relaxes=("one head", "recall")), verdict)


def test_intervals_of_a_component() -> None:
    wide, narrow = Interval(0.8, 1.2), Interval(0.95, 1.05)
    found = Component("c", 1.0, wide, Region(0.9, 1.1), "ratio", one_sided=narrow)
    told = recording.component(found)
    assert (told.interval, told.one_sided) == (Range(0.8, 1.2), Range(0.95, 1.05))


@pytest.mark.parametrize(
    ("theory", "word", "exploratory_word"),
    [(2.0, "SUPPORTED", "SURVIVES"), (20.0, "REFUTED", "BREAKS")],
)
def test_verdicts_of_exploratory_claims(
    ledger: Ledger, theory: float, word: str, exploratory_word: str
) -> None:
    claim = replace(mean_claim, predict=lambda cell: theory)
    outcome = outcome_of(claim, ledger)
    exploratory = replace(outcome, claim=replace(claim, relaxes=("one head", "recall")))
    told = recording.decided(outcome, "file"), recording.decided(exploratory, "file")
    assert recording.said(Verdict.INCONCLUSIVE, exploratory=True) == "INCONCLUSIVE"
    assert [one.verdict for one in told] == [word, exploratory_word]
    passed = "passed" if word == "SUPPORTED" else "failed"
    assert [one.outcome for one in told] == [passed, "passed"]


def test_the_commit_has_a_sign_for_uncommitted_changes_and_is_none_outside_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit(tmp_path) is None
    name = saved(tmp_path, {"file": "old"})
    (tmp_path / "untracked").write_text("new")
    assert commit(tmp_path) == name[:10]
    (tmp_path / "file").write_text("new")
    assert commit(tmp_path) == f"{name[:10]}+"
    monkeypatch.setenv("PATH", "")
    assert commit(tmp_path) is None
