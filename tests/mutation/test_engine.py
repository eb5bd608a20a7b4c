"""Errors planted in the engine itself: each makes the test that is named with it fail.

An error is an operator on the syntax tree of one function. Whatever it does there, at whichever
place, the test must notice, run by a pytest in this process on the falsified function. By default
the first place of each is tried.
"""

import inspect
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, settings

from recall_claims import recording
from recall_claims.declare import registration
from recall_claims.evidence import hunt_tables, looks, run, scheduler, seeds, simulate
from recall_claims.hunt import campaign
from recall_claims.judge import methods
from recall_claims.judge.rules import base, critical, jackknife, ladder, one_sided, winner_share
from recall_claims.model import budget, regime, region
from tests.mutation import operators as op
from tests.unit.library import test_hunt as hunt_
from tests.unit.library import test_ladders as ladders
from tests.unit.library import test_methods as methods_
from tests.unit.library import test_papers as budget_
from tests.unit.library import test_record as record_
from tests.unit.library import test_regime as cell_
from tests.unit.library import test_region as region_
from tests.unit.library import test_registration as registration_
from tests.unit.library import test_run as run_
from tests.unit.library import test_scheduler as scheduler_
from tests.unit.library import test_stopping as stopping

BRIEF = (Phase.explicit, Phase.generate)  # a counterexample need not be shrunk, nor kept
settings.register_profile("brief", phases=BRIEF, database=None, deadline=None)


class Error(NamedTuple):
    """A function of the engine, what falsifies it, and the test that must notice."""

    function: Any
    operator: op.Operator
    test: Callable[..., None]


T_MOMENTS = methods_.test_t_bounds_are_those_of_scipys_moments
T_SIDE = methods_.test_t_quantiles_are_students_and_reach_further_on_the_side_of_the_tail
FLAT = methods_.test_a_sample_without_variation_gives_no_t_interval
HEAVY = methods_.test_a_t_interval_says_nothing_of_a_value_that_outweighs_all_or_is_none
WEALTH = methods_.test_wealth_is_an_average_over_stakes_of_products
BOUNDS = methods_.test_bounds_hold_the_mean_and_are_where_the_bets_win
RANGE = methods_.test_an_observation_out_of_its_range_is_an_error
OF_REGION = region_.test_verdict_of_one_component
SINGLE = region_.test_support_is_by_the_single_bounds_and_refutation_by_the_simultaneous_interval
SHARES = stopping.test_bounds_are_simultaneous_for_refutation_and_single_for_support
WINNERS = stopping.test_a_winner_is_shown_at_alpha_over_points_and_refuted_by_any_rival
TIE = stopping.test_a_tie_has_no_winner
JACKKNIFE = stopping.test_exponents_are_those_of_a_jackknife
LADDERS = ladders.test_a_location_is_refuted_at_alpha_over_twice_the_ladders
TARGET = ladders.test_each_ladder_may_have_a_target_of_its_own
IDENTITY = stopping.test_an_identity_sees_a_single_error_of_either_sign
STAYS = stopping.test_what_was_decided_stays_so
EVERY_PART = stopping.test_support_takes_every_component_and_refutation_one
DECIDED = stopping.test_a_cell_that_is_decided_draws_no_more
STANDING = stopping.test_a_standing_control_draws_only_where_it_is_nearest_to_refutation
OFTEN = stopping.test_an_exact_rule_looks_often_and_pays_nothing_for_it
SLOT = budget_.test_a_claim_owns_a_slot_of_its_papers_share
OUTERMOST = ladders.test_rungs_count_from_the_outermost_until_the_first_that_fails
EDGES = ladders.test_a_location_is_judged_by_its_edges
LEVELS = ladders.test_the_levels_of_exponents_are_shared
CONTROLS = run_.test_a_control_that_survives_forbids_support
LATE = run_.test_a_block_that_would_end_too_late_does_not_begin
BITS = run_.test_a_block_is_what_the_simulation_draws_to_the_last_bit
QUEUE = scheduler_.test_whoever_is_waited_for_goes_first_and_then_the_longest_path
DEATH = scheduler_.test_a_worker_that_dies_fails_the_claim_that_kills_it_and_no_other
STREAMS = cell_.test_streams_are_those_that_numpy_spawns
EDIT = registration_.test_an_edit_of_the_declaration_registers_anew
TAIL = registration_.test_rounding_errors_in_the_tail_of_a_law_do_not_count
CONFIRMED = hunt_.test_only_what_is_refuted_at_its_own_level_is_confirmed
NUMBERED = hunt_.test_confirmations_share_one_error_probability
SETTLED = hunt_.test_what_is_not_confirmed_is_settled
GRID = hunt_.test_the_grid_has_to_lie_in_the_regime
PASSES, INTERVALS = record_.test_what_passes, record_.test_intervals_of_a_component
EXPLORATORY = record_.test_verdicts_of_exploratory_claims

