"""Every benchmark runs at tiny sizes; the promises of some are kept or not as figures say."""

import cProfile
import os
from pathlib import Path

import pytest

from tests.apart import run_pytest
from tests.benchmarks import __main__, growth, recall, scaling, three_steps
from tests.benchmarks.table import Row, Section, as_markdown, factor

TINY = (64, 128, 4, 8)


def test_sections_at_tiny_sizes() -> None:
    assert three_steps.section("cpu", promised={TINY: 0.0}).kept
    assert not three_steps.section("cpu", promised={TINY: 1e9}).kept
    assert len(recall.section("cpu", sizes=((64, 8),), product=(64, 8)).rows) == 3
    assert recall.language_model("cpu", (64, 8)).kept


def test_recall_notices_a_wrong_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "tiled", lambda u, memory, values: recall.dense(u, memory, u))
    with pytest.raises(AssertionError, match="differ"):
        recall.speed((64, 8), "cpu")


def test_growth_is_that_beyond_a_fixed_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    for power in (0.5, 1, 2):
        costs = {size: 5 + size**power for size in (1, 10, 100)}
        assert growth.exponent(costs) == pytest.approx(power, abs=0.01)
    sizes = {"cells": (1, 4, 16), "generators": (4, 8, 16), "blocks": (2, 4, 8)}
    sizes |= {"controls": (1, 2, 4), "replicates": (8, 16, 32)}
    monkeypatch.setattr(growth, "SIZES", sizes)
    monkeypatch.setattr(growth, "LONG", 0.0)
    rows = growth.section(claims=()).rows
    assert [row.case for row in rows[2:]] == [*growth.SWEEPS]
    assert all("peak" in row.ours or "kept" in row.ours for row in rows[2:])
    assert [row.case for row in growth.section("cell").rows] == ["cells"]


LINEAR = {
    "blocks": (50, 100, 200),
    "replicates": (2_000, 4_000, 8_000),
    "generators": (100, 200, 400),
    "cells": (20, 40, 80),
    "controls": (25, 50, 100),
}


@pytest.mark.parametrize("name", LINEAR)
def test_calls_and_bytes_are_linear(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of what grows in memory, else calls: those of root searches do not grow."""
    monkeypatch.setattr(growth, "LONG", 0.0)
    counts = dict[int, float]()
    for size in LINEAR[name]:
        growth.SWEEPS[name](size)
        profile = cProfile.Profile()
        cost = profile.runcall(growth.SWEEPS[name], size)
        calls = sum(entry.callcount for entry in profile.getstats())
        counts[size] = cost["peak"] if name in ("replicates", "generators") else calls
    assert growth.exponent(counts) <= growth.MOST


@pytest.mark.thorough
def test_suites_are_judged_and_a_run_is_replayed(tmp_path: Path) -> None:
    found = growth.section("dry", claims=(2, 8))
    assert "8: " in found.rows[0].ours
    file, ledger = "claims/factual/test_task.py", tmp_path / "ledger"
    kept = ("--ledger", str(ledger), "--report-dir", str(tmp_path), "--executor", "serial")
    done = run_pytest(scaling.ROOT, ("-p", "no:cacheprovider", file, *kept), os.environ)
    assert done.status == 0, done.text
    wall, host, blocks, path = scaling.replayed(ledger, 4, 0.5, [file])
    assert 0 < path <= blocks
    assert wall > path
    assert host > 0


def test_factor_has_two_digits() -> None:
    pairs = ((825, 12.7), (1, 3), (9.96, 1), (9.94, 1))
    assert [factor(*pair) for pair in pairs] == ["65", "0.33", "10", "9.9"]


@pytest.mark.parametrize("kept", [True, False])
def test_one_table_and_a_promise_not_kept_is_the_status(
    kept: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Row("of one", "1 s", "another", "2 s", "2")
    sections = [Section("three-steps", (row,), "Least."), Section("recall", (row,), "", kept=kept)]
    monkeypatch.setattr(__main__, "PARTS", {s.name: lambda _, s=s: s for s in sections})
    assert __main__.main(["three-steps", "recall"]) == int(not kept)
    printed = capsys.readouterr().out
    assert as_markdown(sections) in printed
    assert "| three-steps | of one | 1 s | another | 2 s | 2 |" in printed
    assert "- **three-steps**: Least." in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["speed"], "no benchmark speed; there"),
        (["growth", "-k", "rows"], "-k rows: no row of growth is named so"),
        (
            ["scaling", "--ledger", "nowhere"],
            "no ledger nowhere: run `pytest claims/`, or name one",
        ),
        (["hunt", "--planted", "typo"], "error typo; there"),
    ],
)
def test_an_unknown_name_is_said(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        __main__.main(arguments)
    assert says in f"{capsys.readouterr().err}{ended.value}"
