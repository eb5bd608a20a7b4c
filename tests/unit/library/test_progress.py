"""The live line: claims done of all, and a forecast of the time left."""

import io

import pytest
from rich.console import Console

from recall_claims.plugin.forecast import Forecast
from recall_claims.plugin.progress import ProgressLine


def test_pace_of_this_run_scales_the_seconds_of_the_earlier_one() -> None:
    forecast = Forecast(["a", "b", "c"], {"a": 10, "b": 20, "c": 30, "other": 1000})
    forecast.finish("a", seconds=5.0, simulated=1.0, elapsed=40.0)  # four times as slow
    assert forecast.left(40.0) == pytest.approx(4 * (20 + 30))
    assert forecast.left(60.0) == pytest.approx(4 * (20 + 30) - 20)
    assert forecast.left(1000.0) == pytest.approx(4 * 30)  # b is late; c has not begun
    forecast.finish("b", seconds=5.0, simulated=1.0, elapsed=60.0)
    assert forecast.left(60.0) == pytest.approx(2 * 30)
    forecast.finish("c", seconds=5.0, simulated=1.0, elapsed=130.0)
    assert (forecast.done, forecast.left(131.0)) == (3, 0.0)


def test_a_claim_unknown_counts_as_the_mean_of_those_known() -> None:
    forecast = Forecast(["a", "b", "c"], {})
    forecast.finish("a", seconds=10.0, simulated=1.0, elapsed=5.0)
    assert forecast.left(5.0) == pytest.approx(0.5 * (10 + 10))
    forecast.finish("b", seconds=30.0, simulated=1.0, elapsed=20.0)
    assert forecast.left(20.0) == pytest.approx(0.5 * 20)


def test_blocks_from_the_ledger_say_nothing_about_the_pace() -> None:
    forecast = Forecast(["a", "b", "c", "d"], {"a": 100, "b": 100, "c": 100, "d": 100})
    forecast.finish("a", seconds=100.0, simulated=0.0, elapsed=0.1)
    assert forecast.left(0.1) is None
    forecast.finish("b", seconds=100.0, simulated=0.5, elapsed=50.0)
    assert forecast.left(50.0) == pytest.approx(200)


def test_a_broken_claim_is_done_and_tells_nothing() -> None:
    forecast = Forecast(["a", "b"], {})
    forecast.finish("a", seconds=0.0, simulated=0.0, elapsed=9.0)
    assert (forecast.done, forecast.left(9.0)) == (1, None)


def test_line() -> None:
    now = 100.0
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    line = ProgressLine(console, Forecast(["a", "b"], {"a": 60, "b": 600}), clock=lambda: now)
    line("a", 1, 4, 3, 8)
    assert line.standing == "0 of 2 claims"
    now = 130.0
    line.clear()
    line.finish("a", seconds=60.0, simulated=1.0)
    line("b", 2, 4, 9, 16)
    line.clear()
    assert line.standing == "1 of 2 claims, 5 min 00 s left"
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "0 of 2 claims a, look 1 of 4, 3/8 blocks" in printed
    assert "1 of 2 claims, 5 min 00 s left b, look 2 of 4, 9/16 blocks" in printed
