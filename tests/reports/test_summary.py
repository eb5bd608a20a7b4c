"""The outcome in one sentence, and what stands under it."""

import re

import pytest

from recall_reports import phrases, summary
from recall_reports.record import Record
from tests.reports import builders, sample


def _report(*states: str) -> Record:
    """Claims by letter: supported, refuted, declared, inconclusive, skipped, not run, error."""
    kinds = {
        "s": ("DECIDED", "SUPPORTED", "SUPPORTED", "passed"),
        "r": ("DECIDED", "REFUTED", "SUPPORTED", "failed"),
        "d": ("DECIDED", "REFUTED", "REFUTED", "passed"),
        "i": ("DECIDED", "INCONCLUSIVE", "SUPPORTED", "failed"),
        "k": ("DECIDED", "INCONCLUSIVE", "SUPPORTED", "skipped"),
        "n": ("NOT RUN", None, "SUPPORTED", "skipped"),
        "x": ("EXPLORED", None, "SUPPORTED", "skipped"),
        "e": ("ERROR", None, "SUPPORTED", "failed"),
        "S": ("DECIDED", "SURVIVES", "SUPPORTED", "passed"),
        "B": ("DECIDED", "BREAKS", "SUPPORTED", "passed"),
        "I": ("DECIDED", "INCONCLUSIVE", "SUPPORTED", "passed"),
    }
    report = sample.record()
    parts = sample.all_tokens().components
    report.claims = []
    for index, letter in enumerate(states):
        state, verdict, expected, outcome = kinds[letter]
        report.claims.append(
            builders.claim(
                str(index),
                letter,
                parts,
                state=state,
                verdict=verdict,
                expected=expected,
                outcome=outcome,
                reason=letter,
                exploratory=letter.isupper(),
            )
        )
    return report


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        ("", "No claim was selected."),
        ("s", "The one claim passes: 1 SUPPORTED."),
        ("ss", "All 2 claims pass: 2 SUPPORTED."),
        ("sd", "All 2 claims pass: 1 SUPPORTED and 1 REFUTED as declared."),
        ("sr", "1 of 2 claims fails: 1 SUPPORTED and 1 REFUTED."),
        ("sie", "2 of 3 claims fail: 1 SUPPORTED, 1 INCONCLUSIVE and 1 ERROR."),
        ("sk", "No claim fails, 1 of 2 claims undecided: 1 SUPPORTED and 1 INCONCLUSIVE."),
        ("sn", "No claim fails, 1 of 2 claims not run: 1 SUPPORTED and 1 NOT RUN."),
        ("sx", "No claim fails, 1 of 2 claims explored: 1 SUPPORTED and 1 EXPLORED."),
        ("sxn", "No claim fails, 2 of 3 claims undecided: 1 SUPPORTED, 1 EXPLORED and 1 NOT RUN."),
        ("nn", "No claim was decided: 2 NOT RUN."),
        ("sBS", "The one claim passes: 1 SUPPORTED. Beyond the theorems: 1 SURVIVES and 1 BREAKS."),
        ("I", "Beyond the theorems: 1 INCONCLUSIVE."),
    ],
)
def test_sentence_and_headline(states: str, sentence: str) -> None:
    """A headline is one line: what is beyond the theorems, or not decided, is left to the rest."""
    assert summary.sentence(_report(*states)) == sentence
    line = re.sub(r"(?<=[.]) Beyond.*|, \d of \d claims [^:]*", "", sentence)
    assert summary.headline(_report(*states)) == line


def test_a_run_that_ended_early_says_so_first() -> None:
    report = _report("s")
    report.suite.ahead = 2
    told = "INTERRUPTED, 1 of 3 claims done; the same command goes on from the ledger."
    assert summary.sentence(report) == f"{told} The one claim passes: 1 SUPPORTED."
    assert summary.headline(report) == summary.sentence(report)


