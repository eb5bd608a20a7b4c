"""Each planted error in the engine makes its named test fail.

An error replaces a text that occurs once in a function, as `ast.unparse` writes the function. A
pytest in this process runs the test on the falsified function, and the test must fail. By default
only the first edit of a function is tried.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, settings

from recall_claims import recording
from recall_claims.declare import registration
from recall_claims.evidence import block, hunt_tables, looks, run, scheduler, simulate
from recall_claims.hunt import campaign, probe
from recall_claims.judge import methods, resolution
from recall_claims.judge.rules import (
    base,
    critical,
    functional,
    ladder,
    law,
    one_sided,
    winner_share,
)
from recall_claims.model import budget, regime, region
from tests.unit.library import test_estimands as estimands
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
    """A function of the engine, the test that must notice, and the edit: `old => new`."""

    function: Any
    test: Callable[..., None]
    edit: str


def right(function: Any) -> FunctionType:
    """Return the plain function behind a property or a cache."""
    plain = getattr(function, "fget", None) or getattr(function, "func", function)
    found = inspect.unwrap(plain)
    assert isinstance(found, FunctionType)
    return found


def falsified(error: Error) -> CodeType:
    """Return the code of the edited function."""
    function, (old, new) = right(error.function), error.edit.split(" => ")
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    [definition] = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    text = ast.unparse(tree)
    assert text.count(old) == 1, f"{text.count(old)} times {old!r}:\n{text}"
    flags, names = __future__.annotations.compiler_flag, dict[str, Any]()
    path = inspect.getfile(function)
    code = compile(text.replace(old, new), path, "exec", flags, dont_inherit=True)
    exec(code, {**function.__globals__}, names)
    found: CodeType = names[function.__name__].__code__
    return found


T_MOMENTS = methods_.test_t_bounds_are_those_of_scipys_moments
T_SIDE = methods_.test_t_quantiles_are_students_and_reach_further_on_the_side_of_the_tail
FLAT = methods_.test_a_sample_without_variation_gives_no_t_interval
HEAVY = methods_.test_a_t_interval_says_nothing_of_a_value_that_outweighs_all_or_is_none
WEALTH = methods_.test_wealth_is_an_average_over_stakes_of_products
BOUNDS = methods_.test_bounds_hold_the_mean_and_are_where_the_bets_win
RANGE = methods_.test_an_observation_out_of_its_range_is_an_error
OF_REGION = region_.test_verdict_of_one_component
SINGLE = region_.test_support_is_by_the_single_bounds_and_refutation_by_the_simultaneous_interval
MARGIN = region_.test_an_end_within_rounding_of_an_edge_is_not_beyond_it
RESOLVED = region_.test_resolution_is_told_from_what_refutes
BELOW = estimands.test_laws_are_compared_at_values_and_just_below_them
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
TOGETHER = ladders.test_rungs_show_together_what_none_shows_alone
OUTSIDE = ladders.test_rungs_outside_the_region_are_drawn_where_the_claim_may_be_wrong
FOR_GOOD = stopping.test_a_bet_that_was_won_at_any_look_is_won_for_good
OUTERMOST = ladders.test_rungs_count_from_the_outermost_until_the_first_that_fails
EDGES = ladders.test_a_location_is_judged_by_its_edges
LEVELS = ladders.test_the_levels_of_exponents_are_shared
CONTROLS = run_.test_a_control_that_survives_forbids_support
LATE = run_.test_a_block_that_would_end_too_late_does_not_begin
BITS = run_.test_a_block_is_what_the_simulation_draws_to_the_last_bit
QUEUE = scheduler_.test_the_cheapest_go_first_unless_a_path_is_long
DEATH = scheduler_.test_a_worker_that_dies_fails_the_claim_that_kills_it_and_no_other
STREAMS = cell_.test_streams_are_those_that_numpy_spawns
EDIT = registration_.test_an_edit_of_the_declaration_registers_anew
OWN = registration_.test_a_law_is_registered_at_its_own_quantiles
CONFIRMED = hunt_.test_only_what_is_refuted_at_its_own_level_is_confirmed
NUMBERED = hunt_.test_confirmations_share_one_error_probability
TWICE = hunt_.test_a_violation_by_t_has_to_stand_twice
SETTLED = hunt_.test_what_is_not_confirmed_is_settled
GRID = hunt_.test_the_grid_has_to_lie_in_the_regime
PASSES, INTERVALS = record_.test_what_passes, record_.test_intervals_of_a_component
EXPLORATORY = record_.test_verdicts_of_exploratory_claims

STUDENT, WINNER = methods.Student.bounds, winner_share.WinnerShare
DECISION, DECIDE, JOINT = looks.Decision, looks.decide, base.Rule.joint
CONFIRM, JOIN = campaign._confirm, block.replicate_generators

ERRORS = (
    Error(STUDENT, T_MOMENTS, "self.spent * alpha => self.spent"),
    Error(STUDENT, T_MOMENTS, "self.spent * alpha => alpha"),
    Error(STUDENT, T_MOMENTS, "float(below) * error => float(below)"),
    Error(STUDENT, T_MOMENTS, "float(below) * error => error"),
    Error(STUDENT, T_MOMENTS, "float(above) * error => float(above)"),
    Error(STUDENT, T_MOMENTS, "float(above) * error => error"),
    Error(STUDENT, T_MOMENTS, "values - => values +"),
    Error(STUDENT, T_MOMENTS, "(count - 1) => (count + 1)"),
    Error(STUDENT, T_MOMENTS, "count - 2.0 => count + 2.0"),
    Error(STUDENT, T_MOMENTS, "count - 1.0 => count + 1.0"),
    Error(STUDENT, T_MOMENTS, "mean - => mean +"),
    Error(STUDENT, T_MOMENTS, "mean + => mean -"),
    Error(STUDENT, T_MOMENTS, "third / (sum2 / count) ** 1.5 => third"),
    Error(STUDENT, T_MOMENTS, "bias * third => bias"),
    Error(STUDENT, T_MOMENTS, "bias * third => third"),
    Error(methods.student_quantiles, T_SIDE, "asarray(skewness => asarray(-skewness"),
    Error(
        STUDENT,
        FLAT,
        "count < 2 or (spread := float(np.ptp(values))) <= 1e-12 * np.abs(values).max() => False",
    ),
    Error(STUDENT, HEAVY, "float(squares.max()) > heaviest(count) * sum2 => False"),
    Error(STUDENT, HEAVY, "math.isnan(spread) => False"),
    Error(methods.log_wealth, WEALTH, "PARTS @ np.exp(logs - top) => np.exp(logs - top).sum()"),
    Error(methods._log_wealths, WEALTH, "1 - seen => 1 + seen"),
    Error(methods._log_wealths, WEALTH, "1 - target => 1 + target"),
    Error(methods.Betting._scaled, RANGE, "scaled.min => scaled.max"),
    Error(methods.Betting._scaled, RANGE, "values.min => values.max"),
    Error(methods._log_lower, BOUNDS, "mean < 1e-300 => False"),
    Error(region.Interval._beyond, OF_REGION, "lower > => lower <"),
    Error(region.Interval._beyond, MARGIN, "higher + => higher -"),
    Error(region.Interval.disjoint, OF_REGION, " or self._beyond(self.low, region.high) => "),
    Error(region.Interval.disjoint, OF_REGION, "self._beyond(region.low, self.high) or => "),
    Error(region.Interval.inside, OF_REGION, " or self._beyond(self.high, region.high) => "),
    Error(region.Interval.inside, OF_REGION, "self._beyond(region.low, self.low) or => "),
    Error(resolution._centred, RESOLVED, "c.interval => c.bounds"),
    Error(region.Component.verdict, SINGLE, "self.interval.disjoint => self.bounds.disjoint"),
    Error(region.judge, EVERY_PART, "Verdict.INCONCLUSIVE in verdicts => False"),
    Error(JOINT, SHARES, "alpha / (edges * len(found)) => alpha"),
    Error(JOINT, SHARES, "(edges * len(found)) => edges"),
    Error(JOINT, SHARES, "(edges * len(found) => len(found"),
    Error(JOINT, SHARES, "= alpha => = 2 * alpha"),
    Error(JOINT, SHARES, "bounds(alpha => bounds(2 * alpha"),
    Error(
        functional.pseudo_values,
        JACKKNIFE,
        "(count - 1) * function(left_out(values)) => (count - 1)",
    ),
    Error(functional.pseudo_values, JACKKNIFE, "(count - 1) * function => function"),
    Error(WINNER.components, WINNERS, "alpha / len(evidence) => alpha"),
    Error(WINNER._state, WINNERS, "alpha / len(rivals) => alpha"),
    Error(WINNER._state, TIE, "> 0 => >= 0"),
    Error(JOINT, LADDERS, "alpha / (edges * len(found)) => alpha"),
    Error(JOINT, LADDERS, "(edges * len(found)) => edges"),
    Error(JOINT, LADDERS, "(edges * len(found) => len(found"),
    Error(critical._exponent_bounds, LEVELS, "level / len(ladders) => level"),
    Error(base.Rule.alpha_of_look, OFTEN, "alpha if self.anytime else alpha / looks => alpha"),
    Error(
        base.Rule.alpha_of_look, OFTEN, "alpha if self.anytime else alpha / looks => alpha / looks"
    ),
    Error(budget.Budget.per_claim, SLOT, "paper.share / paper.slots => paper.share"),
    Error(budget.Budget.per_claim, SLOT, "self.probability * paper.share => self.probability"),
    Error(budget.Budget.per_claim, SLOT, "self.probability * paper.share => paper.share"),
    Error(ladder.Ladder._wealths, TARGET, "self.target => 0.5"),
    Error(ladder.Ladder.bracket, OUTERMOST, "break\n        low => continue\n        low"),
    Error(ladder.Ladder.bracket, OUTERMOST, "break\n        high => continue\n        high"),
    Error(ladder.Ladder._wealths, EDGES, "self.rising => True"),
    Error(ladder.Ladder._shown, TOGETHER, "fmean => sum"),
    Error(ladder.Ladder._shown, TOGETHER, "not together => True"),
    Error(ladder.Ladder._refuting, OUTSIDE, "or {over[0]} => or set()"),
    Error(critical.CriticalLocation.begun, OUTSIDE, "len(inside) > 1 => False"),
    Error(critical.CriticalLocation.begun, OUTSIDE, "len(inside) > 1 => True"),
    Error(one_sided.Identity.components, IDENTITY, "abs => (lambda x: x)"),
    Error(one_sided.Identity.components, IDENTITY, ".max => .mean"),
    Error(run.Round.observed, CONTROLS, ", block] => , blocks.start]"),
    Error(DECIDE, STAYS, "None and planted.id not in before.unrefuted => None"),
    Error(DECIDE, STAYS, "before is not None and planted.id => planted.id"),
    Error(DECIDE, STAYS, "before.components if before else () => ()"),
    Error(DECIDE, STAYS, "settled=False => settled=True"),
    Error(DECIDE, FOR_GOOD, "before.controls[planted.id] if before else () => ()"),
    Error(DECIDE, FOR_GOOD, "isinstance(rule.method, Betting) => True"),
    Error(looks._both, FOR_GOOD, "if low <= high else kept => if low <= high else other"),
    Error(DECIDE, STAYS, "before is not None and planted.id not in before.unrefuted => False"),
    Error(DECIDE, EVERY_PART, "claim.predict, alpha) => claim.predict, alpha)[1:]"),
    Error(DECIDE, CONTROLS, "claim.controls => [*claim.controls][1:]"),
    Error(looks.looks, DECIDED, "look.decision.open_cells => drawn"),
    Error(
        DECISION.verdict,
        CONTROLS,
        "self.doubt or (self.on_region is Verdict.SUPPORTED and self.unrefuted) => False",
    ),
    Error(DECISION.open_cells, STANDING, "max => min"),
    Error(simulate._array, BITS, "np.float64 => np.float32"),
    Error(
        registration._judged,
        EDIT,
        "'rule': _plain(claim.rule, f'the rule of claim {claim.id}'), ' => '",
    ),
    Error(
        registration._judged,
        EDIT,
        "None if predict is None else [_predicted(predict(c), within) for c in cells] => None",
    ),
    Error(registration._plain, EDIT, ", 8 => , 7"),
    Error(registration._predicted, EDIT, "4) => 3)"),
    Error(registration._quantiles, OWN, "found / steps => found"),
    Error(registration._quantiles, OWN, "where(jumps, => where(False,"),
    Error(registration._quantiles, OWN, "where(jumps, => where(True,"),
    Error(law._distance, BELOW, "- slack => + slack"),
    Error(law._distance, BELOW, "seen + slack => seen - slack"),
    Error(law._distance, BELOW, "-math.inf => math.inf"),
    Error(law._distance, BELOW, "until - counts => until + counts"),
    Error(law._distance, BELOW, "(until - above).max(), => "),
    Error(law._distance, BELOW, "(below - before).max(), => "),
    Error(
        recording.passes,
        PASSES,
        "claim.exploratory or verdict == claim.expected => claim.exploratory",
    ),
    Error(recording.passes, PASSES, "claim.exploratory or verdict => verdict"),
    Error(recording.component, INTERVALS, "found.interval => found.bounds"),
    Error(
        recording.said,
        EXPLORATORY,
        "record.EXPLORATORY if exploratory else record.ON_THEOREMS => record.EXPLORATORY",
    ),
    Error(
        recording.said,
        EXPLORATORY,
        "record.EXPLORATORY if exploratory else record.ON_THEOREMS => record.ON_THEOREMS",
    ),
    Error(run.Running.next_block, LATE, "> left => > math.inf"),
    Error(scheduler.Scheduler._rank, QUEUE, "path >= long => True"),
    Error(scheduler.Scheduler._rank, QUEUE, "path >= long => False"),
    Error(scheduler.Scheduler._room, DEATH, "self._suspects => False"),
    Error(JOIN, STREAMS, "{claim_id} => "),
    Error(JOIN, STREAMS, "{registration} => "),
    Error(JOIN, STREAMS, "{cell_id} => "),
    Error(JOIN, STREAMS, "digest, dtype='<u4' => digest"),
    Error(JOIN, STREAMS, "*words, block => block"),
    Error(JOIN, STREAMS, "block, replicate => replicate"),
    Error(JOIN, STREAMS, "block, replicate => block"),
    Error(JOIN, STREAMS, "entropy=suite_seed, spawn_key => spawn_key"),
    Error(JOIN, STREAMS, "suite_seed, spawn_key=name => suite_seed"),
    Error(hunt_tables.alpha_of, NUMBERED, "* number => * 1"),
    Error(CONFIRM, CONFIRMED, "registered=f'{stream} {number} {probe.key}', alpha => alpha"),
    Error(probe.trials, TWICE, "if claim.rule.exact else => if True else"),
    Error(CONFIRM, CONFIRMED, "', alpha=alpha_of(number) => '"),
    Error(CONFIRM, CONFIRMED, "(number) => (1)"),
    Error(CONFIRM, CONFIRMED, "{number => {1"),
    Error(CONFIRM, CONFIRMED, "tables.end_confirmation(number, => tables.end_confirmation(1,"),
    Error(CONFIRM, CONFIRMED, "Confirmation(number, => Confirmation(1,"),
    Error(CONFIRM, CONFIRMED, "if verdict is Verdict.REFUTED => if verdict is not Verdict.REFUTED"),
    Error(CONFIRM, SETTLED, "Verdict.SUPPORTED => Verdict.REFUTED"),
    Error(regime.Values.__contains__, GRID, "value in => value not in"),
)

FIRST = {(each.function, each.test): each for each in reversed(ERRORS)}
MUTANTS = [
    pytest.param(
        each,
        id=f"{right(each.function).__qualname__}: {each.edit}",
        marks=() if each in FIRST.values() else pytest.mark.thorough,
    )
    for each in ERRORS
]


def outcome(
    tests: Iterable[Callable[..., None]], capture: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Run pytest in this process: outcomes of tests, and output."""
    names = {f"{inspect.getsourcefile(test)}::{test.__name__}" for test in tests}
    # What other code leaves to the garbage collector, such as an open folder, is not looked for.
    left_out = ("-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:faulthandler")
    settings.load_profile("brief")
    found = pytest.main(["-x", "-q", "-n0", *left_out, *sorted(names)])
    settings.load_profile("default")
    return int(found), capture.readouterr().out


@pytest.fixture
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty caches before a falsified engine runs, and before the right one runs again."""
    for name in ("_lower", "_log_wealths"):
        monkeypatch.setattr(methods, name, methods.kept(getattr(methods, name).__wrapped__))


@pytest.mark.usefixtures("nothing_known")
@pytest.mark.parametrize("error", MUTANTS)
def test_an_error_in_the_engine_is_noticed(
    error: Error, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(right(error.function), "__code__", falsified(error))
    status, text = outcome([error.test], capsys)
    assert status == 1, text


def test_no_error_is_seen_in_the_right_engine(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = outcome({error.test for error in ERRORS}, capsys)
    assert status == 0, text


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.edit)
def test_every_edit_can_be_made(error: Error) -> None:
    assert falsified(error) != right(error.function).__code__