STUDENT, WINNER = methods.Student.bounds, winner_share.WinnerShare
DECISION = looks.Decision
JOIN = seeds.replicate_generators
ALPHA, NUMBER = op.on("alpha", op.without_factor), op.instead("number", "1")

ERRORS = {
    # Bounds for means.
    "no halving of a t bound's level": Error(STUDENT, ALPHA, T_MOMENTS),
    "t bounds of another width": Error(STUDENT, op.on("error", op.without_factor), T_MOMENTS),
    "a side or a moment of a t bound": Error(STUDENT, op.other_sign, T_MOMENTS),
    "a biased skewness": Error(STUDENT, op.on("bias", op.without_factor), T_MOMENTS),
    "skewness corrected on the wrong side": Error(
        methods.student_quantiles, op.instead("skewness", "-skewness"), T_SIDE
    ),
    "an interval of width zero from equal values": Error(STUDENT, op.on("ptp", op.never), FLAT),
    "one value that outweighs all others": Error(STUDENT, op.on("heaviest", op.never), HEAVY),
    "values that are no numbers": Error(STUDENT, op.on("isnan", op.never), HEAVY),
    "no average over stakes": Error(methods.log_wealth, op.instead(".mean", ".sum"), WEALTH),
    "bets from the wrong side": Error(methods._log_wealths, op.other_sign, WEALTH),
    "observations out of their range": Error(
        methods.Betting._scaled, op.instead(".min", ".max"), RANGE
    ),
    "a mean next to nothing, divided by": Error(
        methods._log_lower, op.on("mean", op.never), BOUNDS
    ),
    # Regions and verdicts.
    "an edge inverted": Error(region.Interval.disjoint, op.reversed_comparison, OF_REGION),
    "refutation on one side alone": Error(
        region.Interval.disjoint, op.part_of_condition, OF_REGION
    ),
    "support from one edge alone": Error(region.Interval.inside, op.part_of_condition, OF_REGION),
    "refutation by the single bounds": Error(
        region.Component.verdict, op.instead(".interval", ".bounds"), SINGLE
    ),
    "support though a component is open": Error(
        region.judge, op.on("INCONCLUSIVE", op.never), EVERY_PART
    ),
    # Shares of alpha.
    "no Bonferroni share in rules about means": Error(base.Rule.joint, op.without_factor, SHARES),
    "a level twice as large": Error(base.Rule.joint, op.instead("alpha", "2 * alpha"), SHARES),
    "pseudo-values without the weight n - 1": Error(
        jackknife.pseudo_values, op.on("left_out", op.without_factor), JACKKNIFE
    ),
    "no share for the points of a map": Error(WINNER.components, ALPHA, WINNERS),
    "no share for rivals": Error(WINNER._state, ALPHA, WINNERS),
    "a tie confirmed": Error(WINNER._state, op.on("low", op.closed), TIE),
    "no Bonferroni share in a ladder rule": Error(base.Rule.joint, op.without_factor, LADDERS),
    "ladders share nothing in exponents": Error(
        critical._exponent_bounds, op.on("level", op.without_factor), LEVELS
    ),
    "looks cost a t rule nothing": Error(base.Rule.alpha_of_look, op.part_of_condition, OFTEN),
    "a paper's slots cost nothing": Error(budget.Budget.per_claim, op.without_factor, SLOT),
    # Ladders and identities.
    "a target fixed at one half": Error(
        ladder.Ladder._wealths, op.instead("self.target", "0.5"), TARGET
    ),
    "rungs tested without an order": Error(ladder.Ladder.bracket, op.no_break, OUTERMOST),
    "a falling rate taken for a rising one": Error(
        ladder.Ladder._wealths, op.instead("self.rising", "True"), EDGES
    ),
    "errors that are never negative": Error(
        one_sided.Identity.components, op.instead("abs", "(lambda x: x)"), IDENTITY
    ),
    "the mean of errors": Error(
        one_sided.Identity.components, op.instead(".max", ".mean"), IDENTITY
    ),
    # Runs.
    "a block counted twice": Error(
        run.Round.observed, op.instead("block", "blocks.start"), CONTROLS
    ),
    "what was decided is judged anew": Error(looks.decide, op.part_of_condition, STAYS),
    "a control's refutation that is not kept": Error(looks.decide, op.never, STAYS),
    "a component that is never judged": Error(
        looks.decide, op.on("parts", op.without_first), EVERY_PART
    ),
    "a control skipped": Error(looks.decide, op.on("controls", op.without_first), CONTROLS),
    "all cells draw though one is decided": Error(
        looks.looks, op.instead("look.decision.open_cells", "drawn"), DECIDED
    ),
    "controls that need not be refuted": Error(DECISION.verdict, op.never, CONTROLS),
    "a standing control drawn where it is farthest": Error(
        DECISION.open_cells, op.instead("max", "min"), STANDING
    ),
    "observations rounded": Error(simulate._array, op.instead(".float64", ".float32"), BITS),
    # Registrations and records.
    "a region or a formula that may change": Error(
        registration._judged, op.on("_plain", op.without_entry), EDIT
    ),
    "fields of rules to fewer digits": Error(
        registration._plain, op.on("_rounded", op.one_less), EDIT
    ),
    "predictions to fewer digits": Error(
        registration._predicted, op.on("_rounded", op.one_less), EDIT
    ),
    "laws to fewer digits": Error(registration._predicted, op.on("round", op.one_less), TAIL),
    "content with another verdict": Error(recording.passes, op.part_of_condition, PASSES),
    "intervals swapped in the record": Error(
        recording.component, op.instead("found.interval", "found.bounds"), INTERVALS
    ),
    "BREAKS and SURVIVES swapped": Error(recording.said, op.part_of_condition, EXPLORATORY),
    # Time limits, and many claims in flight.
    "a block begun too late": Error(run.Running.next_block, op.instead("left", "math.inf"), LATE),
    "claims that wait for their turn": Error(
        scheduler.Scheduler._in_turn, op.instead("self._serial", "True"), QUEUE
    ),
    "a dead worker's blocks all run again at once": Error(
        scheduler.Scheduler._room, op.instead("self._suspects", "False"), DEATH
    ),
    # Streams and hunts.
    "a name left out of a stream": Error(JOIN, op.without_entry, STREAMS),
    "confirmations that all have one level": Error(hunt_tables.alpha_of, NUMBER, NUMBERED),
    "a confirmation at the claim's own level, or on its draws": Error(
        campaign._confirm, op.on("alpha_of", op.without_entry), CONFIRMED
    ),
    "each confirmation at the level of the first": Error(campaign._confirm, NUMBER, CONFIRMED),
    "what is undecided counted as confirmed": Error(
        campaign._confirm, op.on("REFUTED", op.reversed_comparison), CONFIRMED
    ),
    "what is not confirmed is asked again": Error(
        campaign._confirm, op.instead("Verdict.SUPPORTED", "Verdict.REFUTED"), SETTLED
    ),
    "a regime that lets every cell in": Error(
        regime.Values.__contains__, op.on("steps", op.reversed_comparison), GRID
    ),
}


