"""Tests of stated errors: their trial, their text in docstrings, and that each is stated once."""

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import recall_claims as rc
from recall_claims.model.errors import ClaimError
from recall_claims.model.predictions import Prediction, error_of, predictions, registered
from tests.calibration import stated_errors
from tests.calibration.stated import UNTRIED, Check, checks
from tests.mutation import mutants

CHECKS = {check.name: check for check in checks()}
CHEAP = CHECKS["`memory.linear.half_dim` by `B.linear-threshold`"]
SHARE = CHECKS["`memory.linear.one_bit_accuracy` by `B.one-bit-accuracy`"]


def every() -> tuple[Prediction, ...]:
    mutants.modules()  # each registers its predictions
    return tuple(entry for entry in predictions() if entry.module.startswith("theory."))


def row(check: Check, points: int = 3) -> str:
    return stated_errors.row(check, seed=1001, points=points)


@pytest.mark.parametrize("entry", every(), ids=lambda entry: f"{entry.module}.{entry.name}")
def test_docstring_says_the_stated_error(entry: Prediction) -> None:
    told = entry.function.__doc__ or ""
    assert "{error}" not in told
    for error in entry.errors:
        exact = not callable(error.size) and error.size <= error_of("exact").at({})
        assert ("xact" if exact else str(error)) in " ".join(told.split())


def test_every_stated_error_is_tried_and_every_other_prediction_says_why_not() -> None:
    names = {f"{entry.module}.{entry.name}": bool(entry.errors) for entry in every()}
    tried = {f"{check.entry.module}.{check.entry.name}" for check in CHECKS.values()}
    assert tried == {name for name, stated in names.items() if stated}
    assert {f"theory.{name}" for name in UNTRIED} == names.keys() - tried


def test_checks_fit_into_the_slots_of_the_level_and_have_names_of_their_own() -> None:
    """A check that draws nothing at random, so that its interval is a point, takes no slot."""
    page = stated_errors.PAGE.read_text(encoding="utf-8")
    certain = re.findall(r" \[([^,\]]+), \1\] ", page)
    assert len(list(checks())) == len(CHECKS) <= stated_errors.SLOTS + len(certain)


def test_an_error_that_is_changed_changes_docstring_check_and_default_region() -> None:
    for size in (0.05, 0.2):
        stated = rc.prediction(latex="", source="", error=size, regime=ANY)

        def law(dim: int) -> float:
            """Stated error: {error}."""
            return 0.5

        law.__name__ = law.__qualname__ = f"law_{size}"
        predict = rc.on(stated(law))
        judged = rc.claim("coin", "", predict=predict, cells=(), replicates=1, rule=SHARES)(flip)
        assert law.__doc__ == f"Stated error: {size}."
        assert judged.rule == rc.ProportionDifference(rc.Region(-size, size))
        assert judged.regime is ANY
        entry = registered(law)
        assert entry is not None
        rule = Check(entry, judged).at(rc.Cell(dim=8)).rule
        assert isinstance(rule, rc.ProportionDifference)
        assert rule.region == rc.Region(-size, size)


def test_a_rule_without_region_needs_a_single_stated_error() -> None:
    half = partial(rc.claim, "none", "", cells=(), replicates=1, rule=rc.MeanRatio)
    with pytest.raises(ClaimError, match="claim none: its rule has no region"):
        half()
    several = ((0.1, "below 8", lambda cell: cell["dim"] < 8), (0.2, "above"))

    @rc.prediction(latex="", source="", error=several)
    def uneven(dim: int) -> float:
        """Off by {error}."""
        return float(dim)

    assert uneven.__doc__ == "Off by 0.1 below 8, 0.2 above."
    with pytest.raises(ClaimError, match="uneven does not state one error"):
        half(predict=rc.on(uneven))
    entry = registered(uneven)
    assert entry is not None
    assert [entry.region(rc.Cell(dim=dim)).high for dim in (4, 9)] == [0.1, 0.2]
    assert replace(entry, errors=(error_of("10%"),)).region() == rc.Region(0.9, 1.1)
    for error, rule, told in (
        (0.1, rc.MeanRatio, "0.1, and the rule judges a ratio"),
        ("5%", SHARES, "5%, and the rule judges a probability"),
    ):
        law = rc.prediction(latex="", source="", error=error)(uneven)
        with pytest.raises(ClaimError, match=told):
            half(predict=rc.on(law), rule=rule)


