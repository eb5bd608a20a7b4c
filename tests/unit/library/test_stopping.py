"""Cells stop one by one, decisions are final, and every bound has the right level."""

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recall_claims as rc
from recall_claims.evidence.cost import Costs, Earlier
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.looks import Decision, decide
from recall_claims.evidence.run import Outcome
from recall_claims.judge.methods import STUDENT, Array, Method
from recall_claims.judge.rules import Rule, Sample
from recall_claims.model.region import Component, Interval, Verdict
from recall_claims.plugin.forecast import Baseline, Forecast
from tests.unit.library.made import ALPHA, SMOKE, declared, outcome_of


@declared(
    "T.rates",
    rc.grid(percent=(50, 62)),
    replicates=(32, 2048),
    rule=rc.ProportionDifference(rc.Region(-0.2, 0.2)),
    predict=lambda cell: 0.5,
    controls=(rc.Control("high", "0.9", predict=lambda cell: 0.9),),
)
def rates(cell: rc.Cell, block: rc.Block) -> Array:
    """A rate is within 0.2 of one half."""
    return np.array([float(rng.random() < cell["percent"] / 100) for rng in block.rngs])


def replicates(outcome: Outcome) -> dict[str, int]:
    return {sample.cell.id: sample.replicates for sample in outcome.evidence}


