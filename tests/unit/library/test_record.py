"""Record of a decision, and a run's use of an earlier record."""

from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import sem

from recall_claims import Deterministic, MeanRatio, Quantile, Regime, Region, grid, recording
from recall_claims.declare.claim import Grid
from recall_claims.evidence.cost import Earlier
from recall_claims.evidence.ledger import Ledger
from recall_claims.model.region import Component, Interval, Verdict
from recall_claims.plugin.forecast import Baseline
from recall_claims.plugin.report import commit
from recall_reports.record import Range
from recall_reports.record.files import dump
from tests.apart import saved
from tests.reports import sample
from tests.unit.library.made import declared, mean_claim, outcome_of


def test_what_the_record_says_of_tiers_that_did_not_run_and_of_a_regime() -> None:
    regime = Regime("d < 8", {"dim": range(1, 9)}, holds=lambda cell: cell["dim"] < 8)
    few, many = grid(dim=(2, 2.0**0.5)), grid(dim=range(1, 10))
    cells: Grid = {"smoke": few, "standard": many, "full": lambda: ()}
    made = declared("T.told", cells, replicates=4, regime=regime)(mean_claim.observe)
    told = recording._in_words(made)
    assert told["grid of smoke"] == "cells 2; dim 1.414, 2"
    assert told["grid of standard"] == "cells 9; dim 9 values from 1 to 9"
    assert "grid of full" not in told
    assert told["range of dim"] == "1 to 8 in 8 steps"
    assert told["condition"] == "leaves 87 of 100 points drawn"
    narrow = replace(made, regime=replace(regime, holds=lambda cell: cell["dim"] < 4))
    assert recording._in_words(narrow)["condition"] == "leaves 36 of 100 points drawn"


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


def test_a_cell_has_the_standard_error_of_its_mean_where_chance_made_one(ledger: Ledger) -> None:
    outcome = outcome_of(mean_claim, ledger)
    told = recording.decided(outcome, "file").cells
    for cell, drawn in zip(told, outcome.evidence, strict=True):
        assert cell.error == pytest.approx(sem(drawn["value"]))
    region = Region(0.9, 1.1)
    for rule in (MeanRatio(region, method=Deterministic()), Quantile(region)):
        other = replace(outcome, claim=replace(mean_claim, rule=rule))
        assert all(cell.error is None for cell in recording.decided(other, "file").cells)


def test_the_commit_has_a_sign_for_uncommitted_changes_and_is_none_outside_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit(tmp_path)[0] is None
    name = saved(tmp_path, {"file": "old"})
    (tmp_path / "untracked").write_text("new")
    assert commit(tmp_path)[0] == name[:10]
    (tmp_path / "file").write_text("new")
    assert commit(tmp_path)[0] == f"{name[:10]}+"
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    none, why = commit(tmp_path)
    assert none is None
    assert "dubious ownership" in why
    assert "git config --global --add safe.directory" in why
    monkeypatch.setenv("PATH", "")
    assert commit(tmp_path)[0] is None


def test_verdicts_count_in_their_tier_and_times_in_each(tmp_path: Path) -> None:
    earlier = dump(sample.record(), tmp_path / "baseline.json")  # of the standard tier
    same, other = (Baseline(earlier, tier, required=True) for tier in ("standard", "smoke"))
    assert "A.trigger-signal" in same.records
    assert not {"A.scale", "A.broken"} & same.records.keys(), "they have no verdict"
    assert not other.records
    assert other.decided == same.decided == same.records
    entry = same.decided["A.trigger-signal"]
    each = entry.seconds / entry.replicates
    assert other.took["A.trigger-signal"] == Earlier(each, entry.looks)


def test_what_cannot_be_read_is_nothing_unless_it_is_asked_for(tmp_path: Path) -> None:
    """A damaged file that an option names is refused: see `tests/faults/test_exit_status.py`."""
    damaged = tmp_path / "damaged.json"
    damaged.write_text("{")
    unasked = Baseline(damaged, "standard", required=False)
    assert (unasked.records, unasked.decided, unasked.took) == ({}, {}, {})
