"""What a claim was fixed to be: which edits draw fresh evidence, and which do not."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import recall_claims as rc
from recall_claims.declare.registration import registration
from recall_claims.errors import ClaimError
from recall_claims.judge.rules import Rule

CELLS = rc.grid(length=(4, 8))
SCALE = {"dim": 1.0, "length": -2.0}


def predict(cell: rc.Cell) -> float:
    return 7.25 / cell.number("length")


@rc.claim(
    "T.registered",
    "A mean falls with the length",
    source=rc.Source("A", "A3", provenance="derived", reference="nowhere"),
    regime="everywhere",
    cells={"smoke": CELLS, "standard": rc.grid(length=(4, 8, 16))},
    replicates={"smoke": 16, "standard": 32},
    looks={"smoke": 3, "standard": 5},
    rule=rc.MeanRatio(rc.Region(0.9, 1.1)),
    why="for the test",
    predict=predict,
    controls=(rc.Control("constant", "does not fall", predict=lambda cell: 1.0), rc.times(1.5)),
)
def registered(cell: rc.Cell, block: rc.Block) -> np.ndarray[Any, Any]:
    """A mean falls."""
    return np.array([rng.normal(predict(cell), 0.1) for rng in block.rngs])


def off_by(factor: float) -> Callable[[rc.Cell], float]:
    return lambda cell: factor * predict(cell)


def of_the_claim() -> str:
    return registration(registered, "smoke")


WRONG = rc.Control("constant", "does not fall", predict=lambda cell: 1.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "T.other"},
        {"rule": rc.MeanRatio(rc.Region(0.9, 1.11))},
        {"rule": rc.MeanRatio(rc.Region(0.9, 1.1000002))},
        {"rule": rc.MeanRatio(rc.Region(0.9, 1.1), by="length")},
        {"rule": rc.MeanRatio(rc.Region(0.9, 1.1), observable="other")},
        {"cells": {"smoke": rc.grid(length=(4, 9))}},
        {"cells": {"smoke": CELLS[:1]}},
        {"cells": {"smoke": CELLS[::-1]}},
        {"replicates": {"smoke": 17}},
        {"looks": {"smoke": 4}},
        {"block": {"smoke": 8}},
        {"dtype": "float32"},
        {"expected": "REFUTED"},
        {"predict": off_by(1.0002)},
        {"predict": off_by(0.99)},
        {"predict": None, "controls": (WRONG,)},
        {"controls": (WRONG,)},
        {"controls": (WRONG, rc.times(1.5), rc.times(2.0))},
        {"controls": (WRONG, rc.times(1.51, "times-1.5"))},
        {"controls": (WRONG, rc.times(1.5, "another-id"))},
        {"controls": (replace(WRONG, rule=rc.MeanRatio(rc.Region(0.9, 1.2))), rc.times(1.5))},
    ],
    ids=lambda changes: ",".join(f"{name}" for name in changes),
)
def test_an_edit_of_the_declaration_registers_anew(changes: dict[str, Any]) -> None:
    assert registration(replace(registered, **changes), "smoke") != of_the_claim()


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "In other words"},
        {"statement": "The theorem, reworded."},
        {"latex": "x", "why": "y", "regime": "z", "explanation": "e"},
        {"plot": rc.Plot(x="length")},
        {"source": rc.Source("A", "A9", provenance="stated", reference="elsewhere")},
        {"predict": off_by(1 + 1e-7)},
        {"predict": off_by(1 - 1e-7)},
        {"rule": rc.MeanRatio(rc.Region(0.9 * (1 + 1e-12), 1.1))},
        {"controls": (rc.times(1.5, description="reworded"), WRONG)},
        {"cells": {"smoke": CELLS, "standard": CELLS}},
        {"looks": {"smoke": 3, "standard": 9}},
        {"module": "elsewhere"},
    ],
    ids=lambda changes: ",".join(f"{name}" for name in changes),
)
def test_what_no_verdict_depends_on_does_not(changes: dict[str, Any]) -> None:
    assert registration(replace(registered, **changes), "smoke") == of_the_claim()


def test_tiers_are_registered_apart() -> None:
    same = replace(
        registered,
        cells={"smoke": CELLS, "standard": CELLS},
        replicates={"smoke": 4, "standard": 4},
        looks={"smoke": 3, "standard": 3},
    )
    assert registration(same, "smoke") != registration(same, "standard")


def test_the_order_of_a_mapping_does_not_count() -> None:
    def of(exponents: Mapping[str, float]) -> str:
        return registration(replace(registered, rule=rc.Exponents(exponents, 0.1)), "smoke")

    assert of(SCALE) == of(dict(reversed(SCALE.items())))
    assert of(SCALE) != of({**SCALE, "dim": 1.5})


def test_round_predictions_sit_on_no_tie() -> None:
    """0.12345 and its neighbours in floating point are one prediction."""

    def of(value: float) -> str:
        return registration(replace(registered, predict=lambda cell: value, controls=()), "smoke")

    for value in (0.12345, 0.12355, 125450.0, -0.00012345):
        assert of(value) == of(np.nextafter(value, 1)) == of(np.nextafter(value, -1))
    assert of(0.0) == of(-0.0)


def test_labels_are_registered_as_they_are() -> None:
    def of(names: Mapping[int, str]) -> str:
        label = replace(registered, rule=rc.WinnerShare(rc.Region(0.9, 1.0)), controls=())
        return registration(replace(label, predict=lambda cell: names[cell["length"]]), "smoke")

    assert of({4: "mean", 8: "noise"}) == of({4: "mean", 8: "noise"})
    assert of({4: "mean", 8: "noise"}) != of({4: "mean", 8: "mean"})


@dataclass(frozen=True)
class Tried(rc.MeanRatio):
    """A rule with a field of any kind."""

    extra: Any = None


def test_fields_of_every_kind_count() -> None:
    def of(extra: object) -> str:
        return registration(
            replace(registered, rule=Tried(rc.Region(0.9, 1.1), extra=extra)), "smoke"
        )

    plain = [None, True, "1", 1, 1.5, (1, 2), ("a",), 2**60, 2**60 + 1]
    mappings: list[object] = [{"a": 1}, {"a": 2}, {"b": 1}, {1: {"a": (1, 2)}}, rc.Cell(a=1)]
    values = [*plain, *mappings, rc.Region(0, 1), rc.Region(0, 2), rc.MeanRatio(rc.Region(0, 1))]
    assert len({of(value) for value in values}) == len(values)
    assert of(1) == of(1.0) == of(np.float64(1)) == of(np.int64(1))
    assert of([1, 2]) == of((1, 2))
    assert of({"a", "b", "c"}) == of({"c", "b", "a"})
    for refused in (predict, {"a": (1, predict)}, rc.Region, object()):
        with pytest.raises(ClaimError, match=r"extra of the rule of claim T\.registered is a"):
            of(refused)


def test_rules_of_other_types_are_other_rules() -> None:
    def of(rule: Rule) -> str:
        return registration(replace(registered, rule=rule, controls=()), "smoke")

    assert of(Tried(rc.Region(0.9, 1.1))) != of(rc.MeanRatio(rc.Region(0.9, 1.1)))


def test_another_process_agrees() -> None:
    code = (
        "from tests.unit.library.test_registration import registration, registered; "
        "print(registration(registered, 'smoke'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import claims.papers; {code}"],
        env={**os.environ, "PYTHONHASHSEED": str(1 + (os.environ.get("PYTHONHASHSEED") == "1"))},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [of_the_claim()]
    assert len(of_the_claim()) == 16
