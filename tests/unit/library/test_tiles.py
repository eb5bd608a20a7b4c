"""Backgrounds of maps: each tile has the predicted name, although few are predicted."""

from dataclasses import replace
from typing import Any

import pytest

import recall_claims as rc
from recall_claims import tiles
from recall_reports.record.values import Tiles
from tests.every_claim import imported
from tests.figures import _record
from tests.unit.library import made

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
    ],
    ids=["no name", "no map", "no number", "few cells"],
)
def test_what_has_no_plane_has_no_tiles(
    predict: Any, cells: tuple[rc.Cell, ...], plot: rc.Plot
) -> None:
    assert planes(predict, cells, plot) == []


def test_places_where_the_formula_breaks_down_stay_empty() -> None:
    def broken(cell: rc.Cell) -> str:
        if cell["length"] > 100:
            raise ValueError("too long")
        return winner(cell)

    found = planes(broken, CELLS)[0]
    assert {row[-1] for row in found.rows} == {"."}


def test_the_record_has_the_tiles_that_todays_formulas_give() -> None:
    rows = {claim.id: claim for claim in _record("reports/baseline.json").claims}
    for name in ("A.dominant-term-map", "B.flow-order"):
        plot = rows[name].plot
        assert plot is not None
        cells = [rc.Cell(**cell.params) for cell in rows[name].cells]
        assert plot.tiles == tiles.tiles(imported()[name], cells)
        assert plot.tiles
