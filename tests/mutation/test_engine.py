"""Each planted error in the engine makes its named test fail.

An error replaces a text that occurs once in a function, as `ast.unparse` writes the function. A
pytest in this process runs the test on the falsified function, and the test must fail. By default
only the first edit of each function and test is tried.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import pkgutil
import textwrap
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest

from recall_claims.judge import methods


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


TABLE = r"""
test_methods.test_t_bounds_are_those_of_scipys_moments
    judge.methods.Student.bounds: self.spent * alpha => self.spent
    judge.methods.Student.bounds: self.spent * alpha => alpha
    judge.methods.Student.bounds: float(below) * error => float(below)
    judge.methods.Student.bounds: float(below) * error => error
    judge.methods.Student.bounds: float(above) * error => float(above)
    judge.methods.Student.bounds: float(above) * error => error
    judge.methods.Student.bounds: values - => values +
    judge.methods.Student.bounds: (count - 1) => (count + 1)
    judge.methods.Student.bounds: count - 2.0 => count + 2.0
    judge.methods.Student.bounds: count - 1.0 => count + 1.0
    judge.methods.Student.bounds: mean - => mean +
    judge.methods.Student.bounds: mean + => mean -
    judge.methods.Student.bounds: third / (sum2 / count) ** 1.5 => third
    judge.methods.Student.bounds: bias * third => bias
    judge.methods.Student.bounds: bias * third => third
test_methods.test_t_quantiles_are_students_and_reach_further_on_the_side_of_the_tail
    judge.methods.student_quantiles: asarray(skewness => asarray(-skewness
test_methods.test_a_sample_without_variation_gives_no_t_interval
    judge.methods.Student.bounds: count < 2 or (spread := float(np.ptp(values))) <= 1e-12 *
        np.abs(values).max() => False
test_methods.test_a_t_interval_says_nothing_of_a_value_that_outweighs_all_or_is_none
    judge.methods.Student.bounds: float(squares.max()) > heaviest(count) * sum2 => False
    judge.methods.Student.bounds: math.isnan(spread) => False
test_methods.test_wealth_is_an_average_over_stakes_of_products
    judge.methods.log_wealth: PARTS @ np.exp(logs - top) => np.exp(logs - top).sum()
    judge.methods._log_wealths: 1 - seen => 1 + seen
    judge.methods._log_wealths: 1 - target => 1 + target
test_methods.test_an_observation_out_of_its_range_is_an_error
    judge.methods.Betting._scaled: scaled.min => scaled.max
    judge.methods.Betting._scaled: values.min => values.max
test_methods.test_bounds_hold_the_mean_and_are_where_the_bets_win
    judge.methods._log_lower: mean < 1e-300 => False
test_region.test_verdict_of_one_component
    model.region.Interval._beyond: lower > => lower <
    model.region.Interval.disjoint:  or self._beyond(self.low, region.high) =>
    model.region.Interval.disjoint: self._beyond(region.low, self.high) or =>
    model.region.Interval.inside:  or self._beyond(self.high, region.high) =>
    model.region.Interval.inside: self._beyond(region.low, self.low) or =>
test_region.test_an_end_within_rounding_of_an_edge_is_not_beyond_it
    model.region.Interval._beyond: higher + => higher -
test_region.test_resolution_is_told_from_what_refutes
    model.region._centred: c.interval => c.bounds
test_region.test_support_is_by_the_single_bounds_and_refutation_by_the_simultaneous_interval
    model.region.Component.verdict: self.interval.disjoint => self.bounds.disjoint
test_stopping.test_support_takes_every_component_and_refutation_one
    model.region.judge: Verdict.INCONCLUSIVE in verdicts => False
    evidence.looks.decide: claim.predict, alpha) => claim.predict, alpha)[1:]
