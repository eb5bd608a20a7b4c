"""Slips in formulas are made at the named place, and undone; grids notice visible slips."""

import inspect
from types import FunctionType

from tests.every_claim import imported
from tests.mutation.formulas import Judge, slips
from theory.memory import perceptron

SIZES = frozenset({"patterns", "dim"})


def chance(patterns: int, dim: int) -> float:
    """A formula with two sizes and a sum of three terms."""
    return 1 / patterns + dim - 2


def test_each_slip_is_made_once() -> None:
    assert isinstance(chance, FunctionType)
    found = {slip.told: slip for slip in slips(chance, SIZES)}
    values = {}
    for told, slip in found.items():
        with slip.planted():
            values[told] = chance(4, 3)
    line = inspect.getsource(chance).splitlines().index("    return 1 / patterns + dim - 2") + 1
    assert values == {
        "dim and patterns change places": 1 / 3 + 4 - 2,
        f"dim for patterns in line {line}": 1 / 3 + 3 - 2,
        f"patterns for dim in line {line}": 1 / 4 + 4 - 2,
        "without 2": 1 / 4 + 3,
        "without dim": 1 / 4 - 2,
        "without 1 / patterns": 3 - 2,
    }
    assert chance(4, 3) == 1 / 4 + 3 - 2


def test_a_grid_sees_a_slip_that_moves_its_prediction_and_no_other() -> None:
    home = perceptron.__name__
    judge, claim = Judge(frozenset({home})), imported()["G.cover-share"]
    share = inspect.unwrap(perceptron.separable_share)
    assert isinstance(share, FunctionType)
    assert claim in judge.by[share.__code__]
    cells = claim.cells["standard"]
    assert judge.moved(claim, cells) == (0.0, None)
    moved = []
    for slip in slips(share, SIZES):
        with slip.planted():
            moved.append(judge.moved(claim, cells)[0])
    assert max(moved) > 1
    assert judge.moved(claim, cells) == (0.0, None)
    assert judge.moved(claim, judge.points(claim)) == (0.0, None)
