"""Critical values from test sizes: a bracket misses the value no more often than one test errs."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import recall_claims as rc
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.looks import decide
from recall_claims.evidence.run import Prepared, Running
from recall_claims.judge.rules import Rule, Sample
from recall_claims.judge.rules.ladder import Ladder
from recall_claims.model.region import Component, Interval, Verdict, judge
from recall_claims.recording import decided
from tests.unit.library.made import ALPHA, SMOKE, declared, outcome_of


def coins(ones: int, of: int) -> np.ndarray:
    return np.array([1.0] * ones + [0.0] * (of - ones))


def evidence(counts: Sequence[int], of: int, scan: Sequence[int], **more: int) -> list[Sample]:
    return [
        Sample(rc.Cell(pairs=pairs, **more), {"value": coins(ones, of)})
        for ones, pairs in zip(counts, scan, strict=True)
    ]


def falling(counts: Sequence[int], of: int, scan: Sequence[int] = (10, 14, 20)) -> Ladder:
    return Ladder(evidence(counts, of, scan), "pairs", 0.5, "value", rising=False)


RULE = rc.CriticalLocation(rc.Region(0.8, 1.25), scan="pairs", rising=False)
FIVE = (8, 16, 20, 25, 50)


def judged(samples: Sequence[Sample], predicted: float, rule: Rule = RULE) -> Component:
    """Judge one series of test sizes against a predicted crossing."""
    [found] = rule.components(samples, lambda _: predicted, ALPHA)
    return found


def ends(of: Interval | rc.Region) -> tuple[float, float]:
    return of.low, of.high


def test_rungs_count_from_the_outermost_until_the_first_that_fails() -> None:
    assert falling((0, 64, 0), 64).bracket(ALPHA) == Interval(0.0, 20)
    assert falling((64, 64, 0), 64).bracket(ALPHA) == Interval(14, 20)


def test_a_rate_that_is_not_monotone_brackets_nothing() -> None:
    # The rate is above its target at the lower size, and below it at the upper size.
    rising = Ladder(evidence((64, 0), 64, (10, 20)), "pairs", 0.5, "value", rising=True)
    assert rising.bracket(ALPHA) == Interval(0.0, math.inf)


def test_the_estimate_interpolates_in_the_logarithm() -> None:
    found = falling((60, 40, 20), 80, (10, 20, 40)).estimate
    assert found == pytest.approx(20.0)
    assert falling((60, 20), 80, (10, 40)).estimate == pytest.approx(20.0)
    assert math.isnan(falling((60, 50), 80, (10, 40)).estimate)


def test_a_location_is_judged_by_its_edges() -> None:
    few = judged(evidence((80, 60, 40, 20, 0), 80, FIVE), 20.0)
    assert few.verdict is Verdict.INCONCLUSIVE  # 60 of 80 at 16 show nothing at this level
    assert ends(few.bounds) == (0.0, math.inf)
    many = evidence((400, 300, 200, 100, 0), 400, FIVE)
    assert judged(many, 20.0).verdict is Verdict.SUPPORTED
    assert ends(judged(many, 20.0).bounds) == pytest.approx((16 / 20, 25 / 20))
    assert judged(many, 30.0).verdict is Verdict.INCONCLUSIVE
    assert judged(many, 32.0).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("edges", "counts", "verdict"),
    [
        ((84, 85, 116, 117), (400, 400, 0, 0), Verdict.SUPPORTED),
        ((84, 85, 116, 117), (400, 200, 0, 0), Verdict.INCONCLUSIVE),
        # The crossing is between 84 and 85, perhaps below the edge 84.15.
        ((84, 85, 116, 117), (400, 0, 0, 0), Verdict.INCONCLUSIVE),
        ((84, 85, 116, 117), (0, 0, 0, 0), Verdict.REFUTED),
        ((84, 85, 116, 117), (400, 400, 400, 0), Verdict.INCONCLUSIVE),
        ((84, 85, 116, 117), (400, 400, 400, 400), Verdict.REFUTED),
        ((84, 117), (400, 0), Verdict.SUPPORTED),  # a whole edge is both sizes
        ((84, 117), (400, 400), Verdict.REFUTED),
    ],
)
def test_whole_numbers_inside_an_edge_support_and_those_outside_refute(
    edges: tuple[int, ...], counts: tuple[int, ...], verdict: Verdict
) -> None:
    # The region of the test sizes ends at 84.15 and 116.82, or at whole numbers.
    region = rc.Region(84 / 99, 117 / 99) if len(edges) == 2 else rc.Region(0.85, 1.18)
    rule = rc.CriticalLocation(region, scan="pairs", rising=False)
    cells = rule.completed(rc.grid(pairs=(99, 116)), lambda _: 99.0)
    assert {cell["pairs"] for cell in cells} == {99, 116, *edges}
    assert judged(evidence(counts, 400, edges), 99.0, rule).verdict is verdict


def test_another_ladder_gets_the_edges_of_its_region_as_rungs() -> None:
    rule = rc.CriticalLocation(rc.Region(0.7, 1.1), scan="rate", rising=False)
    cells = rc.grid(rate=(0.6, 0.71, 1.09, 1.1 * (1 + 1e-14)))  # rounded, a hair off the edges
    found = rule.completed(cells, lambda _: 1.0)
    assert found == (*cells, rc.Cell(rate=0.7))
    samples = [
        Sample(cell, {"value": coins(ones, 400)})
        for ones, cell in zip((400, 200, 0, 0, 400), found, strict=True)
    ]
    part = judged(samples, 1.0, rule)
    assert part.verdict is Verdict.SUPPORTED
    assert ends(part.bounds) == pytest.approx((0.7, 1.09))


def test_each_ladder_may_have_a_target_of_its_own() -> None:
    rule = rc.CriticalLocation(rc.Region(0.8, 1.25), scan="pairs", target="level", rising=False)
    samples = [
        Sample(rc.Cell(pairs=pairs, level=level), {"value": coins(ones, 400)})
        for level, counts in ((0.5, (300, 100)), (0.9, (390, 320)))
        for pairs, ones in zip((16, 25), counts, strict=True)
    ]
    assert judge(rule.components(samples, lambda _: 20.0, ALPHA)) is Verdict.SUPPORTED
    assert rule.discrepancy(samples, lambda _: 20.0, ALPHA) < 0
    assert judged(samples[2:], 20.0, replace(rule, target=0.9)).verdict is Verdict.SUPPORTED


def test_a_region_is_supported_without_the_rungs_outside_of_it() -> None:
    found = judged(evidence((3, 80, 0, 2), 80, (8, 16, 25, 50)), 20.0)
    assert found.verdict is Verdict.SUPPORTED
    assert not found.open_cells


@declared(
    "T.folded",
    rc.grid(pairs=(8, 16, 22, 25, 50), peak=(100, 24)),
    replicates=(64, 1024),
    rule=rc.CriticalLocation(rc.Region(0.8, 1.25), scan="pairs"),
    predict=lambda cell: 20.0,
    controls=(rc.times(2),),
)
def folded(cell: rc.Cell, block: rc.Block) -> np.ndarray:
    """A rate rises through one half near 20, and falls again beyond its peak."""
    rate = 0.97 if 18 < cell["pairs"] < cell["peak"] else 0.03
    return np.array([float(rng.random() < rate) for rng in block.rngs])


def test_a_rate_that_crosses_its_target_again_has_no_verdict(ledger: Ledger) -> None:
    outcome = outcome_of(folded, ledger)
    assert outcome.decision.verdict is Verdict.INCONCLUSIVE
    reason = decided(outcome, "here").reason
    assert "above its target at pairs=22,peak=24 and below it at pairs=25,peak=24" in reason
    told = decide(folded, tuple(evidence((0, 80, 0, 0), 80, (8, 25, 50, 60), peak=30)), ALPHA)
    assert told.verdict is Verdict.INCONCLUSIVE
    assert replace(RULE, rising=True).doubt(outcome.evidence) == reason
    assert not RULE.doubt(evidence((45, 80, 0, 35), 80, (8, 16, 25, 50)))
    assert "above its target at pairs=16 and below it at pairs=8" in RULE.doubt(
        evidence((3, 80, 0, 35), 80, (8, 16, 25, 50))
    )


def test_rungs_that_cannot_matter_are_not_read() -> None:
    # The crossing is near 20. A rate shown below one half at 25 refutes 60, of region [48, 75]; a
    # rate shown above one half at 16 refutes 10, of region [8, 12.5].
    samples = evidence((80, 60, 40, 20, 0), 80, FIVE)
    for predicted, read in ((20.0, (16, 25)), (60.0, (25,)), (10.0, (16,))):
        assert judged(samples, predicted).open_cells == tuple(f"pairs={pairs}" for pairs in read)


@pytest.mark.parametrize(("ones", "open_"), [(0, ()), (200, ("dim=8,pairs=720",))])
def test_exponents_follow_from_brackets(ones: int, open_: tuple[str, ...]) -> None:
    rule = rc.CriticalExponents({"dim": 2.0}, 0.5, scan="pairs", rising=False)
    samples = evidence((400, 0), 400, (9, 11), dim=1)
    samples += evidence((400, ones), 400, (560, 720), dim=8)
    [found] = rule.components(samples, None, ALPHA)
    assert found.bounds.low == pytest.approx(math.log(560 / 11) / math.log(8))
    high = math.inf if open_ else math.log(720 / 9) / math.log(8)
    assert found.bounds.high == pytest.approx(high)
    assert found.verdict is (Verdict.INCONCLUSIVE if open_ else Verdict.SUPPORTED)
    assert found.open_cells == open_


@declared(
    "T.steep",
    rc.grid(pairs=(5, 16, 20, 25, 80)),
    replicates=(8, 512),
    rule=rc.CriticalLocation(rc.Region(0.8, 1.25), scan="pairs"),
    predict=lambda cell: 20.0,
    controls=(rc.times(1.6), rc.times(0.625)),
)
def steep(cell: rc.Cell, block: rc.Block) -> np.ndarray:
    """A rate rises through one half near 20."""
    rate = 1 / (1 + (20 / cell["pairs"]) ** 9)
    return np.array([float(rng.random() < rate) for rng in block.rngs])


def test_rungs_outside_the_region_are_drawn_where_the_claim_may_be_wrong(ledger: Ledger) -> None:
    def drawn(claim: rc.Claim) -> dict[int, int]:
        evidence = outcome_of(claim, ledger).evidence
        return {s.cell["pairs"]: s.replicates for s in evidence}

    right = outcome_of(steep, ledger)
    begun = Running(Prepared.of(steep, "smoke"), SMOKE, ledger)
    assert begun._cheapest == rc.Cell(pairs=16), "replayed, for it is drawn"
    assert right.decision.verdict is Verdict.SUPPORTED
    assert drawn(steep)[5] == drawn(steep)[80] == 0
    assert min(drawn(steep)[pairs] for pairs in (16, 20, 25)) > 0
    found = decided(right, "here")
    assert [c.observed is None for c in found.cells] == [True, False, False, False, True]
    assert found.cells[0].interval is None
    wrong = replace(steep, predict=lambda cell: 60.0, controls=())  # 80 is outside of 48 to 75
    assert outcome_of(wrong, ledger).decision.verdict is Verdict.REFUTED
    low = {"smoke": rc.grid(pairs=(5, 8, 10, 15, 80))}  # 15, past 7.2 to 11.25, is drawn at last
    wrong = replace(steep, cells=low, predict=lambda cell: 9.0, controls=())
    assert outcome_of(wrong, ledger).decision.verdict is Verdict.REFUTED
    assert drawn(wrong)[15] > 0 == drawn(wrong)[80]
    two = steep.rule.begun(rc.grid(pairs=(5, 20, 80)), lambda _: 20.0)
    assert len(two) == 3, "a single size inside shows no side"


def test_a_control_is_refuted_by_the_rungs_that_the_claim_has_drawn() -> None:
    samples = [*evidence((200, 0), 200, (16, 25)), *evidence((0, 0), 0, (5, 30))]

    def against(predicted: float) -> Verdict:
        return judge(RULE.against(samples, lambda _: predicted, ALPHA))

    assert against(32.0) is against(12.0) is Verdict.REFUTED
    assert against(24.0) is Verdict.INCONCLUSIVE
    [found] = RULE.against(evidence((10, 9, 0), 16, (16, 20, 25)), lambda _: 32.0, ALPHA)
    assert found.open_cells == ("pairs=25",), "the nearest to the edge 25.6 that was drawn"


@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize("together", [False, True])
def test_a_bracket_is_wrong_at_any_look_no_more_often_than_one_test(
    together: bool, side: str
) -> None:
    # Every outcome of three sizes at looks of 4, 8 and 12 coins each. All three rates are at the
    # target, with the crossing at the outermost size of a side: here a bracket errs most easily.
    alpha, sizes, rungs = 0.1, (4, 8, 12), 3
    alive, wrong, before = {(0,) * rungs: 1.0}, 0.0, 0
    for size in sizes:
        law = stats.binom.pmf(np.arange(size - before + 1), size - before, 0.5)
        after: dict[tuple[int, ...], float] = {}
        steps = [*itertools.product(range(size - before + 1), repeat=rungs)]
        for counts, probability in alive.items():
            for more in steps:
                total = tuple(np.add(counts, more).tolist())
                chance = probability * math.prod(law[k] for k in more)
                after[total] = after.get(total, 0.0) + chance
        alive, before = {}, size
        for counts, probability in after.items():
            found = falling(counts, size).bracket(alpha, together=together)
            if 0 < getattr(found, side) < math.inf:
                wrong += probability
            else:
                alive[counts] = probability
    assert alpha / 20 < wrong <= alpha


def test_rungs_show_together_what_none_shows_alone() -> None:
    ladder = falling((60, 60, 60), 80)
    alone, together = (ladder.bracket(1e-6, together=both) for both in (False, True))
    assert (alone.low, together.low) == (0.0, 14.0)
    sums = itertools.accumulate(above for above, _ in ladder._wealths)
    shares = np.log(np.mean(np.exp([*sums])))
    assert ladder._shown(0, "above", True) == pytest.approx(shares), "equal shares stop at each"
    # A size without replicates, before the others, is shown together with them.
    samples = [*evidence((0,), 0, (5,)), *ladder.samples]
    undrawn = Ladder(samples, "pairs", 0.5, "value", rising=False)
    assert undrawn.bracket(1e-6).low == 0.0
    assert undrawn.bracket(1e-6, together=True).low == 14.0


def test_a_ladder_has_rungs_at_the_edges() -> None:
    rungs = rc.ladder([{"dim": 2}], "pairs", lambda _: 99.5, (0.9, 0.99, 1.0, 1.1))
    assert [cell["pairs"] for cell in rungs] == [90, 99, 109], "rounded towards the centre"
    rc.CriticalLocation(rc.Region(0.9, 1.1), scan="pairs").decidable(rungs, lambda _: 99.5)


def test_a_location_is_refuted_at_alpha_over_twice_the_ladders() -> None:
    samples = [one for dim in (1, 2) for one in evidence((0, 41), 46, (10, 14), dim=dim)]
    rule = rc.CriticalLocation(rc.Region(0.9, 1.1), scan="pairs")
    one = Ladder(samples[:2], "pairs", 0.5, "value", rising=True)
    # One size alone shows nothing below `level`, and two together show nothing at alpha / 3.
    levels = np.geomspace(0.5, 1e-9, 200)
    level = next(each for each in levels if one.bracket(each).high > 14)
    alpha = 3 * next(each for each in levels if one.bracket(each, together=True).high > 14)
    assert alpha > level
    [found, _] = rule.components(samples, lambda _: 13.0, alpha)
    assert found.bounds.high == pytest.approx(14 / 13)
    assert found.interval.high == math.inf


def test_the_levels_of_exponents_are_shared() -> None:
    # 33 of 33 show a rate at alpha / 2 and hardly below. An exponent's bound uses a third of the
    # level for each of three series, and its simultaneous bound a quarter of this.
    of = 33
    alpha = 2 * math.exp(-rc.Betting().log_wealths(coins(of, of), 0.5)[0]) * 1.001
    corners = ((1, 1), (8, 1), (1, 8))
    samples = [
        sample
        for dim, width in corners
        for sample in evidence((of, 0), of, (9, 11), dim=dim, width=width)
    ]
    rule = rc.CriticalExponents({"dim": 0.0, "width": 0.0}, 0.5, scan="pairs", rising=False)
    for level, one_sided, simultaneous in (
        (alpha, False, False),
        (1.5 * alpha, True, False),
        (6 * alpha, True, True),
    ):
        for found in rule.components(samples, None, level):
            assert math.isfinite(found.bounds.high) == one_sided
            assert math.isfinite(found.interval.high) == simultaneous