def test_the_most_telling_claim() -> None:
    """What failed, then theorems; of these constants before exponents, and the sharpest."""
    claims = _report(*"nBdsssr").claims
    claims[3].rule.scale = "exponent"
    for claim, resolution in zip(claims[3:6], (0.01, 0.2, 0.05), strict=True):
        claim.resolution = resolution
    claims[0].components = []
    order = []
    while (found := summary.telling(claims)) is not None:
        order.append(found.id)
        claims.remove(found)
    assert order == ["6", "5", "4", "3", "2", "1"]


def test_attention_puts_failures_first_and_leaves_out_what_passed() -> None:
    found = summary.attention(_report(*"snrdknee"))
    names = ["".join(claim.id for claim in entry) for entry in found]
    assert names == ["2", "6", "7", "15", "4"]


def test_statements_carry_their_claims() -> None:
    report = _report("s", "r")
    report.claims[1].source = builders.source("derived", "A3")
    entries = {entry.name: entry for entry in summary.statements(report)["A"]}
    assert [claim.id for claim in entries["A3"].claims] == ["0", "1"]
    assert [claim.id for claim in entries["A9"].claims] == ["0"]
    assert entries["A12"].claims == []


def test_assumptions_meet_theorems() -> None:
    report = _report("B", "S", "B", "B", "s")
    named = (
        ("one head: two", "plateau"),
        ("frozen: learned", "plateau"),
        ("one head: two", "order"),
    )
    for claim, relaxes in zip(report.claims, named, strict=False):
        claim.relaxes = relaxes
    found = summary.assumptions(report.claims)["A"]
    ids = {
        row: {column: [claim.id for claim in claims] for column, claims in cells.items()}
        for row, cells in found.items()
    }
    assert ids == {
        "one head: two": {"plateau": ["0"], "order": ["2"]},
        "frozen: learned": {"plateau": ["1"], "order": []},
    }


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ("ss", "SUPPORTED"),
        ("sd", "SUPPORTED"),
        ("d", "REFUTED"),
        ("sin", "INCONCLUSIVE"),
        ("sir", "REFUTED"),
        ("re", "ERROR"),
        ("snB", "SUPPORTED"),
        ("n", "NOT RUN"),
        ("sx", "SUPPORTED"),
        ("xn", "EXPLORED"),
        ("BB", "BREAKS"),
        ("BS", "exploratory"),
        ("", "no claim"),
    ],
)
def test_combined_state_is_the_worst_on_theorems(states: str, expected: str) -> None:
    assert summary.combined(_report(*states).claims) == expected


def test_groups_are_named_by_room_and_subject(report: Record) -> None:
    report.claims[0].file = "claims/attention_mlp/test_noise_scaling.py"
    report.claims[1].file = "test_signal.py"
    names = list(summary.groups(report.claims[:3]))
    assert names == [
        "Paper A: attention MLP, noise scaling",
        "Paper A: signal",
        "Paper A: claims, sample",
    ]


def test_claims_of_one_verdict_and_provenance_are_together(report: Record) -> None:
    found = summary.alike(report.claims)
    assert sum(map(len, found)) == len(report.claims)
    keys = [{(phrases.label(c), c.source.provenance) for c in group} for group in found]
    assert all(len(key) == 1 for key in keys)
    assert len({next(iter(key)) for key in keys}) == len(found)


def test_claims_are_counted_by_what_they_test_and_pilots_apart() -> None:
    report = _report(*"srsdSss")
    stated, reported, *_, pilot, last = report.claims
    stated.source, reported.source = builders.source("stated"), builders.source("reported")
    pilot.from_pilot = True
    assert [kind.sentence for kind in summary.kinds(report)] == [
        "Statements as published: 1 claim, 1 SUPPORTED.",
        "Statements as reviewers or readers report them: 1 claim, 1 REFUTED.",
        "Our own derivations: 3 claims, 2 SUPPORTED and 1 REFUTED as declared.",
        "Regions that only reproduce a pilot run, counted here alone: 1 claim, 1 SUPPORTED.",
    ]
    assert last in summary.kinds(report)[2].claims


def test_explored_claims_of_one_reason_are_one_entry() -> None:
    report = _report(*"xxn")
    for claim in report.claims:
        claim.reason = "the same"
    assert [len(entry) for entry in summary.attention(report)] == [2, 1]
