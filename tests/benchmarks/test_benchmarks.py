"""Every benchmark runs at tiny sizes and says what it compares."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.benchmarks import (
    __main__,
    growth,
    operations,
    pages,
    products,
    recall,
    three_steps,
)
from tests.benchmarks.table import HEADINGS, Row, Section, as_markdown, factor
from tests.reports import chromium

TINY = (64, 128, 4, 8)


@pytest.mark.usefixtures("here")
def test_three_steps() -> None:
    found = three_steps.section("cpu", 1, promised={TINY: 0.0}, large=(TINY,))
    assert [row.against for row in found.rows] == [
        "autograd (promised: 0)",
        "autograd",
        "autograd",
        "one V x V matrix",
    ]
    assert found.kept
    assert float(found.rows[0].factor) > 0
    assert not three_steps.section("cpu", 1, promised={TINY: 1e9}, large=()).kept


@pytest.mark.usefixtures("here")
def test_recall() -> None:
    found = recall.section("cpu", 1, sizes=((64, 8),))
    assert [row.case for row in found.rows] == ["V, d = 64, 8: time", "V, d = 64, 8: memory"]


def test_recall_notices_a_wrong_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "tiled", lambda u, memory, values: recall.dense(u, memory, u))
    with pytest.raises(AssertionError, match="differ"):
        recall.speed((64, 8), "cpu")


@pytest.mark.usefixtures("here")
def test_products() -> None:
    found = products.section("cpu", 1, sizes=(64, 8), batch=TINY)
    assert [row.against for row in found.rows] == ["torch.mm", "torch.mm", "autograd"]


@pytest.mark.usefixtures("here")
def test_growth() -> None:
    sweep = replace(operations.RECALL, parameter="V", values=(32, 64, 128), fixed={"d": 8})
    (row,) = operations.section("cpu", 1, sweeps=(sweep,)).rows
    assert row.case == "recall in V = 32 to 128 (d = 8)"
    assert row.ours.startswith("exponent")


def test_exponent_of_a_power_law() -> None:
    found = operations.exponent((1, 2, 4, 8, 16), [3 * v**1.5 * e for v, e in NOISY])
    assert found.low < 1.5 < found.high < 1.6
    assert found.value == pytest.approx(1.5, abs=0.05)


NOISY = ((1, 1.05), (2, 0.95), (4, 1.0), (8, 0.95), (16, 1.05))


@pytest.mark.parametrize("parameter", ["N", "L"])
def test_operations_are_linear_in_long_data(parameter: str) -> None:
    sizes = {"V": 64, "N": 10**6, "L": 10**4, "d": 64}
    double = {**sizes, parameter: 2 * sizes[parameter]}
    assert operations.operations(double) / operations.operations(sizes) == pytest.approx(
        2, rel=1e-3
    )


def test_operations_by_hand() -> None:
    # 16 N L = 2048 < V^2: 12 N L + 3 N L d + 6 V d^2 + 4 V d + N d.
    few = operations.operations({"V": 64, "N": 32, "L": 4, "d": 8})
    assert few == 12 * 128 + 3 * 1024 + 6 * 4096 + 4 * 512 + 256
    # N L = 512 < V^2 <= 16 N L = 8192: 12 N L + N L d + 2 V^2 d + the rest.
    some = operations.operations({"V": 64, "N": 128, "L": 4, "d": 8})
    assert some == 12 * 512 + 4096 + 2 * 32768 + 6 * 4096 + 4 * 512 + 1024
    # V^2 <= N L = 4096: 12 N L + 4 V^2 d + the rest.
    many = operations.operations({"V": 64, "N": 1024, "L": 4, "d": 8})
    assert many == 12 * 4096 + 4 * 32768 + 6 * 4096 + 4 * 512 + 8192


def test_pages_without_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "NAMES", ())
    (row,) = pages.section(counts=(4,)).rows
    assert row.case == "page of 4 claims"
    assert "MB" in row.ours


def test_factor_has_two_digits() -> None:
    assert [factor(*pair) for pair in ((825, 12.7), (1, 3), (9.96, 1), (9.94, 1))] == [
        "65",
        "0.33",
        "10",
        "9.9",
    ]


@pytest.mark.parametrize("kept", [True, False])
def test_one_table_and_a_promise_not_kept_is_the_status(
    kept: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Row("of one", "1 s", "another", "2 s", "2")
    sections = [Section("pages", (row,), "Least."), Section("recall", (), "", kept=kept)]
    pages, recalled = sections
    monkeypatch.setitem(__main__.PARTS, "pages", lambda _: pages)
    monkeypatch.setitem(__main__.PARTS, "recall", lambda _: recalled)
    assert __main__.main(["pages", "recall", "--markdown"]) == int(not kept)
    printed = capsys.readouterr().out
    assert printed.startswith("# Benchmarks")
    assert as_markdown(sections) in printed
    assert f"| {' | '.join(HEADINGS)} |\n|---" in printed
    assert "| pages | of one | 1 s | another | 2 s | 2 |" in printed
    assert "- **pages**: Least." in printed


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        __main__.main(["speed"])
    assert "no benchmark speed; there are three-steps" in capsys.readouterr().err


def test_growth_is_that_beyond_the_smallest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    assert growth.exponent((1, 10, 100), (5 + 1, 5 + 10, 5 + 100)) == pytest.approx(1)
    assert growth.exponent((0, 10, 100), (5, 5 + 10**2, 5 + 100**2)) == pytest.approx(2)
    sizes = {"cells": (1, 4, 16), "generators": (4, 8, 16), "blocks": (2, 4, 8)}
    monkeypatch.setattr(growth, "SIZES", {**sizes, "controls": (1, 2, 4), "replicates": (8, 16)})
    rows = growth.section(16, ()).rows
    assert [row.case for row in rows] == ["blocks", "generators", "cells", "controls"]
    assert all("peak" in row.ours or "kept" in row.ours for row in rows)
