"""A system clock that jumps back while a run is on: durations come from another clock."""

import itertools
import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.faults.conftest import Suite


def test_a_clock_that_jumps_back_gives_sensible_times(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write("one", pause=0.01)
    begun, hours = datetime.now(UTC), itertools.count(1)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3600 * next(hours))

    suite.run()
    report = suite.report()["suite"]
    assert 0.01 < report["seconds"] <= report["wall_seconds"] < 300
    assert abs(datetime.fromisoformat(report["started"]) - begun) < timedelta(minutes=5)
