"""Curves and backgrounds of plots, as the theory predicts them.

Curves go through the cells, bend with the formula, and end where the formula's regime ends. Tiles
of a map have the predicted names, although the prediction is not computed for every tile.
"""

import math
from dataclasses import replace
from typing import Any

import pytest

import recall_claims as rc
from recall_claims import lines, tiles
from recall_reports.record import CellRow
from recall_reports.record.values import Line, Tiles
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


def test_a_prediction_that_a_logarithmic_axis_cannot_show_is_left_out() -> None:
    plot = rc.Plot(x="x", log="xy", y_label="items")
    assert drawn(lambda c: c["x"] - 8.0, rc.grid(x=(4, 16, 64)), plot) == []


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


SIZES = rc.grid(x=(50, 100, 200))


@pytest.mark.parametrize(
    ("predict", "cells", "plot"),
    [
        (sigmoid, SIZES, replace(CURVE, dear=True)),
        (crossed, SIZES, CURVE),
        (crossed, rc.grid(x=(40, 120)), CURVE),
        (sigmoid, tuple(rc.Cell(x=x, n=n) for x, n in ((50, 1), (100, 3), (200, 2))), CURVE),
        (sigmoid, SIZES[:1], CURVE),
        (sigmoid, SIZES[:1] + rc.grid(x=100, n=1), CURVE),
    ],
    ids=[
        "dear",
        "breaks down",
        "breaks down in the middle",
        "no path",
        "one cell",
        "another parameter",
    ],
)
def test_there_is_no_curve(predict: Any, cells: tuple[rc.Cell, ...], plot: rc.Plot) -> None:
    assert drawn(predict, cells, plot) == []


def test_a_curve_ends_where_the_regime_does() -> None:
    line, _ = drawn(sigmoid, SIZES, CURVE, regime=rc.Regime("", {"x": range(50, 210)}))
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


MAP = rc.Plot("map", x="length", group=("samples",))


def winner(cell: rc.Cell) -> str:
    if cell["length"] ** 2 > cell["dim"] * cell["samples"]:
        return "context"
    return "few" if cell["samples"] < 20 else "trigger"


def planes(predict: Any, cells: tuple[rc.Cell, ...], plot: rc.Plot = MAP) -> list[Tiles]:
    return tiles.tiles(replace(made.mean_claim, predict=predict, plot=plot), cells)


CELLS = (
    *rc.grid(length=(4, 256), samples=(8, 4096), dim=8, width=1),
    *rc.grid(length=16, samples=(16, 64, 256), dim=64, width=2),
    *rc.grid(length=16, samples=(16, 64), dim=128, width=3),
)


def test_every_tile_has_the_predicted_name_and_most_are_not_asked_for() -> None:
    asked = []

    def counted(cell: rc.Cell) -> str:
        asked.append(cell)
        return winner(cell)

    first, second = planes(counted, CELLS)
    assert first.params == {"dim": 8}, "which has the most cells; the width changes nothing"
    assert second.params == {"dim": 64}
    assert first.xs[0] < 4 < 256 < first.xs[-1]
    wrong = count = 0
    for j, row in enumerate(first.rows):
        for i, index in enumerate(row):
            x, y = ((one[k] * one[k + 1]) ** 0.5 for one, k in ((first.xs, i), (first.ys, j)))
            found = winner(rc.Cell(length=round(x), samples=round(y), dim=8))
            wrong += first.names[int(index)] != found
            count += 1
    assert wrong <= 0.02 * count
    assert len(asked) < count


@pytest.mark.parametrize(
    ("predict", "cells", "plot"),
    [
        (lambda cell: 1.0, CELLS, MAP),
        (winner, CELLS, rc.Plot(x="length", y_label="share")),
        (winner, tuple(cell.replace(samples="many") for cell in CELLS), MAP),
        (winner, CELLS[:2], MAP),
        (winner, (*CELLS, CELLS[0].replace(depth=2)), MAP),
    ],
    ids=["no name", "no map", "no number", "few cells", "other parameters"],
)
def test_what_has_no_plane_has_no_tiles(
    predict: Any, cells: tuple[rc.Cell, ...], plot: rc.Plot
) -> None:
    assert planes(predict, cells, plot) == []


def test_only_ten_names_have_tiles() -> None:
    xs = [float(x) for x in range(1, 14)]
    found = tiles.plane(
        lambda c: f"{c['x']:02.0f}", rc.Cell(x=1.0, y=1.0), {"x": xs, "y": [1.0, 2.0]}, []
    )
    assert found.names == [f"{x:02}" for x in range(1, 11)]
    assert found.rows == ["0123456789..."] * 2


def test_places_where_the_formula_breaks_down_stay_empty() -> None:
    def broken(cell: rc.Cell) -> str:
        if cell["length"] > 100:
            raise ValueError("too long")
        return winner(cell)

    found = planes(broken, CELLS)[0]
    assert {row[-1] for row in found.rows} == {"."}


def test_the_record_holds_the_curves_and_tiles_of_todays_formulas() -> None:
    rows = {claim.id: claim for claim in _record("reports/baseline.json").claims}
    for name in ("F.muon-loss", "A.dominant-term-map", "B.flow-order"):
        row, claim = rows[name], imported()[name]
        cells = [rc.Cell(**cell.params) for cell in row.cells]
        assert row.plot is not None
        curves = [line for line in row.plot.line if not line.control]
        assert curves == lines.lines(claim, {}, cells, row.cells)
        assert row.plot.tiles == tiles.tiles(claim, cells)
        assert bool(row.plot.tiles) != bool(curves)
