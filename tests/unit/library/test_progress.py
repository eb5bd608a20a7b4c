"""The live line: claims done of all, and the time left."""

import io
import re

import pytest
from rich.console import Console

from recall_claims.plugin.progress import ProgressLine


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=100, force_terminal=True)


def left(line: ProgressLine) -> float | None:
    return line._progress.tasks[0].time_remaining


def pace(line: ProgressLine, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let this much time have passed since the line was made."""
    start = line._progress.get_time()
    monkeypatch.setattr(line._progress, "get_time", lambda: start + seconds)


def test_pace_of_this_run_scales_the_seconds_of_the_earlier_one(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ProgressLine(console, ["a", "b", "c"], {"a": 10, "b": 20, "other": 1000})
    assert left(line) is None
    pace(line, monkeypatch, 40.0)
    line.finish("a", 1.0)
    assert left(line) == pytest.approx(4 * (20 + 15), abs=1)  # c is unknown: a mean one


def test_evidence_from_the_ledger_says_nothing_about_the_pace(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ProgressLine(console, ["a", "b", "c", "d"], {})
    line.finish("a", 0.0)
    assert left(line) is None
    pace(line, monkeypatch, 50.0)
    line.finish("b", 0.5)
    assert left(line) == pytest.approx(200, abs=1)


def test_line(console: Console) -> None:
    line = ProgressLine(console, ["a", "b"], {"a": 60, "b": 600})
    line("a", 1, 4, 3, 8)
    line.finish("a", 1.0)
    line("b", 2, 4, 9, 16)
    line.finish("b", 0.0)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    printed = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert "0 of 2 claims, left -:--:-- a, look 1 of 4, 3/8 blocks" in printed
    assert "1 of 2 claims, left 0:00:0" in printed
    assert "b, look 2 of 4, 9/16 blocks" in printed
    line.close()
