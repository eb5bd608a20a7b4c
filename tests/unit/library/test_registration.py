"""Registrations: which edits draw fresh evidence, and which do not."""

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import recall_claims as rc
from recall_claims.declare.claim import Tier
from recall_claims.declare.registration import registration
from recall_claims.model.errors import ClaimError
from tests.apart import run
from tests.unit.library.made import CELLS, declared, mean


def predict(cell: rc.Cell) -> float:
    return 7.25 / cell.number("length")


WRONG = rc.Control("constant", "does not fall", predict=lambda cell: 1.0)


registered = declared(
    "T.registered",
    {"smoke": CELLS, "standard": rc.grid(length=(4, 8, 16))},
    replicates={"smoke": (16, 64), "standard": (32, 512)},
    predict=predict,
    controls=(WRONG, rc.times(1.5)),
)(mean)


def off_by(factor: float) -> Callable[[rc.Cell], float]:
    return lambda cell: factor * predict(cell)


def of(tier: Tier = "smoke", **changes: Any) -> str:
    return registration(replace(registered, **changes), tier)


@dataclass(frozen=True)
class Tried(rc.MeanRatio):
    """A rule with a field of any type."""

    extra: Any = None


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "T.other"},
        {"rule": rc.MeanRatio(rc.Region(0.9, 1.1000002))},
        {"rule": rc.MeanRatio(rc.Region(0.9, 1.1), by="length")},
        {"rule": rc.MeanRatio(rc.Region(0.9, 1.1), observable="other")},
        {"rule": Tried(rc.Region(0.9, 1.1))},
        {"cells": {"smoke": rc.grid(length=(4, 9))}},
        {"cells": {"smoke": CELLS[:1]}},
        {"cells": {"smoke": CELLS[::-1]}},
        {"replicates": {"smoke": (17, 68)}},
        {"replicates": {"smoke": (16, 128)}},
        {"block": {"smoke": 8}},
        {"dtype": "float32"},
        {"refuted": "it is false"},
        {"predict": off_by(1.0002)},
        {"predict": None, "controls": (WRONG,)},
        {"controls": (WRONG,)},
        {"controls": (WRONG, rc.times(1.5), rc.times(2.0))},
        {"controls": (WRONG, rc.times(1.51, "times-1.5"))},
        {"controls": (WRONG, rc.times(1.5, "another-id"))},
        {"controls": (replace(WRONG, rule=rc.MeanRatio(rc.Region(0.9, 1.2))), rc.times(1.5))},
    ],
    ids=",".join,
)
def test_an_edit_of_the_declaration_registers_anew(changes: dict[str, Any]) -> None:
    assert of(**changes) != of()


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "In other words"},
        {"statement": "The theorem, reworded."},
        {"latex": "x", "why": "y", "regime": "z"},
        {"plot": rc.Plot(x="length")},
        {"source": rc.Source("A", "A9", provenance="stated", reference="elsewhere")},
        {"predict": off_by(1 + 1e-7)},
        {"rule": rc.MeanRatio(rc.Region(0.9 * (1 + 1e-12), 1.1))},
        {"controls": (rc.times(1.5, description="reworded"), WRONG)},
        {"cells": {"smoke": CELLS, "standard": CELLS}},
        {"replicates": {"smoke": (16, 64), "standard": (32, 8192)}},
        {"module": "elsewhere"},
    ],
    ids=",".join,
)
def test_what_no_verdict_depends_on_does_not(changes: dict[str, Any]) -> None:
    assert of(**changes) == of()


def test_tiers_are_registered_apart() -> None:
    tiers = ("smoke", "standard")
    same = {"cells": dict.fromkeys(tiers, CELLS), "replicates": dict.fromkeys(tiers, (4, 32))}
    assert of("smoke", **same) != of("standard", **same)


def test_round_predictions_sit_on_no_tie() -> None:
    """0.12345 and its neighbours in floating point are one prediction."""

    def at(value: float) -> str:
        return of(predict=lambda cell: value, controls=())

    for value in (0.12345, 0.12355, 125450.0, -0.00012345):
        assert at(value) == at(np.nextafter(value, 1)) == at(np.nextafter(value, -1))
    assert at(0.0) == at(-0.0)


def of_law(law: Callable[[Any], Any], within: float = 0.05) -> str:
    return of(rule=rc.Law(within), predict=lambda cell: law, controls=())


