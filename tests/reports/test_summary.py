"""The outcome in one sentence, and what stands under it."""

from typing import Any

import pytest

from recall_reports import summary, words
from recall_reports.record import Record


def _report(*states: str) -> dict[str, Any]:
    """Claims by letter: supported, refuted, declared, inconclusive, skipped, not run, error."""
    kinds = {
        "s": ("DECIDED", "SUPPORTED", "SUPPORTED", "passed"),
        "r": ("DECIDED", "REFUTED", "SUPPORTED", "failed"),
        "d": ("DECIDED", "REFUTED", "REFUTED", "passed"),
        "i": ("DECIDED", "INCONCLUSIVE", "SUPPORTED", "failed"),
        "k": ("DECIDED", "INCONCLUSIVE", "SUPPORTED", "skipped"),
        "n": ("NOT RUN", None, "SUPPORTED", "skipped"),
        "e": ("ERROR", None, "SUPPORTED", "failed"),
        "S": ("DECIDED", "SURVIVES", "SUPPORTED", "passed"),
        "B": ("DECIDED", "BREAKS", "SUPPORTED", "passed"),
        "I": ("DECIDED", "INCONCLUSIVE", "SUPPORTED", "passed"),
    }
    keys = ("state", "verdict", "expected", "outcome")
    claims = [
        {
            "id": str(i),
            "reason": s,
            "exploratory": s.isupper(),
            **dict(zip(keys, kinds[s], strict=True)),
        }
        for i, s in enumerate(states)
    ]
    return {"claims": claims, "statements": []}


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
        ("nn", "No claim was decided: 2 NOT RUN."),
        ("sBS", "The one claim passes: 1 SUPPORTED. Beyond the theorems: 1 SURVIVES and 1 BREAKS."),
        ("I", "Beyond the theorems: 1 INCONCLUSIVE."),
    ],
)
def test_sentence(states: str, sentence: str) -> None:
    assert summary.sentence(_report(*states)) == sentence


def test_attention_puts_failures_first_and_leaves_out_what_passed() -> None:
    found = summary.attention(_report(*"snrdknee"))
    names = ["".join(claim["id"] for claim in entry) for entry in found]
    assert names == ["2", "6", "7", "15", "4"]


def test_statements_carry_their_claims() -> None:
    report = _report("s", "r")
    report["statements"] = [
        {"id": "A1", "text": "", "provenance": "stated", "claims": ["1", "0"]},
        {"id": "A2", "text": "", "provenance": "stated", "claims": []},
    ]
    found = summary.statements(report)
    assert [claim["verdict"] for claim in found[0]["claims"]] == ["REFUTED", "SUPPORTED"]
    assert found[1]["claims"] == []


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["SUPPORTED", "SUPPORTED"], "SUPPORTED"),
        (["SUPPORTED", "as declared"], "SUPPORTED"),
        (["as declared"], "REFUTED"),
        (["SUPPORTED", "INCONCLUSIVE", "NOT RUN"], "INCONCLUSIVE"),
        (["SUPPORTED", "INCONCLUSIVE", "REFUTED"], "REFUTED"),
        (["REFUTED", "ERROR"], "ERROR"),
        (["SUPPORTED", "NOT RUN", "BREAKS"], "SUPPORTED"),
        (["NOT RUN"], "NOT RUN"),
        (["BREAKS", "BREAKS"], "BREAKS"),
        (["BREAKS", "SURVIVES"], "exploratory"),
        ([], "no claim"),
    ],
)
def test_combined_state_is_the_worst_on_theorems(verdicts: list[str], expected: str) -> None:
    claims = []
    for verdict in verdicts:
        ran = verdict not in ("NOT RUN", "ERROR")
        claims.append(
            {
                "state": "DECIDED" if ran else verdict,
                "verdict": "REFUTED" if verdict == "as declared" else verdict if ran else None,
                "expected": "REFUTED" if verdict == "as declared" else "SUPPORTED",
                "exploratory": verdict in ("BREAKS", "SURVIVES"),
            }
        )
    assert summary.combined(claims) == expected


def test_claims_of_one_verdict_and_provenance_are_together(report: Record) -> None:
    found = summary.alike(report["claims"])
    assert sum(map(len, found)) == len(report["claims"])
    keys = [{(words.label(c), c["provenance"]) for c in group} for group in found]
    assert all(len(key) == 1 for key in keys)
    assert len({next(iter(key)) for key in keys}) == len(found)
