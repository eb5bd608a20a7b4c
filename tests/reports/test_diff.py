"""What changed between two records."""

import copy
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall_reports import summary
from recall_reports.compare import diff
from recall_reports.compare.diff import Change
from recall_reports.files import load
from recall_reports.record import Claim, Paper, Range, Record
from tests.reports import builders

CLAIM = "A.trigger-signal"
Edit = Callable[[Claim], object]


def edited(report: Record, edit: Edit, *, seed: int = 0, tier: str = "standard") -> Record:
    """A copy of the record with one claim changed, of a run with this seed and tier."""
    new = copy.deepcopy(report)
    new.suite.seed, new.suite.tier = seed, tier
    [claim] = [claim for claim in new.claims if claim.id == CLAIM]
    edit(claim)
    return new


def move(claim: Claim, share: float) -> None:
    """Move the first component by a share of its interval's width."""
    component = claim.components[0]
    estimate, low, high = component.estimate, component.interval.low, component.interval.high
    assert estimate is not None
    assert low is not None
    assert high is not None
    step = share * (high - low)
    component.estimate, component.interval = estimate + step, Range(low + step, high + step)


def kinds(found: list[Change]) -> list[str]:
    return [change.kind for change in found]


def test_equal_records_have_no_changes(report: Record) -> None:
    assert diff.changes(report, copy.deepcopy(report)) == []


ANEW = {"registration": "fedcba9876543210"}
COARSER = {"resolution": 0.08, "seconds": 100}


@pytest.mark.parametrize(
    ("settings", "shift", "run", "expected", "note"),
    [
        ({"verdict": "REFUTED", "outcome": "failed"}, 0, {}, ["lost"], ""),
        ({"verdict": "INCONCLUSIVE", "outcome": "failed"}, 0, {}, ["lost"], ""),
        ({"state": "NOT RUN", "verdict": None, "outcome": "skipped"}, 0, {}, ["gone"], ""),
        ({"state": "NOT RUN", "verdict": None}, 0, {"tier": "smoke"}, ["edited"], "tier"),
        ({"state": "EXPLORED", "verdict": None, "outcome": "skipped"}, 0, {}, ["lost"], ""),
        # A small move is chance under another seed only, a large one under none.
        ({}, 0.3, {"seed": 1}, ["edited"], "seed"),
        ({}, 0.3, {}, ["moved"], "same seed, so not chance"),
        ({}, 1.1, {"seed": 1}, ["edited", "moved"], "beyond chance"),
        (COARSER, 0, {}, ["coarser", "slower"], ""),
        (COARSER, 0, {"tier": "full"}, ["edited"], "tier"),
        # Another registration draws fresh evidence.
        (ANEW, 0.3, {}, ["anew"], ""),
        (ANEW, 0.3, {"tier": "full"}, ["edited"], "tier"),
        (ANEW, 1.1, {}, ["anew", "moved"], "beyond chance"),
    ],
)
def test_what_a_change_is(
    report: Record,
    settings: dict[str, Any],
    shift: float,
    run: dict[str, Any],
    expected: list[str],
    note: str,
) -> None:
    def edit(claim: Claim) -> None:
        for name, value in settings.items():
            setattr(claim, name, value)
        move(claim, shift)

    new = edited(report, edit, **run)
    found = diff.changes(report, new)
    assert kinds(found) == expected
    assert note in found[-1].note
    worse = expected[0] in ("lost", "gone")
    assert diff.lost(found) == worse
    if worse:
        assert kinds(diff.changes(new, report)) == ["gained" if expected == ["lost"] else "new"]
        assert not diff.lost(diff.changes(new, report))
        assert "EXPLORED" not in settings.values() or found[0].new == "~ EXPLORED"
    if "edited" in expected:
        assert found[0].new == str(run[found[0].note])
    if "anew" in expected:
        assert (found[0].old, found[0].new) == ("0123456789abcdef", settings["registration"])