@pytest.mark.parametrize("check", [CHEAP, SHARE], ids=lambda check: check.entry.name)
def test_right_formula_holds_and_a_wrong_one_fails(check: Check) -> None:
    assert "holds" in row(check)
    for factor in (0.85, 1.15):

        def predict(cell: rc.Cell, by: float = factor) -> float:
            return by * float(check.predict(cell))

        assert "FAILS" in row(replace(check, claim=replace(check.claim, predict=predict)))


def test_points_are_the_same_again_lie_in_the_regime_and_differ_by_seed_and_statement() -> None:
    cells = stated_errors.drawn(SHARE, 7, 5)
    assert cells == stated_errors.drawn(SHARE, 7, 5)
    assert cells != stated_errors.drawn(SHARE, 8, 5)
    assert all(SHARE.holds(cell) for cell in cells)
    changed = replace(SHARE, entry=replace(SHARE.entry, errors=(error_of("1%"),)))
    assert cells != stated_errors.drawn(changed, 7, 5)


def test_every_check_finds_points_in_its_regime() -> None:
    for check in CHECKS.values():
        assert len(stated_errors.drawn(check, 1001, 1)) == 1, check.name


def test_points_are_uniform_in_the_logarithm_and_a_regime_without_any_is_refused() -> None:
    logs = np.log2([cell["dim"] for cell in stated_errors.drawn(coin(0.5), 1, 400)])
    assert logs.min() >= 2
    assert logs.max() <= 10
    assert np.quantile(logs, (0.25, 0.5, 0.75)) == pytest.approx([4, 6, 8], abs=0.7)
    nowhere = replace(coin(0.5), entry=replace(coin(0.5).entry, stated_in=ANY.searched(dim=(3,))))
    with pytest.raises(RuntimeError, match=r"by `coin`.*: 0 points"):
        stated_errors.drawn(nowhere, 0, 1)


ANY = rc.Regime("any", {"dim": rc.log_range(4, 1024)})
SHARES = rc.ProportionDifference


@rc.claim(
    "coin",
    "",
    predict=lambda _: 0.5,
    regime=ANY.searched(rate=rc.log_range(0.1, 1)),
    cells=(),
    replicates=400,
    rule=rc.ProportionDifference(rc.Region(-0.1, 0.1)),
)
def coins(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """A coin that succeeds at the cell's rate or, below 100 samples, fails at this rate."""
    rate = cell["rate"] if cell.get("samples", 100) >= 100 else 1 - cell["rate"]
    return torch.tensor([float(rng.random() < rate) for rng in block.rngs])


flip = coins.observe


def coin(rate: float, error: float | str = 0.1, **changes: Any) -> Check:
    """Make a check by a coin whose chance of success is `rate`."""
    entry = Prediction("theory.of", "coins", "", "", "derived", flip, (error_of(error),))
    domain = ANY.searched(rate=(rate,))
    return Check(entry, replace(coins, regime=domain, **changes), f", rate={rate}")


@pytest.mark.parametrize("rate", [0.9, 0.1])
def test_a_critical_value_is_held_to_its_error_at_both_edges(rate: float) -> None:
    rule = rc.CriticalLocation(rc.Region(0.9, 1.1), rising=rate > 0.5)
    for predicted, verdict in ((100.0, "SUPPORTED"), (80.0, "REFUTED"), (120.0, "REFUTED")):
        check = coin(rate, "10%", rule=rule, predict=lambda _, critical=predicted: critical)
        [cell] = stated_errors.drawn(check, 1001, 1)
        assert stated_errors.judged(check, cell, 1001).found.verdict == verdict


def test_what_is_exact_fails_where_the_interval_leaves_it_out() -> None:
    assert "holds" in row(coin(0.5, "exact"), 1)
    assert "FAILS" in row(coin(0.65, "exact"), 1)


def test_the_committed_page_is_about_todays_checks() -> None:
    text = stated_errors.PAGE.read_text(encoding="utf-8")
    assert stated_errors.document(stated_errors.rows_in(text).values(), 7) == text
    assert stated_errors.rows_in(text).keys() == CHECKS.keys()
