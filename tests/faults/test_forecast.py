"""A run says how long it will take, a dry run says it claim by claim; no clock misleads them."""

import itertools
import json
import re
import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.faults.conftest import Suite

REPORT = "reports/latest/report.json"
WHOLE = "simulation is expected to take about "


def row(text: str, claim: str) -> list[str]:
    [found] = [line.split() for line in text.splitlines() if line.startswith(claim)]
    return found


def test_a_run_says_at_its_start_how_long_it_will_take(suite: Suite) -> None:
    suite.write("one", "two", pause=0.05)
    first = suite.run()
    assert WHOLE not in first.text, "nobody knows"
    took = sum(claim["seconds"] for claim in suite.report()["claims"])

    again = suite.run("--baseline", REPORT, "--seed", "1")
    [line] = [line for line in again.text.splitlines() if line.startswith(WHOLE)]
    said = float(line.removeprefix(WHOLE).split()[0])
    assert abs(said - took) < 0.2 * took + 0.1
    assert "by report.json" in line

    there = suite.run("--baseline", REPORT, "--seed", "1", "-q")
    assert WHOLE not in there.text
    known = suite.run("--baseline", REPORT, "--seed", "1")
    assert f"{WHOLE}0.0 s here" in known.text, "the ledger has it"


@pytest.mark.thorough
def test_workers_share_what_is_left(suite: Suite) -> None:
    suite.write("one", "two", pause=0.05)
    suite.run("--ledger", "other.sqlite")
    took = sum(claim["seconds"] for claim in suite.report()["claims"])
    said = suite.run_apart("-n", "2", "--baseline", REPORT).text.split(WHOLE)[1]
    assert abs(float(said.split()[0]) - took / 2) < 0.1 * took + 0.1
    assert "of one core" in said


def test_a_machine_that_turns_out_to_be_another_is_told(suite: Suite) -> None:
    suite.write("one", "two", pause=0.1)
    suite.run("--ledger", "other.sqlite")
    # The baseline says that each of them takes a thousand times as long.
    report = suite.report()
    for claim in report["claims"]:
        claim["seconds"] *= 1000
    (suite.folder / "earlier.json").write_text(json.dumps(report), encoding="utf-8")

    told = suite.run("--baseline", "earlier.json").text

    [factor] = re.findall(r"the blocks so far took (\S+) times as long as expected: about", told)
    assert 0 < float(factor) < 0.1


def test_a_dry_run_tells_the_plan_seconds_here_and_what_is_left(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    suite.write("one", pause=0.05)
    plan = suite.run("--dry-run")
    assert row(plan.text, "tiny.one")[2] == "16-512"
    assert row(plan.text, "tiny.one")[5:8] == ["–", "–", "–"]
    said = " ".join(plan.text.split())
    assert "1 of 1 claim would run in tier" in said
    assert "The time of 1 claim is unknown." in said
    ours = plan.text.partition("claims: tier")[2].partition("warnings summary")[0]
    assert max(len(line) for line in ours.splitlines() if not line.startswith("rootdir")) <= 80
    assert row(plan.text, "tiny.one")[3] == "–"
    needed = int(row(suite.run("--dry-run", "--pilot").text, "tiny.one")[3])
    assert not (suite.folder / ".recall-claims").exists()
    assert not (suite.folder / "reports").exists()

    suite.run()
    claim = suite.claims()["tiny.one"]
    took = claim["seconds"]
    told = suite.run("--dry-run", "--baseline", REPORT).text
    assert f"{claim['resolution']:.2g} ratio" in told
    first, last = map(int, row(told, "tiny.one")[2].split("-"))
    assert first < int(row(told, "tiny.one")[3]) <= last
    assert 1 / 4 < needed / int(row(told, "tiny.one")[3]) < 4
    assert "no record" not in told
    seconds, left, most = map(int, row(told, "tiny.one")[5:8])
    assert abs(seconds - took) < 1
    assert left == 0
    assert most > seconds
    assert "is extrapolated from the claim's other cells" in " ".join(told.split())
    assert row(suite.run("--dry-run").text, "tiny.one")[6] == "0", "decided earlier than expected"

    fresh = suite.run("--dry-run", "--baseline", REPORT, "--seed", "1", "--tier", "full").text
    assert abs(int(row(fresh, "tiny.one")[6]) - took) < 1


def test_a_clock_that_jumps_back_gives_sensible_times(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Durations come from another clock."""
    suite.write("one", pause=0.01)
    begun, hours = datetime.now(UTC), itertools.count(1)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3600 * next(hours))

    suite.run()
    report = suite.report()["suite"]
    assert 0.01 < report["seconds"] <= report["wall_seconds"] < 300
    assert abs(datetime.fromisoformat(report["started"]) - begun) < timedelta(minutes=5)