def test_a_cell_that_is_decided_draws_no_more(ledger: Ledger) -> None:
    outcome = outcome_of(rates, ledger)
    assert outcome.decision.verdict is Verdict.SUPPORTED
    drawn = replicates(outcome)
    assert drawn["percent=50"] < drawn["percent=62"]
    assert outcome.replicates == sum(drawn.values())
    assert outcome.blocks == outcome.replicates / 32
    kept = ledger.ask("SELECT cell, block FROM blocks ORDER BY block")
    assert len(kept) == outcome.blocks
    for cell, count in drawn.items():
        assert [block for name, block in kept if name == cell] == list(range(count // 32))


def test_blocks_may_be_smaller_than_the_first_look(ledger: Ledger) -> None:
    small = replace(rates, block={"smoke": 8})
    outcome = outcome_of(small, ledger)
    sizes = {32 * n for n in rates.rule.looks_in_blocks(7)}
    assert sizes.issuperset(replicates(outcome).values())
    assert outcome.blocks == outcome.replicates / 8
    assert small.steps("smoke") == tuple(4 * n for n in rates.steps("smoke"))


def test_a_forecast_counts_blocks_of_the_declared_size() -> None:
    costs = Costs(lambda: None, "cpu", {"T.rates": Earlier(0.1, looks=1)})
    forecast = Forecast(costs, SMOKE, Baseline(Path("none"), "smoke", required=False))
    small = replace(rates, block={"smoke": 8})
    assert forecast.blocks(small) == {cell: 4 * n for cell, n in forecast.blocks(rates).items()}
    seconds = [forecast.seconds(one, forecast.blocks(one)) for one in (small, rates)]
    assert seconds[0] == pytest.approx(seconds[1])


def test_an_exact_rule_looks_often_and_pays_nothing_for_it() -> None:
    exact, fixed = rc.ProportionDifference(rc.Region(-0.1, 0.1)), rc.MeanRatio(rc.Region(0.9, 1.1))
    assert exact.looks_in_blocks(6)[-4:] == (24, 27, 30, 32)
    assert (exact.alpha_of_look(ALPHA, 6), fixed.alpha_of_look(ALPHA, 6)) == (ALPHA, ALPHA / 6)


def test_a_standing_control_draws_only_where_it_is_nearest_to_refutation(ledger: Ledger) -> None:
    def wrong(cell: rc.Cell) -> float:
        return 0.5 if cell["percent"] == 50 else 1.0

    standing = replace(rates, controls=(rc.Control("half", "wrong in one cell", predict=wrong),))
    standing = replace(standing, rule=rc.ProportionDifference(rc.Region(-0.25, 0.25)))
    outcome = outcome_of(standing, ledger)
    assert outcome.decision.verdict is Verdict.SUPPORTED
    drawn = replicates(outcome)
    assert drawn["percent=62"] > drawn["percent=50"]
    inside = part("a", 0.95, 1.05)
    farther, nearer = part("b", 0.9, 1.1), part("c", 0.9, 1.2)
    assert Decision((inside,), {"off": (farther, nearer)}).open_cells == {"c"}


def part(name: str, low: float, high: float) -> Component:
    middle, found = (low + high) / 2, Interval(low, high)
    return Component(name, middle, found, rc.Region(0.9, 1.1), "ratio", open_cells=(name,))


@dataclass(frozen=True)
class Scripted(Rule):
    """Rule that returns scripted components, one per call."""

    script: list[tuple[Component, ...]] = field(default_factory=list)
    method: Method = STUDENT
    scale = "ratio"
    estimand = ""

    def components(self, *args: object) -> tuple[Component, ...]:
        return self.script.pop(0)


def test_what_was_decided_stays_so() -> None:
    """A decided component keeps its verdict, and a refuted control its refutation."""
    inside, wide = part("a", 0.95, 1.05), part("a", 0.8, 1.05)
    open_, closed = part("b", 0.5, 1.5), part("b", 0.95, 1.05)
    wrong = part("a", 1.2, 1.3)
    controls = (
        rc.Control("early", "refuted at once", rule=Scripted([(wrong,), (inside,)])),
        rc.Control("late", "refuted then", rule=Scripted([(inside,), (wrong,)])),
    )
    rule = Scripted([(inside, open_), (wide, closed)])
    scripted = replace(rates, rule=rule, controls=controls)
    first = decide(scripted, (), ALPHA)
    assert first.verdict is Verdict.INCONCLUSIVE
    assert first.open_cells == {"b"}
    second = decide(scripted, (), ALPHA, first)
    assert second.verdict is Verdict.SUPPORTED
    assert second.components == (inside, closed)
    assert second.controls == {"early": (wrong,), "late": (wrong,)}


def test_a_bet_that_was_won_at_any_look_is_won_for_good() -> None:
    """Edges may be rejected at different looks, because the level holds at all looks together."""
    low, high = part("a", 0.95, 1.2), part("a", 0.8, 1.05)
    beyond = part("a", 1.15, 1.3), part("a", 1.07, 1.2)  # of a control: the first refutes it

    def second(method: Method) -> Decision:
        rule = Scripted([(low,), (high,)], method)
        wrong = rc.Control("off", "refuted", rule=Scripted([(one,) for one in beyond], method))
        right = rc.Control("on", "stands", rule=Scripted([(low,), (high,)], method))
        scripted = replace(rates, rule=rule, controls=(wrong, right))
        return decide(scripted, (), ALPHA, decide(scripted, (), ALPHA))

    bets = second(rc.Betting())
    assert bets.components[0].bounds == Interval(0.95, 1.05)
    assert bets.on_region is Verdict.SUPPORTED
    assert bets.controls["off"] == (beyond[0],)
    assert bets.controls["on"][0].bounds == Interval(0.95, 1.05)
    assert second(rc.Student()).on_region is Verdict.INCONCLUSIVE
    assert second(rc.Deterministic()).components == (high,)
    # A decided component stays decided; later looks only narrow its interval.
    rule = Scripted([(part("a", 0.92, 1.08),)], rc.Betting())
    first = decide(replace(rates, rule=rule, controls=()), (), ALPHA)
    for later, told in ((high, Interval(0.92, 1.05)), (part("a", 2.0, 3.0), Interval(0.92, 1.08))):
        rule = Scripted([(later,)], rc.Betting())
        [found] = decide(replace(rates, rule=rule, controls=()), (), ALPHA, first).components
        assert (found.verdict, found.interval) == (Verdict.SUPPORTED, told)


def test_support_takes_every_component_and_refutation_one() -> None:
    inside, out = part("a", 0.95, 1.05), part("b", 1.2, 1.3)
    wide = part("c", 0.5, 1.5)

    def verdict(*parts: Component) -> Verdict:
        return decide(replace(rates, rule=Scripted([parts]), controls=()), (), ALPHA).verdict

    assert verdict(inside) is Verdict.SUPPORTED
    assert verdict(inside, wide) is Verdict.INCONCLUSIVE
    assert verdict(inside, wide, out) is Verdict.REFUTED


@dataclass(frozen=True)
class Levels(Method):
    """Method that records the requested levels."""

    asked: list[float] = field(default_factory=list)
    exact = False
    guarantee = ""

    def bounds(self, values: Array, alpha: float) -> Interval:
        self.asked.append(alpha)
        return rc.Student().bounds(values, alpha)


def samples(*names: str) -> list[Sample]:
    rng = np.random.default_rng(0)
    found = [rc.Cell(dim=2**i, width=3 ** (i % 2)) for i in range(3)]
    return [Sample(cell, {name: rng.lognormal(0, 0.1, 50) for name in names}) for cell in found]


@pytest.mark.parametrize(
    ("rule", "components"),
    [
        (lambda m: rc.MeanRatio(rc.Region(0.9, 1.1), method=m), 3),
        (lambda m: rc.MeanRatio(rc.Region(0.9, 1.1), by=(), method=m), 1),
        (lambda m: rc.MeanDifference(rc.Region(-0.1, 0.1), method=m), 3),
        (lambda m: rc.OneSided(upper=2.0, method=m), 3),
        (lambda m: rc.OneSided(upper=2.0, by=(), method=m), 1),
        (lambda m: rc.Ordering("value", "other", method=m), 3),
        (lambda m: rc.Exponents({"dim": 0.0, "width": 0.0}, 0.5, method=m), 2),
    ],
)
def test_bounds_are_simultaneous_for_refutation_and_single_for_support(
    rule: object, components: int
) -> None:
    method = Levels()
    made: Rule = rule(method)  # type: ignore[operator]
    found = made.components(samples("value", "other"), lambda _: 1.0, ALPHA)
    assert len(found) == components
    assert set(method.asked) == {ALPHA, ALPHA / (2 * components)}
    for each in found:
        assert each.one_sided is not None
        assert each.interval.low < each.one_sided.low < each.one_sided.high < each.interval.high


def test_a_winner_is_shown_at_alpha_over_points_and_refuted_by_any_rival() -> None:
    method = Levels()
    rule = rc.WinnerShare(rc.Region(0.9, 1.0), method=method)
    rule.components(samples("first", "second", "third"), lambda _: "first", ALPHA)
    assert set(method.asked) <= {ALPHA / 3, ALPHA / 6}
    assert ALPHA / 6 in method.asked


@pytest.mark.parametrize("error", [1e-11, -1e-11])
def test_an_identity_sees_a_single_error_of_either_sign(error: float) -> None:
    errors = np.array([error, *[0.0] * 99])  # their mean is below the tolerance
    [found] = rc.Identity(1e-12).components(
        [Sample(rc.Cell(dim=2), {"error": errors})], None, ALPHA
    )
    assert found.verdict is Verdict.REFUTED
    assert found.estimate == abs(error)


def test_a_tie_has_no_winner() -> None:
    tied = Sample(rc.Cell(dim=2), {"first": np.ones(4), "second": np.ones(4)})
    rule = rc.WinnerShare(rc.Region(0.9, 1.0), method=rc.Deterministic())
    [found] = rule.components([tied], lambda _: "first", ALPHA)
    assert (found.interval, found.open_cells) == (Interval(0.0, 1.0), ("dim=2",))


def test_exponents_are_those_of_a_jackknife() -> None:
    """For two cells a factor of 2 apart, the exponent is log2 of the ratio of their means."""
    one, two = np.random.default_rng(6).lognormal(0, 0.1, (2, 12))

    def exponent(kept: np.ndarray[Any, Any]) -> float:
        return math.log2(two[kept].mean() / one[kept].mean())

    every = np.arange(12)
    pseudo = [12 * exponent(every) - 11 * exponent(np.delete(every, i)) for i in every]
    evidence = [Sample(rc.Cell(dim=dim), {"value": x}) for dim, x in ((1, one), (2, two))]
    [found] = rc.Exponents({"dim": 0.0}, 0.5).components(evidence, None, ALPHA)
    assert found.estimate == pytest.approx(np.mean(pseudo))
    assert found.bounds.low == pytest.approx(rc.Student().bounds(np.array(pseudo), ALPHA).low)


def test_groups_average_as_many_replicates_as_all_their_cells_have() -> None:
    long, short = np.linspace(0, 2, 101), np.linspace(0.5, 1.5, 51)
    evidence = [Sample(rc.Cell(dim=dim), {"value": x}) for dim, x in ((2, long), (4, short))]
    [found] = rc.MeanRatio(rc.Region(0.5, 1.5), by=()).components(evidence, lambda _: 1.0, ALPHA)
    assert found.estimate == pytest.approx((long[:51].mean() + short.mean()) / 2)
