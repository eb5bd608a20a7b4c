"""Every benchmark runs at tiny sizes; the promises of some are kept or not as figures say."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.apart import run_pytest
from tests.benchmarks import (
    __main__,
    collection,
    growth,
    pages,
    recall,
    samples,
    scaling,
    three_steps,
)
from tests.benchmarks.table import Row, Section, as_markdown, factor
from tests.reports import chromium

TINY = (64, 128, 4, 8)


@pytest.mark.usefixtures("here")
def test_sections_at_tiny_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = three_steps.section("cpu", 1, promised={TINY: 0.0}, large=(TINY,))
    assert found.rows[-1].against == "one V x V matrix"
    assert found.kept
    assert not three_steps.section("cpu", 1, promised={TINY: 1e9}, large=()).kept
    assert len(recall.section("cpu", 1, sizes=((64, 8),), product=(64, 8)).rows) == 4
    assert recall.language_model("cpu", 1, (64, 8)).kept
    monkeypatch.setattr(chromium, "NAMES", ())
    assert "MB" in pages.section(counts=(4,)).rows[0].ours


def test_recall_notices_a_wrong_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "tiled", lambda u, memory, values: recall.dense(u, memory, u))
    with pytest.raises(AssertionError, match="differ"):
        recall.speed((64, 8), "cpu")


def test_growth_is_that_beyond_the_smallest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    assert growth.exponent((1, 10, 100), (5 + 1, 5 + 10, 5 + 100)) == pytest.approx(1)
    assert growth.exponent((0, 10, 100), (5, 5 + 10**2, 5 + 100**2)) == pytest.approx(2)
    sizes = {"cells": (1, 4, 16), "generators": (4, 8, 16), "blocks": (2, 4, 8)}
    monkeypatch.setattr(growth, "SIZES", {**sizes, "controls": (1, 2, 4), "replicates": (8, 16)})
    rows = growth.section(16, ()).rows
    assert [row.case for row in rows] == ["blocks", "generators", "cells", "controls"]
    assert all("peak" in row.ours or "kept" in row.ours for row in rows)


def test_the_engine_decides_rightly_in_every_world() -> None:
    rows = samples.section(runs=2).rows
    assert [row.against for row in rows] == ["t interval", *["t interval", "Hoeffding"] * 3]
    assert all("(1.00, 1.00)" in row.ours for row in rows)


@pytest.mark.parametrize("method", ["t interval", "Hoeffding"])
@pytest.mark.parametrize("world", samples.WORLDS[1:3], ids=lambda world: world.name)
def test_plans_have_the_power(world: samples.World, method: str) -> None:
    runs, rng, alpha = 400, np.random.default_rng(0), 0.01
    count, shares = world.planned(method, alpha), []
    for off, level in zip(world.offs, (alpha, alpha / 2), strict=True):
        errors = np.stack([world.draw(rng, count, off) for _ in range(runs)]).mean(1) - world.mean
        half = world.half_width(method, level) / count**0.5
        supported = np.abs(errors) + half < world.margin
        shares.append(np.mean(supported if off == 0 else np.abs(errors) - half > world.margin))
    low, high = stats.binom.interval(0.998, runs, samples.POWER)
    assert low / runs <= min(shares) <= high / runs


def test_processor_time_is_that_of_a_process_that_ends_well(tmp_path: Path) -> None:
    idle = collection.seconds(("-c", "import time; time.sleep(1)"), str(tmp_path))
    work = "import time\nwhile time.process_time() < 1: pass"
    busy = collection.seconds(("-c", work), str(tmp_path))
    assert idle < 0.5 < busy  # half of the second: the system counts children in ticks
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        collection.seconds(("-c", "1 / 0"), str(tmp_path))


@pytest.mark.thorough
def test_a_run_is_replayed(tmp_path: Path) -> None:
    file, ledger = "claims/factual/test_task.py", tmp_path / "ledger"
    kept = ("--ledger", str(ledger), "--report-dir", str(tmp_path), "--executor", "serial")
    done = run_pytest(scaling.ROOT, ("-p", "no:cacheprovider", file, *kept), os.environ)
    assert done.status == 0, done.text
    wall, host, blocks, path = scaling.replayed(ledger, 4, 0.1, [file])
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
    sections = [Section("pages", (row,), "Least."), Section("recall", (), "", kept=kept)]
    monkeypatch.setattr(__main__, "PARTS", {s.name: lambda _, s=s: s for s in sections})
    assert __main__.main(["pages", "recall"]) == int(not kept)
    printed = capsys.readouterr().out
    assert as_markdown(sections) in printed
    assert "| pages | of one | 1 s | another | 2 s | 2 |" in printed
    assert "- **pages**: Least." in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["speed"], "no benchmark speed; there"),
        (["hunt", "--planted", "typo"], "error typo; there"),
    ],
)
def test_an_unknown_name_is_said(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        __main__.main(arguments)
    assert says in capsys.readouterr().err