def test_claim_that_is_gone_is_lost(report: Record) -> None:
    new = copy.deepcopy(report)
    new.claims = [claim for claim in new.claims if claim.id != CLAIM]
    found = diff.changes(report, new)
    assert kinds(found) == ["gone"]
    assert diff.lost(found)
    assert kinds(diff.changes(new, report)) == ["new"]


@pytest.mark.parametrize("share", [1e-7, 4e-5])
def test_rounding_is_no_move(report: Record, share: float) -> None:
    report.suite.commit = "abcdef0123"
    new = edited(report, lambda claim: move(claim, share))
    new.suite.commit = "0123abcdef"
    assert diff.changes(report, new) == []
    assert kinds(diff.changes(report, edited(new, lambda claim: move(claim, 1e-3)))) == ["moved"]


def test_an_identity_is_as_exact_as_it_was(report: Record) -> None:
    def violated(size: float) -> Edit:
        def edit(claim: Claim) -> None:
            claim.rule.scale = "error"
            [part] = claim.components = claim.components[:1]
            part.estimate, part.interval = size, Range(size, size)
            part.region, part.one_sided = Range(None, 1e-12), Range(size, size)

        return edit

    was = edited(report, violated(8.7e-16))
    assert diff.changes(was, edited(report, violated(1.0e-15))) == []
    [change] = diff.changes(was, edited(report, violated(3e-14)))
    assert (change.kind, change.old, change.new) == ("moved", "8.7e-16", "3e-14")


def test_training_amplifies_rounding_where_nothing_else_differs(report: Record) -> None:
    new = edited(report, lambda claim: move(claim, 0.04))
    assert diff.changes(report, new) == []
    assert kinds(diff.changes(report, edited(new, lambda claim: move(claim, 0.04)))) == ["moved"]
    new.suite.versions["torch"] = "9.9"
    assert kinds(diff.changes(report, new)) == ["moved"]
    new.suite.versions = report.suite.versions
    new.suite.commit = report.suite.commit = "0123456789+"
    assert kinds(diff.changes(report, new)) == ["moved"]


def test_a_slower_processor_is_no_news(report: Record) -> None:
    new = copy.deepcopy(report)
    for index, claim in enumerate(new.claims):
        claim.seconds *= 2.2 * (1 + 0.1 * builders.wobble(index))
    assert diff.changes(report, new) == []

    def slow(claim: Claim) -> None:
        claim.seconds *= 2

    [change] = diff.changes(report, edited(new, slow))
    assert (change.kind, change.claim) == ("slower", CLAIM)
    assert "the median claim takes 2." in change.note
    for record in (report, new):  # too few to tell a slow claim from a slow processor
        record.claims = [claim for claim in record.claims if claim.id == CLAIM]
    assert diff.changes(report, edited(new, slow)) == []


def test_markdown_cannot_be_broken_by_a_reason(report: Record) -> None:
    def broken(claim: Claim) -> None:
        claim.state, claim.verdict, claim.outcome = "ERROR", None, "failed"
        claim.reason = "a | b"

    lines = diff.markdown(diff.changes(report, edited(report, broken))).splitlines()
    [row] = [line for line in lines if line.startswith("| lost")]
    assert row.replace("\\|", "").count("|") == 6


def region(low: float | None, high: float | None, *names: int) -> Edit:
    def edit(claim: Claim) -> None:
        for index, component in enumerate(claim.components):
            if not names or index in names:
                component.region = Range(low, high)

    return edit


def paper(edit: Callable[[Paper], object]) -> Callable[[Record], object]:
    return lambda record: edit(record.papers[0])


def of(edit: Edit) -> Callable[[Record], object]:
    return lambda record: edit(next(claim for claim in record.claims if claim.id == CLAIM))


def assign(path: str, value: object) -> Callable[[object], object]:
    """Set what such a path of attributes, keys and indices leads to."""

    def edit(found: Any) -> None:
        *above, last = path.split(".")
        for key in above:
            found = found[int(key)] if key.isdecimal() else getattr(found, key)
        setattr(found, last, value)

    return edit


