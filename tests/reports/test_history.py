"""One page of many records: what changed of each claim; drifts are in `golden/words.txt`."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from recall_reports.__main__ import main
from recall_reports.compare import history
from recall_reports.files import dump
from recall_reports.record import Record
from tests.reports import builders, sample


def at(started: str, estimate: float, half: float = 0.01, region: float = 0.05) -> Record:
    """A record with one claim, whose interval is that around an estimate."""
    claim, whole = sample.all_tokens(), sample.record()
    claim.components = [builders.component("all", estimate, half, (1 - region, 1 + region))]
    return replace(whole, suite=replace(whole.suite, started=started), claims=[claim])


def note(*records: Record) -> str:
    [course] = history.courses(records)
    assert len(course.entries) == len(records)
    return course.note


DAYS = [f"2026-01-0{day}T00:00:00+00:00" for day in range(1, 6)]


def test_a_changed_region_and_a_changed_verdict_are_told() -> None:
    one, other = at(DAYS[0], 1.0), at(DAYS[1], 1.0)
    assert note(one, at(DAYS[1], 1.0, region=0.1)) == "region changed"
    other.claims[0].verdict = "REFUTED"
    assert note(one, other) == "verdict changed: SUPPORTED, REFUTED"


def test_records_of_a_folder_are_one_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day, name in zip(DAYS, ("b/report", "a", "c"), strict=False):
        record = at(day, 1.0)
        record.suite.commit = f"<{name}>"
        dump(record, tmp_path / f"{name}.json")
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "spoilt.json").write_text('{"schema": "recall-claims/0"}')
    page = tmp_path / "history.html"
    assert main(["history", str(tmp_path), "--to", str(page)]) == 0
    assert "left out:" in capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    assert "None of 1 claims changed over 3 records" in text
    places = [text.index(f"&lt;{name}&gt;") for name in ("b/report", "a", "c")]
    assert places == sorted(places)
    assert main(["history", str(tmp_path / "nowhere")]) == 2
    assert "no record in it" in capsys.readouterr().err
