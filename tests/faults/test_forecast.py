"""A dry run says what each claim would take; no clock misleads a run."""

import itertools
import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.faults.conftest import Suite

REPORT = "reports/latest/report.json"


def row(text: str, claim: str) -> list[str]:
    [found] = [line.split() for line in text.splitlines() if line.startswith(claim)]
    return found


def test_a_dry_run_tells_the_plan_and_simulates_nothing(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    suite.write("one", "two", pause=0.05)
    plan = suite.run("--dry-run").text
    assert row(plan, "tiny.one")[1:] == ["3", "16-512", "0", "96", "–"]
    assert "2 of 2 claims would run in tier standard on cpu" in plan
    assert "plus 2 claims whose time is unknown." in " ".join(plan.split())
    ours = plan.partition("claims: tier")[2].partition("warnings summary")[0]
    assert max(len(line) for line in ours.splitlines() if not line.startswith("rootdir")) <= 80
    needed = int(row(suite.run("--dry-run=pilot").text, "tiny.one")[6])
    assert not (suite.folder / ".recall-claims").exists()
    assert not (suite.folder / "reports").exists()

    suite.run("-k", "one", "--report-dir", "reports/latest")
    [claim] = suite.report()["claims"]
    blocks, took = claim["blocks"]["total"], claim["seconds"]
    assert row(suite.run("--dry-run").text, "tiny.one")[3:] == [str(blocks), "0", "0"]
    told = suite.run("--dry-run=pilot", "--baseline", REPORT, "--seed", "1", "--ledger", "new")
    cells = row(told.text, "tiny.one")
    assert cells[3:5] == ["0", str(blocks)], "as many as decided it before"
    assert abs(int(cells[5]) - took) < 1
    assert 16 < int(cells[6]) <= 512
    assert 1 / 4 < needed / int(cells[6]) < 4


def test_a_clock_that_jumps_back_gives_sensible_times(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Durations and time limits come from another clock."""
    suite.write("one", pause=0.01)
    begun, hours = datetime.now(UTC), itertools.count(1)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3600 * next(hours))

    suite.run("--time-limit", "1h")
    report = suite.report()["suite"]
    assert 0.01 < report["seconds"] <= report["wall_seconds"] < 300
    assert abs(datetime.fromisoformat(report["started"]) - begun) < timedelta(minutes=5)