test_stopping.test_bounds_are_simultaneous_for_refutation_and_single_for_support
    judge.rules.base.Rule.joint: alpha / (edges * len(found)) => alpha
    judge.rules.base.Rule.joint: (edges * len(found)) => edges
    judge.rules.base.Rule.joint: (edges * len(found) => len(found
    judge.rules.base.Rule.joint: = alpha => = 2 * alpha
    judge.rules.base.Rule.joint: bounds(alpha => bounds(2 * alpha
test_stopping.test_exponents_are_those_of_a_jackknife
    judge.rules.functional.pseudo_values: (count - 1) * function(left_out(values)) => (count - 1)
    judge.rules.functional.pseudo_values: (count - 1) * function => function
test_stopping.test_a_winner_is_shown_at_alpha_over_points_and_refuted_by_any_rival
    judge.rules.winner_share.WinnerShare.components: alpha / len(evidence) => alpha
    judge.rules.winner_share.WinnerShare._state: alpha / len(rivals) => alpha
test_stopping.test_a_tie_has_no_winner
    judge.rules.winner_share.WinnerShare._state: > 0 => >= 0
test_ladders.test_the_levels_of_exponents_are_shared
    judge.rules.critical._exponent_bounds: level / len(ladders) => level
test_stopping.test_an_exact_rule_looks_often_and_pays_nothing_for_it
    judge.rules.base.Rule.alpha_of_look: alpha if self.anytime else alpha / looks => alpha
    judge.rules.base.Rule.alpha_of_look: alpha if self.anytime else alpha / looks => alpha / looks
test_papers.test_a_claim_owns_a_slot_of_its_papers_share
    model.budget.Budget.per_claim: paper.share / paper.slots => paper.share
    model.budget.Budget.per_claim: self.probability * paper.share => self.probability
    model.budget.Budget.per_claim: self.probability * paper.share => paper.share
test_ladders.test_each_ladder_may_have_a_target_of_its_own
    judge.rules.ladder.Ladder._wealths: self.target => 0.5
test_ladders.test_rungs_count_from_the_outermost_until_the_first_that_fails
    judge.rules.ladder.Ladder.bracket: break\n        low => continue\n        low
    judge.rules.ladder.Ladder.bracket: break\n        high => continue\n        high
test_ladders.test_a_location_is_judged_by_its_edges
    judge.rules.ladder.Ladder._wealths: self.rising => True
test_ladders.test_rungs_show_together_what_none_shows_alone
    judge.rules.ladder.Ladder._shown: fmean => sum
    judge.rules.ladder.Ladder._shown: not together => True
test_ladders.test_rungs_outside_the_region_are_drawn_where_the_claim_may_be_wrong
    judge.rules.ladder.Ladder._refuting: or {over[0]} => or set()
    judge.rules.critical.CriticalLocation.begun: len(inside) > 1 => False
    judge.rules.critical.CriticalLocation.begun: len(inside) > 1 => True
test_stopping.test_an_identity_sees_a_single_error_of_either_sign
    judge.rules.one_sided.Identity.components: abs => (lambda x: x)
    judge.rules.one_sided.Identity.components: .max => .mean
test_run.test_a_control_that_survives_forbids_support
    evidence.run.Round.observed: , block] => , blocks.start]
    evidence.looks.decide: claim.controls => [*claim.controls][1:]
    evidence.looks.Decision.verdict: self.doubt or (self.on_region is Verdict.SUPPORTED and
        self.unrefuted) => False
test_stopping.test_what_was_decided_stays_so
    evidence.looks.decide: None and planted.id not in before.unrefuted => None
    evidence.looks.decide: before is not None and planted.id => planted.id
    evidence.looks.decide: before.components if before else () => ()
    evidence.looks.decide: settled=False => settled=True
    evidence.looks.decide: before is not None and planted.id not in before.unrefuted => False
test_stopping.test_a_bet_that_was_won_at_any_look_is_won_for_good
    evidence.looks.decide: before.controls[planted.id] if before else () => ()
    evidence.looks.decide: isinstance(rule.method, Betting) => True
    evidence.looks._both: if low <= high else kept => if low <= high else other
test_stopping.test_a_cell_that_is_decided_draws_no_more
    evidence.looks.looks: look.decision.open_cells => drawn
test_stopping.test_a_standing_control_draws_only_where_it_is_nearest_to_refutation
    evidence.looks.Decision.open_cells: max => min
test_run.test_a_block_is_what_the_simulation_draws_to_the_last_bit
    evidence.simulate._array: np.float64 => np.float32
test_registration.test_an_edit_of_the_declaration_registers_anew
    declare.registration._judged: 'rule': _plain(claim.rule, f'the rule of claim {claim.id}'), ' =>
        '
    declare.registration._judged: None if predict is None else [_predicted(predict(c), within) for
        c in cells] => None
    declare.registration._plain: , 8 => , 7
    declare.registration._predicted: 4) => 3)
