"""Errors planted in the engine itself: each makes the test that is named with it fail.

The library is copied, one line is falsified, and the named test runs on the copy.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.apart import Result, run_pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "claims" / "recall_claims"
UNIT = "tests/unit/library"
FAULTS = "tests/faults"


@dataclass(frozen=True)
class Planted:
    """One falsified line of the library, and the test that must notice."""

    file: str
    right: str
    wrong: str
    test: str


JUDGE, RULES, RUN = "judge", "judge/rules", "evidence/run.py"
LOOKS = "judge/looks.py"
STOPPING = f"{UNIT}/test_stopping.py"
HUNT = f"{UNIT}/test_hunt.py"
METHODS, LADDERS = f"{UNIT}/test_methods.py", f"{UNIT}/test_ladders.py"
SIMULTANEOUS = f"{STOPPING}::test_bounds_are_simultaneous_for_refutation_and_single_for_support"
EXACT = f"{METHODS}::test_betting_on_coins_errs_at_most_as_often_as_it_says_at_all_looks"

PLANTED = {
    # Bounds for means.
    "no halving of a t bound's level": Planted(
        f"{JUDGE}/methods.py",
        "student_quantiles(count, skewness, self.spent * alpha)",
        "student_quantiles(count, skewness, alpha)",
        f"{METHODS}::test_t_bounds_run_at_half_their_level",
    ),
    "t bounds half as wide": Planted(
        f"{JUDGE}/methods.py",
        "mean - float(below) * error, mean + float(above) * error",
        "mean - float(below) * error / 2, mean + float(above) * error / 2",
        f"{METHODS}::test_t_bounds_run_at_half_their_level",
    ),
    "skewness corrected on the wrong side": Planted(
        f"{JUDGE}/methods.py",
        "c = np.asarray(skewness) / math.sqrt(count)",
        "c = -np.asarray(skewness) / math.sqrt(count)",
        f"{METHODS}::test_t_bounds_reach_further_on_the_side_of_the_tail",
    ),
    "an interval of width zero from equal values": Planted(
        f"{JUDGE}/methods.py",
        "count < 2 or (spread := float(np.ptp(values))) <= 1e-12 * np.abs(values).max():",
        "count < 2 or math.isnan(spread := float(np.ptp(values))):",
        f"{METHODS}::test_a_sample_without_variation_gives_no_t_interval",
    ),
    "no average over stakes": Planted(
        f"{JUDGE}/methods.py",
        "float(np.exp(logs - top).mean())",
        "float(np.exp(logs - top).sum())",
        f"{METHODS}::test_wealth_is_an_average_over_stakes_of_products",
    ),
    "bets against the mean from the wrong side": Planted(
        f"{JUDGE}/methods.py",
        "log_wealth(1 - seen, 1 - target, counts)",
        "log_wealth(1 - seen, target, counts)",
        f"{METHODS}::test_wealth_is_an_average_over_stakes_of_products",
    ),
    "observations out of their range": Planted(
        f"{JUDGE}/methods.py",
        "scaled.min() >= -1e-9 and scaled.max() <= 1 + 1e-9",
        "scaled.min() >= -1e-9",
        f"{METHODS}::test_an_observation_out_of_its_range_is_an_error",
    ),
    # Regions and verdicts.
    "an edge inverted": Planted(
        f"{JUDGE}/region.py",
        "return self.high < region.low or self.low > region.high",
        "return self.high < region.low or self.low < region.high",
        f"{UNIT}/test_region.py",
    ),
    "support from one edge alone": Planted(
        f"{JUDGE}/region.py",
        "return region.low <= self.low and self.high <= region.high",
        "return region.low <= self.low",
        f"{UNIT}/test_region.py",
    ),
    "support by the simultaneous interval, refutation by the single one": Planted(
        f"{JUDGE}/region.py",
        "if self.interval.disjoint(self.region):",
        "if self.bounds.disjoint(self.region):",
        f"{UNIT}/test_region.py",
    ),
    "support though a component is open": Planted(
        f"{JUDGE}/region.py",
        "    if Verdict.INCONCLUSIVE in verdicts:\n        return Verdict.INCONCLUSIVE\n",
        "",
        f"{STOPPING}::test_support_takes_every_component_and_refutation_one",
    ),
    # Shares of alpha.
    "no Bonferroni share in rules about means": Planted(
        f"{RULES}/base.py",
        "method.bounds(values, alpha / (2 * of))",
        "method.bounds(values, alpha / 2)",
        SIMULTANEOUS,
    ),
    "one side's share for both": Planted(
        f"{RULES}/base.py",
        "method.bounds(values, alpha / (2 * of))",
        "method.bounds(values, alpha / of)",
        SIMULTANEOUS,
    ),
    "support at twice its level": Planted(
        f"{RULES}/base.py",
        "        method.bounds(values, alpha),\n",
        "        method.bounds(values, 2 * alpha),\n",
        SIMULTANEOUS,
    ),
    "no Bonferroni share in exponents": Planted(
        f"{RULES}/exponents.py",
        "alpha / (2 * len(names))",
        "alpha / 2",
        SIMULTANEOUS,
    ),
    "no share for the points of a map": Planted(
        f"{RULES}/winner_share.py",
        "alpha / len(evidence)",
        "alpha",
        f"{STOPPING}::test_a_winner_is_confirmed_at_alpha_over_points_and_contradicted_by_any_rival",
    ),
    "no share for rivals": Planted(
        f"{RULES}/winner_share.py",
        "alpha / len(rivals)",
        "alpha",
        f"{STOPPING}::test_a_winner_is_confirmed_at_alpha_over_points_and_contradicted_by_any_rival",
    ),
    "no Bonferroni share in a ladder rule": Planted(
        f"{RULES}/critical.py",
        "strict, result = alpha / (2 * len(found)), []",
        "strict, result = alpha, []",
        f"{STOPPING}::test_a_location_is_refuted_at_alpha_over_twice_the_ladders",
    ),
    "ladders share nothing in exponents": Planted(
        f"{RULES}/critical.py",
        "each = alpha / len(found)",
        "each = alpha",
        f"{LADDERS}::test_the_levels_of_exponents_are_shared",
    ),
    "looks cost a t rule nothing": Planted(
        f"{RULES}/base.py",
        "return alpha if self.exact else alpha / looks",
        "return alpha",
        f"{STOPPING}::test_an_exact_rule_looks_often_and_pays_nothing_for_it",
    ),
    "a paper's slots cost nothing": Planted(
        f"{JUDGE}/budget.py",
        "paper.share / paper.slots",
        "paper.share",
        f"{STOPPING}::test_alpha_is_the_claims_share_whatever_is_selected",
    ),
    # Ladders.
    "a target fixed at one half": Planted(
        f"{RULES}/critical.py",
        "log_wealths(s[self.observable], self.target)",
        "log_wealths(s[self.observable], 0.5)",
        f"{STOPPING}::test_the_target_of_a_ladder_is_the_rules_own",
    ),
    "rungs tested without an order": Planted(
        f"{RULES}/critical.py",
        "            if not below[i]:\n                break\n            high = self.rungs[i]",
        "            if not below[i]:\n                continue\n            high = self.rungs[i]",
        f"{LADDERS}::test_rungs_count_from_the_outermost_until_the_first_that_fails",
    ),
    "a falling rate taken for a rising one": Planted(
        f"{RULES}/critical.py",
        "return [wealth[self.rising] >=",
        "return [wealth[True] >=",
        f"{LADDERS}::test_a_location_is_judged_by_its_edges",
    ),
    # Identities and shares.
    "errors that are never negative": Planted(
        f"{RULES}/one_sided.py",
        "float(abs(sample[self.observable]).max())",
        "float(sample[self.observable].max())",
        f"{STOPPING}::test_an_identity_sees_errors_of_either_sign",
    ),
    # Runs.
    "a block counted twice": Planted(
        RUN,
        "results[cell.id, block].observations for",
        "results[cell.id, blocks.start].observations for",
        f"{STOPPING}::test_replicates_of_different_blocks_differ",
    ),
    "a component that is judged anew": Planted(
        LOOKS,
        "tuple(settled.get(c.name, c) for c in parts(claim))",
        "parts(claim)",
        f"{STOPPING}::test_a_component_stays_as_it_was_decided",
    ),
    "a component that is never judged": Planted(
        LOOKS,
        "for c in parts(claim)),",
        "for c in parts(claim)[:1]),",
        f"{STOPPING}::test_support_takes_every_component_and_refutation_one",
    ),
    "all cells draw though one is decided": Planted(
        LOOKS,
        "open_cells = drawn if look.decision is None else look.decision.open_cells",
        "open_cells = drawn",
        f"{STOPPING}::test_a_cell_that_is_decided_draws_no_more",
    ),
    "controls that need not be refuted": Planted(
        LOOKS,
        "if self.on_region is Verdict.SUPPORTED and self.unrefuted:",
        "if False:",
        f"{UNIT}/test_run.py::test_a_control_that_survives_forbids_support",
    ),
    "a control skipped": Planted(
        LOOKS,
        "for c in claim.controls},",
        "for c in claim.controls[1:]},",
        f"{UNIT}/test_run.py::test_a_control_that_survives_forbids_support",
    ),
    "a region that may move": Planted(
        "declare/registration.py",
        '"rule": _plain(claim.rule, f"the rule of claim {claim.id}"),',
        '"rule": None,',
        f"{FAULTS}/test_registration.py",
    ),
    "a formula that may change": Planted(
        "declare/registration.py",
        "None if predict is None else [_predicted(predict(c)) for c in cells],",
        "None,",
        f"{FAULTS}/test_registration.py",
    ),
    "explored evidence that passes": Planted(
        "plugin/item.py",
        "if outcome.explored:",
        "if False:",
        f"{FAULTS}/test_registration.py::test_old_evidence_explores_and_decides_nothing",
    ),
    "skipping what is refuted": Planted(
        "plugin/item.py",
        'if verdict is Verdict.INCONCLUSIVE and session.inconclusive == "skip":',
        'if session.inconclusive == "skip":',
        f"{FAULTS}/test_exit_status.py::test_status",
    ),
    "expected to be refuted, and content with undecided": Planted(
        "recording.py",
        "return claim.exploratory or verdict == claim.expected",
        'return claim.exploratory or (verdict == "SUPPORTED") == (claim.expected == "SUPPORTED")',
        f"{FAULTS}/test_exit_status.py"
        "::test_a_claim_expected_to_be_refuted_fails_while_it_is_undecided",
    ),
    # Time limits.
    "a look that time cut, judged as it is": Planted(
        RUN,
        "if self._late and not self.missing:",
        "if self._late > 1 and not self.missing:",
        f"{UNIT}/test_run.py::test_a_block_that_would_end_too_late_does_not_begin",
    ),
    "a block begun too late": Planted(
        "evidence/simulate.py",
        "task.latest is not None and time.time() > task.latest",
        "task.latest is None",
        f"{UNIT}/test_run.py::test_a_block_that_would_end_too_late_does_not_begin",
    ),
    # Many claims in flight.
    "the last claim before the one that is waited for": Planted(
        "evidence/scheduler.py",
        "if self._sendable(first):",
        "if self._sendable(first) and not self._later and not self._ready:",
        f"{UNIT}/test_scheduler.py"
        "::test_whoever_is_waited_for_goes_first_and_then_the_longest_path",
    ),
    "the shortest path first": Planted(
        "evidence/scheduler.py",
        "(-one.path, next(self._numbers), one)",
        "(one.path, next(self._numbers), one)",
        f"{UNIT}/test_scheduler.py"
        "::test_whoever_is_waited_for_goes_first_and_then_the_longest_path",
    ),
    "a dead worker's blocks all run again at once": Planted(
        "evidence/scheduler.py",
        "if self._suspects or serial:",
        "if serial:",
        f"{UNIT}/test_scheduler.py"
        "::test_a_worker_that_dies_fails_the_claim_that_kills_it_and_no_other",
    ),
    # Streams and keys.
    "the seed left out of a stream": Planted(
        "evidence/seeds.py",
        "entropy=suite_seed",
        "entropy=0",
        f"{STOPPING}::test_shared_streams_name_seed_claim_registration_cell_and_block",
    ),
    "the cell left out of a stream": Planted(
        "evidence/seeds.py",
        "\\0{cell_id}",
        "",
        f"{STOPPING}::test_shared_streams_name_seed_claim_registration_cell_and_block",
    ),
    "the block left out of a stream": Planted(
        "evidence/seeds.py",
        "(*words, block)",
        "(*words, 0)",
        f"{STOPPING}::test_shared_streams_name_seed_claim_registration_cell_and_block",
    ),
    # Hunts.
    "confirmations that all have one level": Planted(
        "hunt/tables.py",
        "(math.pi * number) ** 2",
        "math.pi**2",
        f"{HUNT}::test_confirmations_share_one_error_probability",
    ),
    "a confirmation at the claim's own level": Planted(
        "hunt/campaign.py",
        "        alpha=alpha_of(number),\n",
        "",
        f"{HUNT}::test_a_violation_is_found_shrunk_and_confirmed",
    ),
    "a confirmation on the same draws": Planted(
        "hunt/campaign.py",
        'f"hunt {number} {probe.key}"',
        "TIER",
        f"{HUNT}::test_a_confirmation_draws_afresh",
    ),
    "a regime that lets every cell in": Planted(
        "declare/regime.py",
        "        if value in self.steps:\n            return True\n",
        "        return True\n",
        f"{HUNT}::test_the_grid_has_to_lie_in_the_regime",
    ),
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The library, to be falsified."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(LIBRARY, tmp_path / "recall_claims", ignore=ignored))


def outcome(copy: Path, test: str) -> Result:
    """How a test ends on a copy of the library."""
    paths = [str(copy.parent), str(ROOT / "reports"), str(ROOT)]
    # What other code leaves to the garbage collector, such as an open folder, is not looked for.
    left_out = ("-p", "no:cacheprovider", "-p", "no:unraisableexception")
    options = ("-x", "-q", *left_out, "-n0", test)
    return run_pytest(ROOT, options, {**os.environ, "PYTHONPATH": os.pathsep.join(paths)})


@pytest.mark.parametrize("name", PLANTED)
def test_an_error_in_the_engine_is_noticed(name: str, copy: Path) -> None:
    planted = PLANTED[name]
    file = copy / planted.file
    text = file.read_text(encoding="utf-8")
    assert text.count(planted.right) == 1, f"{planted.file} has no such line any more"
    file.write_text(text.replace(planted.right, planted.wrong), encoding="utf-8")
    done = outcome(copy, planted.test)
    assert done.status == 1, f"{planted.test} noticed nothing:\n{done.text[-2000:]}"
    assert "1 failed" in done.text, done.text[-2000:]


def test_no_error_is_seen_in_a_faithful_copy(copy: Path) -> None:
    done = outcome(copy, f"{METHODS}::test_t_bounds_run_at_half_their_level")
    assert done.status == 0, done.text
