"""Curves of predictions go through the cells, bend with the formula, and end with its regime."""

import math
from dataclasses import replace
from typing import Any

import pytest

import recall_claims as rc
from recall_claims import lines
from recall_reports.record import CellRow
from recall_reports.record.values import Line
from tests.every_claim import imported, lowest
from tests.figures import _record
from tests.unit.library import made


def drawn(predict: Any, cells: tuple[rc.Cell, ...], plot: rc.Plot, **more: Any) -> list[Line]:
    claim = replace(made.mean_claim, predict=predict, plot=plot, **{"regime": None, **more})
    rows = [CellRow(params=dict(c), predicted=float(predict(c)), replicates=1) for c in cells]
    return lines.lines(claim, {"double": lambda c: 2 * predict(c)}, cells, rows)


def sigmoid(cell: rc.Cell) -> float:
    return 1 / (1 + math.exp(-3 * math.log(cell["x"] / 100)))


CURVE = rc.Plot(x="x", y_label="share")


def test_a_curve_goes_through_its_cells_and_follows_the_bends() -> None:
    cells = rc.grid(x=(50, 100, 200), n=(1, 2))
    right, other, wrong = drawn(sigmoid, cells, CURVE)
    assert (right.params, other.params) == ({"n": 1}, {"n": 2})
    assert {50, 100, 200} <= set(right.xs)
    assert right.xs == sorted(right.xs)
    assert len(right.xs) > 8
    for at in (60, 80, 130, 170):
        index = next(i for i, x in enumerate(right.xs) if x > at)
        (x0, x1), (y0, y1) = right.xs[index - 1 : index + 1], right.ys[index - 1 : index + 1]
        share = math.log(at / x0) / math.log(x1 / x0)
        assert (1 - share) * y0 + share * y1 == pytest.approx(sigmoid(rc.Cell(x=at)), abs=0.005)
    assert (wrong.control, wrong.xs) == ("double", right.xs)
    assert wrong.ys == pytest.approx([2 * y for y in right.ys], rel=1e-5)


def test_a_power_law_on_logarithmic_axes_needs_few_points() -> None:
    plot = rc.Plot(x="x", log="xy", y_label="items")
    line, _ = drawn(lambda c: c["x"] ** 1.5, rc.grid(x=(16, 256)), plot)
    assert len(line.xs) == 3


def test_whole_numbers_stay_whole_and_what_changes_along_changes_between() -> None:
    cells = tuple(rc.Cell(x=x, items=16 * x) for x in (32, 64, 128))
    seen = []

    def items(cell: rc.Cell) -> float:
        seen.append(cell)
        return float(cell["items"])

    assert drawn(items, cells, CURVE)
    assert all(type(c["x"]) is type(c["items"]) is int for c in seen)
    assert all(abs(c["items"] / (16 * c["x"]) - 1) < 0.02 for c in seen)


def crossed(cell: rc.Cell) -> float:
    if 60 < cell["x"] < 90:
        raise ValueError("no such size")
    return sigmoid(cell)


CELLS = rc.grid(x=(50, 100, 200))


@pytest.mark.parametrize(
    ("predict", "cells", "plot"),
    [
        (sigmoid, CELLS, replace(CURVE, dear=True)),
        (crossed, CELLS, CURVE),
        (crossed, rc.grid(x=(40, 120)), CURVE),
        (sigmoid, tuple(rc.Cell(x=x, n=n) for x, n in ((50, 1), (100, 3), (200, 2))), CURVE),
        (sigmoid, CELLS[:1], CURVE),
    ],
    ids=["dear", "breaks down", "breaks down in the middle", "no path", "one cell"],
)
def test_there_is_no_curve(predict: Any, cells: tuple[rc.Cell, ...], plot: rc.Plot) -> None:
    assert drawn(predict, cells, plot) == []


def test_a_curve_ends_where_the_regime_does() -> None:
    line, _ = drawn(sigmoid, CELLS, CURVE, regime=rc.Regime("", {"x": range(50, 210)}))
    assert line.xs[0] == 50
    assert 200 <= line.xs[-1] <= 209


def test_a_curve_crosses_its_target_in_the_region_of_its_claim() -> None:
    found = []
    for claim in imported().values():
        rule, curve, predict = claim.rule, claim.curve, claim.predict
        if curve is None or predict is None or not isinstance(rule, rc.CriticalLocation):
            continue
        assert isinstance(rule.target, float)
        cell = lowest(claim)[0]
        ends = [float(predict(cell)) * end for end in (rule.region.low, rule.region.high)]
        sizes = [math.floor(ends[0]), math.ceil(ends[1])]
        low, high = (float(curve(cell.replace(**{rule.scan: size}))) for size in sizes)
        assert min(low, high) < rule.target < max(low, high), claim.id
        found.append(claim.id)
    assert len(found) >= 25


def test_the_record_holds_the_curves_of_the_code() -> None:
    claim = imported()["F.muon-loss"]
    [row] = [row for row in _record("reports/baseline.json").claims if row.id == claim.id]
    cells = [rc.Cell(**cell.params) for cell in row.cells]
    found = lines.lines(claim, {}, cells, row.cells)
    assert row.plot is not None
    assert found == [line for line in row.plot.line if not line.control]
