"""The record is checked when written and read, and writing never destroys what was there."""

import errno
import math
import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from recall_reports import files
from recall_reports.errors import ReportError
from recall_reports.files import dump, load, validated
from recall_reports.record import Confirmed, Hunt, Range, Record
from recall_reports.values import Verdict


def test_sample_is_valid(report: Record) -> None:
    assert validated(report) == report


def test_round_trip(tmp_path: Path, report: Record) -> None:
    path = dump(report, tmp_path / "deep" / "report.json")
    assert load(path) == report


class Name(str):
    """A claim's id that counts with how many others it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def test_claims_are_not_compared_each_with_each(report: Record) -> None:
    report.claims = [replace(report.claims[0], id=Name(f"A.{n}")) for n in range(300)]
    assert files._inconsistency(report) is None
    assert Name.compared < 1000  # each with each: 44,850


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (["claims", 0, "verdict"], "VERIFIED", "claims[0].verdict (claim A.gradient-identity)"),
        (["claims", 0, "verdict"], None, "claims[0] (claim A.gradient-identity): verdict None"),
        (["claims", 14, "verdict"], "SUPPORTED", "claims[14] (claim A.scale): verdict SUPPORTED"),
        (["claims", 14, "outcome"], "passed", "claims[14] (claim A.scale): outcome 'passed'"),
        (["claims", 0, "verdict"], "SURVIVES", "verdict SURVIVES of a claim on a theorem"),
        (["claims", 0, "exploratory"], True, "verdict SUPPORTED of an exploratory claim"),
        (["claims", 1, "components"], [], "claims[1] (claim A.trigger-signal): headline 0 of 0"),
        (["claims", 1, "id"], "A.gradient-identity", "a second claim of this name"),
        (["claims", 1, "id"], "no spaces", "claims[1].id"),
        (["claims", 1, "components", 2, "interval"], [2.0, 1.0], "the lower bound 2.0 exceeds"),
        (["claims", 1, "components", 2, "interval"], [2.0], "claims[1].components[2].interval"),
        (["claims", 1, "resolution"], float("nan"), "claims[1].resolution (claim A.trigger"),
        (["claims", 1, "cells", 3, "observed"], float("inf"), "claims[1].cells[3].observed"),
        (["claims", 1, "controls", 0, "verdict"], "FALSE", "claims[1].controls[0].verdict"),
        (["claims", 1, "plot", "kind"], "pie", "claims[1].plot"),
        (["claims", 1, "source", "paper"], "Z", "claims[1].source.paper (claim A.trigger-signal)"),
        (["claims", 16, "outcome"], "passed", "(claim A.explored): outcome 'passed' of a claim"),
        (["claims", 16, "outcome"], "failed", "outcome 'failed' of a claim in state EXPLORED"),
        (["claims", 16, "verdict"], "SUPPORTED", "verdict SUPPORTED of a claim in state EXPLORED"),
        (["claims", 16, "components"], [], "(claim A.explored): headline 0 of 0 components"),
        (["suite", "error_budget", "papers", "B", "share"], 0.9, "shares add up to 1.5"),
        (["suite", "error_budget", "papers"], {}, "'A' has no share of the error budget"),
        (["suite", "seconds"], -1, "suite.seconds"),
        (["suite", "error_budget", "probability"], 2, "suite.error_budget.probability"),
        (["papers", 0, "statements", 0, "rests_on"], ["A0"], "'A0' is not among them"),
    ],
)
def test_error_names_place(report: Record, path: list[Any], value: Any, place: str) -> None:
    plain = msgspec.to_builtins(report)
    part = plain
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(ReportError) as raised:
        validated(plain)
    assert place in str(raised.value)
    assert "pytest claims/" in str(raised.value)


# Claim 1 is SUPPORTED with two controls, 7 REFUTED, 3 INCONCLUSIVE, 15 an ERROR, 16 EXPLORED.
@pytest.mark.parametrize(
    ("claim", "edits", "place"),
    [
        (
            1,
            {"components.0.verdict": "REFUTED"},
            "components[0]: REFUTED where its figures say SUP",
        ),
        (1, {"components.0.region": [None, None]}, "components[0].region: without any end"),
        (1, {"components.0.region": [2, 3]}, "components[0]: SUPPORTED where its figures say REF"),
        (1, {"components.0.one_sided": [0.9, 1.1]}, "components[0]: SUPPORTED where its"),
        (1, {"components.0.interval": [None, None], "components.0.one_sided": [None, None]}, "INC"),
        (1, {"verdict": "REFUTED", "outcome": "failed"}, "verdict: REFUTED where components and"),
        (1, {"verdict": "INCONCLUSIVE", "outcome": "failed"}, "verdict: INCONCLUSIVE where"),
        (1, {"components": []}, "headline 0 of 0 components"),
        (1, {"controls": []}, "controls: the cells have predictions of no-excess, no-length"),
        (0, {"controls": []}, "controls: a claim on a theorem has at least one"),
        (1, {"controls.1.id": "no-excess"}, "controls: two of one name"),
        (1, {"controls.0.verdict": None}, "controls[0]: not tried"),
        (1, {"controls.0.interval": None}, "controls[0]: not tried"),
        (1, {"controls.0.verdict": "INCONCLUSIVE"}, "controls[0]: INCONCLUSIVE where its figures"),
        (1, {"controls.0.region": [1, 2]}, "controls[0]: REFUTED where its figures"),
        (1, {"controls.0.region": [None, None]}, "controls[0]: REFUTED where its figures"),
        (1, {"alpha": 1}, "alpha: 1.0 is no part of the 4e-06 that it may spend"),
        (1, {"alpha": 0}, "alpha: 0.0 is no part"),
        (1, {"alpha": None}, "alpha: None is no part"),
        (1, {"replicates": 10**9}, "replicates: 1000000000 are not those of the cells"),
        (1, {"outcome": "skipped"}, "outcome: 'skipped' with verdict SUPPORTED"),
        (1, {"expected": "REFUTED"}, "outcome: 'passed' with verdict SUPPORTED, where it expects"),
        (1, {"expected": "REFUTED", "outcome": "failed"}, "explanation: a claim that is expected"),
        (7, {"verdict": "SUPPORTED", "outcome": "passed"}, "verdict: SUPPORTED where components"),
        (7, {"outcome": "passed"}, "outcome: 'passed' with verdict REFUTED"),
        (7, {"components.0.verdict": "SUPPORTED"}, "components[0]: SUPPORTED where its figures"),
        (3, {"verdict": "SUPPORTED", "outcome": "passed"}, "verdict: SUPPORTED where components"),
        (3, {"components.0.verdict": "SUPPORTED"}, "components[0]: SUPPORTED where its figures"),
        (13, {"verdict": "SUPPORTED", "outcome": "passed"}, "verdict: SUPPORTED where components"),
        (15, {"components": "those of 1"}, "components: evidence of a claim in state ERROR"),
        (16, {"controls.0.verdict": "SUPPORTED"}, "controls[0]: SUPPORTED where its figures"),
        (17, {"verdict": "BREAKS"}, "verdict: BREAKS where components and controls say SUPPORTED"),
        (18, {"verdict": "SURVIVES"}, "verdict: SURVIVES where components and controls say REF"),
    ],
)
def test_what_cannot_be_true_together_is_refused(
    report: Record, claim: int, edits: dict[str, Any], place: str
) -> None:
    plain = msgspec.to_builtins(report)
    for path, value in edits.items():
        *above, last = [int(key) if key.isdecimal() else key for key in path.split(".")]
        part = plain["claims"][claim]
        for key in above:
            part = part[key]
        part[last] = plain["claims"][1]["components"] if value == "those of 1" else value
    with pytest.raises(ReportError) as raised:
        validated(plain)
    message = re.sub(r" \(claim [^)]*\)", "", str(raised.value))
    assert message.startswith(f"invalid record: claims[{claim}]")
    assert place in message


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.REFUTED])
def test_figures_that_a_run_may_have(report: Record, verdict: Verdict) -> None:
    """A control whose every ratio is infinite; a claim that an earlier hunt has refuted."""
    claim = report.claims[1]
    control = claim.controls[0]
    control.verdict, control.estimate, control.interval = verdict, None, Range(None, None)
    claim.verdict, claim.outcome = "REFUTED", "failed"
    claim.hunt = Hunt(confirmed=Confirmed(params={}, number=1, alpha=1e-4))
    assert validated(report) == report


def test_an_open_end_is_infinite() -> None:
    for ends in ((-math.inf, 3.0), (-1.0, math.inf), (-math.inf, math.inf), (1.0, 2.0)):
        assert Range.of(*ends).ends == ends
    assert Range.of(-math.inf, 3.0) == Range(None, 3.0)


def test_a_budget_is_what_its_parts_make(report: Record) -> None:
    report.suite.error_budget.papers["A"].per_claim = 0.1
    with pytest.raises(ReportError, match=r"papers.*A.*per_claim"):
        validated(report)


@pytest.mark.parametrize("key", ["schema", "suite", "claims", "papers"])
def test_missing_part(report: Record, key: str) -> None:
    plain = msgspec.to_builtins(report)
    del plain[key]
    with pytest.raises(ReportError, match=key if key != "schema" else "None"):
        validated(plain)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not a JSON record"),
        (b"", "not a JSON record"),
        (b"\xff\xfe\x00", "not a JSON record"),
        (b"[1, 2]", "format None"),
        (b'{"schema": "recall-claims/2"}', "reads 'recall-claims/3': run `pytest claims/` for a n"),
        (b'{"schema": "recall-claims/3"}', "missing required field `suite`"),
        (None, "no such file; run `pytest claims/`"),
        ("a folder", "cannot be read"),
    ],
)
def test_load_unusable(tmp_path: Path, content: bytes | str | None, message: str) -> None:
    path = tmp_path / "report.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        path.mkdir()
    with pytest.raises(ReportError) as raised:
        load(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


def test_what_rests_on_nothing_known_or_on_itself(report: Record) -> None:
    first, second = report.derivations[:2]
    second.rests_on = ["nothing"]
    with pytest.raises(ReportError, match=r"derivations\[1\].rests_on: 'nothing' is not among"):
        validated(report)
    first.rests_on, second.rests_on = [second.module], [first.module]
    with pytest.raises(ReportError, match="rest on one another in a circle"):
        validated(report)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_full_disk_keeps_previous(
    tmp_path: Path, report: Record, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = dump(report, tmp_path / "report.json")
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    report.suite.seed = 1
    with pytest.raises(ReportError, match=r"No space left on device.*unchanged"):
        dump(report, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_invalid_record_is_not_written(tmp_path: Path, report: Record) -> None:
    report.claims[0].verdict = None
    with pytest.raises(ReportError):
        dump(report, tmp_path / "report.json")
    assert not list(tmp_path.iterdir())


def test_a_record_may_gain_keys(report: Record) -> None:
    plain = msgspec.to_builtins(report)
    plain["claims"][0]["notes"] = ["new in a later release"]
    assert validated(plain) == report