EASY = builders.control("easy", "a thousandfold", 1000, 1, (1, 2))
PREDICTED = "prediction in 1 of 15 cells, such as vocab size = 256, length = 16, samples = 512, dim"


@pytest.mark.parametrize(
    ("edit", "where", "what", "old", "new"),
    [
        (of(region(0.5, 1.05)), CLAIM, "region", "[0.97, 1.03]", "[0.5, 1.05]"),
        (of(region(0.97, None)), CLAIM, "region", "[0.97, 1.03]", "≥ 0.97"),
        (of(region(0.97, 1.03001)), CLAIM, "region", "[0.97, 1.03]", "[0.97, 1.03001]"),
        (of(assign("rule.name", "OneSided")), CLAIM, "rule", "MeanRatio", "OneSided"),
        (of(assign("rule.scale", "error")), CLAIM, "scale", "ratio", "error"),
        (of(assign("expected", "REFUTED")), CLAIM, "expected", "SUPPORTED", "REFUTED"),
        (of(assign("exploratory", True)), CLAIM, "exploratory", "no", "yes"),
        (of(assign("source.provenance", "stated")), CLAIM, "provenance", "derived", "stated"),
        (of(assign("source.statements", ["A3"])), CLAIM, "statements", "A3, A9", "A3"),
        (of(assign("from_pilot", True)), CLAIM, "region from a pilot", "no", "yes"),
        (of(assign("tiers", ["full"])), CLAIM, "tiers", "standard, full", "full"),
        (of(assign("title", "Otherwise")), CLAIM, "title", "The trigger", "Otherwise"),
        (of(assign("regime", "Anywhere.")), CLAIM, "regime", "All cells", "Anywhere."),
        (of(assign("looks_planned", 9)), CLAIM, "looks", "4", "9"),
        (of(lambda c: c.controls.pop()), CLAIM, "controls gone", "no-length", "–"),
        (of(lambda c: c.controls.append(EASY)), CLAIM, "controls added", "–", "easy"),
        (of(assign("controls.0.region", Range(5, 6))), CLAIM, "region of control no-e", "", ""),
        (of(assign("controls.0.description", "x")), CLAIM, "control no-excess", "drops", "x"),
        (of(lambda c: c.components.pop()), CLAIM, "components gone", "cell 14", "–"),
        (of(lambda c: c.cells.pop()), CLAIM, "cells gone", "vocab size = 256", "–"),
        (of(assign("cells.0.predicted", 2.0)), CLAIM, PREDICTED, "1.625", "2"),
        (paper(assign("statements.0.text", "No.")), "paper A", "statement A3", "Cap", "No."),
        (paper(assign("statements.0.provenance", "derived")), "paper A", "prov", "stat", "deri"),
        (paper(assign("statements.1.rests_on", ["A3"])), "paper A", "what statem", "–", "A3"),
        (paper(lambda p: p.statements.pop()), "paper A", "statement A13", "The bound", "–"),
        (assign("suite.error_budget.probability", 0.5), "the run", "error budget", "0.001", "0.5"),
        (assign("suite.tier", "smoke"), "the run", "tier", "standard", "smoke"),
        (assign("suite.seed", 7), "the run", "seed", "0", "7"),
        (assign("suite.independence.chains", 1), "the run", "chains of imports", "0", "1"),
        (lambda r: budget(r, share=0.6), "paper A", "share", "0.4", "0.6"),
        (lambda r: budget(r, slots=9), "paper A", "slots", "100", "9"),
    ],
)
def test_what_a_declaration_says_otherwise_is_named(
    report: Record, edit: Callable[[Record], object], where: str, what: str, old: str, new: str
) -> None:
    after = copy.deepcopy(report)
    edit(after)
    found = [change for change in diff.changes(report, after) if change.kind == "edited"]
    [change] = [c for c in found if c.claim == where and c.note.startswith(what)]
    assert change.old.startswith(old)
    assert change.new.startswith(new)
    assert len(found) <= 2  # a cell that is gone is a control's, too
    assert "Nothing changed" not in diff.markdown(found)


