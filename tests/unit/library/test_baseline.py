"""What a run takes from an earlier report."""

from pathlib import Path

import pytest

from recall_claims.evidence.cost import Earlier
from recall_claims.plugin.baseline import Baseline
from recall_reports.record.files import dump
from tests.reports import sample


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A report of the standard tier."""
    return dump(sample.record(), tmp_path / "baseline.json")


def test_verdicts_count_in_their_tier_and_times_in_each(earlier: Path) -> None:
    same, other = (Baseline(earlier, tier, required=True) for tier in ("standard", "smoke"))
    assert "A.trigger-signal" in same.records
    assert not {"A.scale", "A.broken"} & same.records.keys(), "they have no verdict"
    assert not other.records
    assert other.decided == same.decided == same.records
    entry = same.decided["A.trigger-signal"]
    each = entry.seconds / entry.replicates
    assert other.took["A.trigger-signal"] == Earlier(each, entry.looks)


def test_what_cannot_be_read_is_refused_if_it_is_asked_for(tmp_path: Path) -> None:
    missing, damaged = tmp_path / "none.json", tmp_path / "damaged.json"
    damaged.write_text("{")
    for path, says in ((missing, "none.json: no such file"), (damaged, "not a JSON record")):
        with pytest.raises(ValueError, match=f"--baseline: .*{says}"):
            Baseline(path, "standard", required=True)
        unasked = Baseline(path, "standard", required=False)
        assert (unasked.records, unasked.decided, unasked.took) == ({}, {}, {})