test_registration.test_a_law_is_registered_at_its_own_quantiles
    declare.registration._quantiles: found / steps => found
    declare.registration._quantiles: where(jumps, => where(False,
    declare.registration._quantiles: where(jumps, => where(True,
test_estimands.test_laws_are_compared_at_values_and_just_below_them
    judge.rules.law._distance: - slack => + slack
    judge.rules.law._distance: seen + slack => seen - slack
    judge.rules.law._distance: -math.inf => math.inf
    judge.rules.law._distance: until - counts => until + counts
    judge.rules.law._distance: (until - above).max(), =>
    judge.rules.law._distance: (below - before).max(), =>
test_record.test_intervals_of_a_component
    recording.component: found.interval => found.bounds
test_record.test_verdicts_of_exploratory_claims
    recording.passes: claim.exploratory or verdict == claim.expected => claim.exploratory
    recording.passes: claim.exploratory or verdict => verdict
    recording.said: record.EXPLORATORY if exploratory else record.ON_THEOREMS => record.EXPLORATORY
    recording.said: record.EXPLORATORY if exploratory else record.ON_THEOREMS => record.ON_THEOREMS
test_run.test_a_block_that_would_end_too_late_does_not_begin
    evidence.run.Running.next_block: > left => > math.inf
test_scheduler.test_the_cheapest_go_first_unless_a_path_is_long
    evidence.scheduler.Scheduler._rank: path >= long => True
    evidence.scheduler.Scheduler._rank: path >= long => False
test_scheduler.test_a_worker_that_dies_fails_the_claim_that_kills_it_and_no_other
    evidence.scheduler.Scheduler._room: self._suspects => False
test_regime.test_streams_are_those_that_numpy_spawns
    evidence.block.replicate_generators: {claim_id} =>
    evidence.block.replicate_generators: {registration} =>
    evidence.block.replicate_generators: {cell_id} =>
    evidence.block.replicate_generators: digest, dtype='<u4' => digest
    evidence.block.replicate_generators: *words, block => block
    evidence.block.replicate_generators: block, replicate => replicate
    evidence.block.replicate_generators: block, replicate => block
    evidence.block.replicate_generators: entropy=suite_seed, spawn_key => spawn_key
    evidence.block.replicate_generators: suite_seed, spawn_key=name => suite_seed
test_hunt.test_confirmations_share_one_error_probability
    evidence.hunt_tables.alpha_of: * number => * 1
test_hunt.test_only_what_is_refuted_at_its_own_level_is_confirmed
    hunt.campaign._confirm: registered=f'{stream} {number} {probe.key}', alpha => alpha
    hunt.campaign._confirm: ', alpha=alpha_of(number) => '
    hunt.campaign._confirm: (number) => (1)
    hunt.campaign._confirm: {number => {1
    hunt.campaign._confirm: tables.end_confirmation(number, => tables.end_confirmation(1,
    hunt.campaign._confirm: Confirmation(number, => Confirmation(1,
    hunt.campaign._confirm: if verdict is Verdict.REFUTED => if verdict is not Verdict.REFUTED
    hunt.probe.trials: if claim.rule.exact else => if True else
test_hunt.test_what_is_not_confirmed_is_settled
    hunt.campaign._confirm: Verdict.SUPPORTED => Verdict.REFUTED
test_refusals.test_a_claim_written_wrongly_is_refused
    model.regime.Values.__contains__: value in => value not in
"""
"""The errors; a line indented twice continues the line above.

First a test of `tests/unit/library/`, then its rows: a function of the library, and the edit.
"""


def _errors() -> Iterator[Error]:
    """Read the table; an edit that only removes a text ends with its arrow."""
    for line in TABLE.replace("\n        ", " ").split("\n")[1:-1]:
        where, _, edit = line.removeprefix("    ").partition(": ")
        if not edit:
            test = pkgutil.resolve_name(f"tests.unit.library.{where}")
            continue
        edit = edit.replace(r"\n", "\n") + " " * edit.endswith("=>")
        yield Error(pkgutil.resolve_name(f"recall_claims.{where}"), test, edit)


ERRORS = tuple(_errors())
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
    """Run pytest in this process; return its exit status and output."""
    names = {f"{inspect.getsourcefile(test)}::{test.__name__}" for test in tests}
    # Pytest need not look for objects that other code leaves to the garbage collector.
    left_out = ("-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:faulthandler")
    found = pytest.main(["-x", "-q", "-n0", *left_out, *sorted(names)])
    return int(found), capture.readouterr().out


@pytest.mark.parametrize("error", MUTANTS)
def test_an_error_in_the_engine_is_noticed(
    error: Error, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("_lower", "_log_wealths"):  # neither engine may read what the other has cached
        monkeypatch.setattr(methods, name, methods.kept(getattr(methods, name).__wrapped__))
    monkeypatch.setattr(right(error.function), "__code__", falsified(error))
    status, text = outcome([error.test], capsys)
    assert status == 1, text


def test_no_error_is_seen_in_the_right_engine(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = outcome({error.test for error in ERRORS}, capsys)
    assert status == 0, text