def right(function: Any) -> FunctionType:
    """The plain function of a property, and of what keeps its results."""
    plain = getattr(function, "fget", None) or getattr(function, "func", function)
    found = inspect.unwrap(plain)
    assert isinstance(found, FunctionType)
    return found


MUTANTS = [
    pytest.param(
        code, each, id=f"{name}: {change}", marks=() if number == 0 else pytest.mark.thorough
    )
    for name, each in ERRORS.items()
    for number, (change, code) in enumerate(op.falsified(right(each.function), each.operator))
]


def outcome(
    tests: Iterable[Callable[..., None]], capture: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """How tests end, and what is printed, by a pytest in this process."""
    names = {f"{inspect.getsourcefile(test)}::{test.__name__}" for test in tests}
    # What other code leaves to the garbage collector, such as an open folder, is not looked for.
    left_out = ("-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:faulthandler")
    settings.load_profile("brief")
    found = pytest.main(["-x", "-q", "-n0", *left_out, *sorted(names)])
    settings.load_profile("default")
    return int(found), capture.readouterr().out


@pytest.fixture
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the right engine has worked out is not left to a falsified one, nor the reverse."""
    for name in ("_lower", "_log_wealths"):
        monkeypatch.setattr(methods, name, methods.kept(getattr(methods, name).__wrapped__))


@pytest.mark.usefixtures("nothing_known")
@pytest.mark.parametrize(("code", "each"), MUTANTS)
def test_an_error_in_the_engine_is_noticed(
    code: CodeType, each: Error, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(right(each.function), "__code__", code)
    status, text = outcome([each.test], capsys)
    assert status == 1, text


def test_no_error_is_seen_in_the_right_engine(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = outcome({each.test for each in ERRORS.values()}, capsys)
    assert status == 0, text


def test_every_operator_finds_something_to_falsify() -> None:
    assert {str(mutant.id).partition(": ")[0] for mutant in MUTANTS} == set(ERRORS)
