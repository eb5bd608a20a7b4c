"""Claims, rules, regions and regimes that make no sense, and the message that each gives."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import recall_claims as rc
from recall_claims.evidence.precheck import check
from recall_claims.judge.rules import Exponents, Rule, WinnerShare
from recall_claims.model.budget import Budget
from recall_claims.model.errors import ClaimError, told
from recall_claims.model.predictions import Prediction
from recall_claims.model.region import judge
from tests.unit.library.made import CELLS, declared, mean, mean_claim

FIRST = "smoke grid: its prediction at length=4"


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"controls": ()}, "no control"),
        ({"controls": (rc.Control("c", "changes nothing"),)}, "changes neither"),
        ({"source": rc.Source("A", "A99", provenance="derived", reference="")}, "A99"),
        ({"statement": ""}, "no statement"),
        ({"regime_text": ""}, "no regime"),
        ({"why": ""}, "no why="),
        ({"cells": {"smoke": ()}}, "no cells"),
        ({"cells": {}}, "no cells in any tier"),
        ({"cells": {"smok": CELLS}}, "unknown tier"),
        ({"cells": {"smoke": (*CELLS, *CELLS)}}, "a cell stands twice"),
        ({"replicates": {"smoke": (1, 8)}}, "at least 2"),
        ({"replicates": {"smoke": (16, 8)}}, "16 at the first look and 8 at the last"),
        ({"replicates": {"smoke": (16, 48)}}, "doubled some times"),
        ({"block": {"smoke": 6}}, "does not divide"),
        ({"rule": rc.OneSided(upper=math.inf)}, "without any end"),
        ({"rule": rc.Ordering("a", "b", margin=math.nan)}, "must be numbers"),
        ({"rule": rc.Identity(math.nan)}, "must be numbers"),
        ({"rule": Exponents({}, 0.1)}, "at least one exponent"),
        ({"rule": Exponents({"length": 1.0}, {"lenght": 0.1})}, r"is for \['lenght'\], and"),
        ({"rule": Exponents({"length": 1.0}, -0.1)}, "numbers in order"),
        (
            {
                "rule": Exponents({"length": 1.0}, 0.1, reference="prediction"),
                "predict": lambda cell: cell["length"] - 4.0,
            },
            "needs positive predictions, not 0",
        ),
        ({"rule": rc.Limit(rc.Region(0.9, 1.1), "length", order=0)}, "a positive order=, not 0"),
        (
            {
                "rule": WinnerShare(rc.Region(0.9, 1.0)),
                "predict": lambda cell: "value",
                "controls": (rc.reads("c", "", "other"),),
            },
            "control c: WinnerShare has no observable=",
        ),
        (
            {"rule": Exponents({"length": 1.0}, 0.1), "controls": (rc.power("c", lenght=1),)},
            "no exponent of lenght",
        ),
        (
            {
                "rule": rc.Several({"a": rc.Law(0.1)}),
                "predict": lambda cell: {"a": stats.norm.cdf},
                "controls": (rc.times(2),),
            },
            "control times-2 in the smoke grid: the prediction at length=4 is a law",
        ),
        ({"predict": None}, "give predict="),
        ({"predict": lambda cell: float("nan")}, "not a finite number"),
        ({"rule": Exponents({"dim": 1.0}, 0.1)}, "positive dim"),
        ({"rule": WinnerShare(rc.Region(0.9, 1.0))}, "names an observable"),
        (
            {"predict": lambda cell: float(cell["lenght"])},
            rf"{FIRST}: KeyError: the cell has no parameter 'lenght', only length \(tests/",
        ),
        ({"predict": lambda cell: [2.0]}, f"{FIRST} is a list, not a number"),
        ({"predict": lambda cell: np.array([2.0])}, f"{FIRST} is a ndarray, not a number"),
        ({"predict": lambda cell: None}, f"{FIRST} is a NoneType, not a number"),
        ({"predict": lambda cell: 1 / 0}, f"{FIRST}: ZeroDivisionError: division by zero"),
        ({"regime": rc.Regime("small", {"length": rc.log_range(1, 4)})}, "length=8 is out"),
        ({"regime": rc.Regime("small", {"dim": (4, 8)})}, "it has no range for length"),
        (
            {"regime": rc.Regime("", {"length": (4, 8)}, holds=lambda cell: cell["length"] < 8)},
            "excludes cell length=8: its condition does not hold there",
        ),
        (
            {"regime": rc.Regime("", {"length": (4, 8)}), "size": lambda cell: cell["length"] ** 7},
            "smoke cell length=8 costs more than a search",
        ),
        ({"controls": (rc.at("c", lenght=8),)}, "control c in the smoke grid: it predicts what"),
        ({"controls": (rc.power("c", lenght=1),)}, "control c in the smoke grid: .* only length"),
    ],
)
def test_a_claim_written_wrongly_is_refused(changes: dict[str, object], match: str) -> None:
    check(mean_claim)
    check(replace(mean_claim, predict=lambda cell: np.float32(2)))
    check(replace(mean_claim, predict=lambda cell: Fraction(2)))
    wrong: rc.Claim = replace(mean_claim, **changes)  # type: ignore[arg-type]
    with pytest.raises(ClaimError, match=match):
        check(wrong)


def predicting(rule: Rule, value: object) -> None:
    rule.check(rc.grid(size=(2, 4)), lambda _: value)


NEAR = rc.Region(0.9, 1.1)
LOCATION = rc.CriticalLocation(NEAR, scan="pairs")
NAMES = {
    **globals(),
    "inf": math.inf,
    "nan": math.nan,
    "norm": stats.norm,
    "judge": judge,
    "Budget": Budget,
    "Prediction": Prediction,
    "declared": declared,
    "mean": mean,
}
REFUSED = (
    ("rc.Region(1.0, 1.0)", "region"),
    ("rc.Region(2.0, 1.0)", "region"),
    ("rc.Region(nan, 1.0)", "region"),
    ("rc.Region(-inf, inf)", "region"),
    ("judge([])", "no component"),
    ("rc.Cell(a=2**63)", "a has more than 64 bits"),
    ("rc.grid(a=())", "no values"),
    ("rc.grid()", "at least one"),
    ("rc.log_range(0.0, 1)", "two positive ends in order"),
    ("rc.log_range(8, 8)", "two positive ends in order"),
    ("rc.Regime('nothing', {})", "at least one parameter"),
    ("rc.Regime('empty', {'dim': ()}).ranges", "no values for dim"),
    *((f"Budget({share})", "error budget") for share in (0.0, -1.0, 0.7, "nan")),
    ("rc.Betting(0.0, inf)", "two finite ends"),
    *(
        (f"rc.Student().bounds({size} * np.array([1.0, 2.0, 4.0]), 0.05)", "other units")
        for size in (1e-170, 1e-115, 1e103, 1e160)  # their squares or cubes are no doubles
    ),
    ("rc.Quantile(NEAR, 1.0)", "level of a quantile"),
    ("rc.Functional(NEAR, formula='a +')", "is no formula"),
    ("rc.Functional(NEAR, formula='sqrt(2)')", "is no formula of observables"),
    ("check(declared('T.block', block=0)(mean))", "block=0 does not divide"),
    ("Prediction('theory', 'law', '', '', 'derived', len).region({})", "not state one error"),
    ("rc.prediction(latex='', source='', error='five%')", "error='five%': give a difference such"),
    ("rc.Several({'a': rc.Quantile(NEAR), 'b': rc.Law(0.1)})", "share a scale"),
    ("rc.OneSided(upper=1.0, lower=0.0)", "exactly one"),
    ("predicting(rc.Quantile(NEAR), 0.0)", "not positive"),
    ("predicting(rc.Law(0.1), 1.0)", "no distribution function"),
    ("predicting(rc.Law(1.5), norm.cdf)", "distance of laws"),
    ("predicting(rc.Limit(NEAR, 'size'), 0.0)", "one limit, not zero"),
    ("predicting(rc.MeanDifference(NEAR), norm.cdf)", "not a finite number"),
    ("LOCATION.check(rc.grid(pairs=10), lambda _: 10.0)", "single test size"),
    ("LOCATION.check(rc.grid(pairs='ab'), lambda _: 10.0)", "no positive number pairs"),
    ("rc.Limit(NEAR, 'size').check(rc.grid(size=4), len)", "or a limit takes two"),
    ("LOCATION.decidable(rc.grid(pairs=(50, 100, 200)), lambda _: 100.0)", "in the region"),
    (
        "replace(LOCATION, target='level').check(rc.grid(pairs=(16, 25), level=2.0), lambda _: 20)",
        r"success rate in \(0, 1\), got 2",
    ),
    ("rc.CriticalExponents({'dim': 1.0}, 0.1).alone(rc.Cell(dim=2), None)", "several series"),
    (
        "rc.claim('T.law', '', cells=CELLS, replicates=2, rule='MeanRatio')",
        "takes a rule such as .*, not 'Me",
    ),
)


@pytest.mark.parametrize(("call", "says"), REFUSED)
def test_what_makes_no_sense_is_refused(call: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        eval(call, NAMES)


def test_the_line_of_an_error_is_the_authors_and_not_the_librarys() -> None:
    with pytest.raises(ClaimError) as caught:
        rc.Betting(1.0, 0.0)
    assert "test_refusals.py, line" in told(caught.value)