NARROW = stats.norm(1.3, 0.03)
SPIKE = stats.norm(0.0, 1e-7)
LAWS: dict[str, Callable[[Any], Any]] = {
    "narrow": NARROW.cdf,
    "wide": stats.cauchy(1e6, 1e5).cdf,
    "heads": lambda x: stats.binom(49, 0.5).cdf(49 * x),
    "point": lambda x: 1.0 * (x >= 0.3),
    "spike": lambda x: (SPIKE.cdf(x) + stats.norm.cdf(x)) / 2,
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_law_is_registered_at_its_own_quantiles(law: Callable[[Any], Any]) -> None:
    def scaled(by: float) -> str:
        return of_law(lambda x: law(x / by))

    assert of_law(law) not in map(scaled, (0.5, 0.999, 1.001, 1.1, 2.0))
    assert of_law(law) == of_law(lambda x: law(x * (1 + 3e-16)) * (1 + 2e-16))
    assert of_law(law) == of_law(lambda x: law(x) + 1e-14 * np.sin(1e5 * x))


def test_an_edit_of_a_law_that_its_region_would_notice_registers_anew() -> None:
    """A change of the law by a tenth of the distance that the region allows counts as an edit."""
    for within in (0.3, 0.05, 0.01):
        aside = within / 10
        for at in (-3.0, 1.2, 1.3, 1.4, 50.0):
            changed = partial(lambda x, at, by: (1 - by) * NARROW.cdf(x) + by * (x >= at), at=at)
            moved = partial(changed, by=aside)
            assert of_law(moved, within) != of_law(NARROW.cdf, within)
            assert of_law(partial(changed, by=1e-9 * aside), within) == of_law(NARROW.cdf, within)


def test_rounding_errors_in_the_tail_of_a_law_do_not_count() -> None:
    """Processors differ in the last bits of an integral, and so in a tail that should be 0."""

    def law(left: float, at_zero: float = 0.25) -> str:
        return of_law(lambda x: np.select([x < 0, x >= 1], [left, 1 - left], at_zero), 0.1)

    assert law(1e-14) == law(-3e-14) == law(0.0) != law(0.0, 0.255)


def test_labels_are_registered_as_they_are() -> None:
    def named(*labels: str) -> str:
        rule = rc.WinnerShare(rc.Region(0.9, 1.0))
        return of(rule=rule, controls=(), predict=lambda cell: labels[cell["length"] > 4])

    assert named("mean", "noise") == named("mean", "noise") != named("mean", "mean")


def test_fields_of_every_kind_count() -> None:
    def having(extra: object) -> str:
        return of(rule=Tried(rc.Region(0.9, 1.1), extra=extra))

    plain = [None, True, "1", 1, 1.5, (1, 2), ("a",), 2**60, 2**60 + 1]
    mappings: list[object] = [{"a": 1}, {"a": 2}, {"b": 1}, {1: {"a": (1, 2)}}, rc.Cell(a=1)]
    values = [*plain, *mappings, rc.Region(0, 1), rc.Region(0, 2), rc.MeanRatio(rc.Region(0, 1))]
    assert len({having(value) for value in values}) == len(values)
    assert having(1) == having(1.0) == having(np.float64(1)) == having(np.int64(1))
    assert having([1, 2]) == having((1, 2))
    assert having({"a": 1, "b": 2}) == having({"b": 2, "a": 1})
    assert having({"a", "b", "c"}) == having({"c", "b", "a"})
    for refused in (predict, {"a": (1, predict)}, rc.Region, object()):
        with pytest.raises(ClaimError, match=r"extra of the rule of claim T\.registered is a"):
            having(refused)


def test_what_a_rule_of_ones_own_does_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the rule could be edited until the existing evidence gives the wanted verdict."""
    monkeypatch.syspath_prepend(tmp_path)

    def having(margin: str) -> str:
        file = tmp_path / f"rule_{len(list(tmp_path.iterdir()))}.py"
        file.write_text(
            "from recall_claims import MeanRatio, Region\n\n"
            f"class Own(MeanRatio):\n    def margin(self):\n        return {margin}\n"
        )
        rule = importlib.import_module(file.stem).Own(rc.Region(0.9, 1.1))
        return of(rule=rule, controls=())

    assert having("0.1") == having("0.1  # a comment") != having("0.2")
    nowhere = type("Nowhere", (rc.MeanRatio,), {"__module__": "nowhere"})
    with pytest.raises(ClaimError, match="whose text cannot be read"):
        of(rule=nowhere(rc.Region(0.9, 1.1)))


def test_another_process_agrees() -> None:
    code = (
        "import claims.papers; from tests.unit.library import test_registration as t; print(t.of())"
    )
    other = {"PYTHONHASHSEED": str(1 + (os.environ.get("PYTHONHASHSEED") == "1"))}
    done = run(Path.cwd(), sys.executable, "-c", code, environment={**os.environ, **other})
    assert done.text.split() == [of()]
    assert len(of()) == 16