def budget(record: Record, **values: float) -> None:
    for name, value in values.items():
        setattr(record.suite.error_budget.papers["A"], name, value)


def test_regions_that_differ_are_told_one_by_one_and_then_counted(report: Record) -> None:
    def some(claim: Claim) -> None:
        for index, low in enumerate((0.5, 0.5, 0.6, 0.7, 0.8, 0.9)):
            region(low, 1.03, index)(claim)

    found = diff.changes(report, edited(report, some))
    assert [change.note for change in found] == [
        "region of 2 components",
        "region of 1 components",
        "region of 1 components",
        "regions of 2 kinds more",
    ]


def test_a_long_text_is_told_from_where_it_differs(report: Record) -> None:
    long = "word " * 100

    def text(end: str) -> Edit:
        return lambda claim: setattr(claim, "statement", long + end + long)

    was = edited(report, text("holds "))
    [change] = diff.changes(was, edited(was, text("fails ")))
    assert change.old.startswith("…word word word word holds word")
    assert change.new.startswith("…word word word word fails word")
    assert len(change.new) < 130


@pytest.mark.parametrize("passes", ["expected", "exploratory"])
def test_a_claim_that_supports_no_longer_is_lost_however_it_passes(
    report: Record, passes: str
) -> None:
    def refuted(claim: Claim) -> None:
        claim.verdict = "REFUTED" if passes == "expected" else "BREAKS"
        claim.expected = "REFUTED" if passes == "expected" else "SUPPORTED"
        claim.exploratory = passes == "exploratory"

    found = diff.changes(report, edited(report, refuted))
    assert kinds(found) == ["lost", "edited"]
    assert diff.lost(found)


def test_a_claim_that_never_ran_may_not_disappear_either(report: Record) -> None:
    new = copy.deepcopy(report)
    new.claims = [claim for claim in new.claims if claim.id != "A.scale"]
    assert kinds(diff.changes(report, new)) == ["gone"]


HOSTILE = "`|` ![i](http://e.org/i.png) **Nothing changed.**\n\n| | <script>"


def test_a_comment_stays_a_table_of_text_whatever_the_records_say(report: Record) -> None:
    def hostile(claim: Claim) -> None:
        claim.registration = claim.title = claim.controls[0].description = HOSTILE
        claim.id = "www.example.org"

    before, after = edited(report, hostile), edited(report, hostile)
    edited_again = next(c for c in after.claims if c.id == "www.example.org")
    edited_again.registration = edited_again.title = "`" + HOSTILE
    found = diff.changes(before, after, ["claims/`|conftest.py", HOSTILE])
    lines = diff.markdown(found).splitlines()
    assert lines[0] == "**2 changed file; 1 edited declaration; 1 declared anew.**"
    assert len(lines) == 4 + len(found) == 8
    for line in lines[4:]:
        assert len(re.findall(r"(?<!\\)\|", line)) == 6
        assert not re.search(r"(?<!\\)(?:<|!\[|\*\*)", line)
        assert re.findall(r"(?<!\\)`[^`]*`", line) in ([], ["`www.example.org`"])


def test_a_comment_has_a_length_that_is_accepted(report: Record) -> None:
    found = diff.changes(report, report, [f"{'*' * 5000}{number}" for number in range(1000)])
    text = diff.markdown(found)
    assert len(text) < 65_536
    assert "changes more" in text


def test_committed_baseline_is_a_whole_standard_run_in_which_all_claims_pass() -> None:
    baseline = load(Path(__file__).parents[2] / "reports" / "baseline.json")
    assert baseline.suite.tier == "standard"
    left_out = [claim for claim in baseline.claims if claim.outcome != "passed"]
    assert Counter(claim.reason for claim in left_out) == {
        "the claim needs --device cuda, this run is on cpu": 1,
        "the claim has no cells in tier standard (only in full)": 3,
    }
    for entries in summary.statements(baseline).values():
        assert all(entry.claims for entry in entries)
