"""The record is checked when written and read, and writing never destroys what was there."""

import errno
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recall_reports.errors import ReportError
from recall_reports.files import dump, load, validated
from recall_reports.record import Record


def test_sample_is_valid(report: Record) -> None:
    assert validated(report) == report


def test_round_trip(tmp_path: Path, report: Record) -> None:
    path = dump(report, tmp_path / "deep" / "report.json")
    assert load(path) == report


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
        (
            b'{"schema": "recall-claims/2"}',
            "reads 'recall-claims/3': run `pytest claims/` for a new",
        ),
        (b'{"schema": "recall-claims/3"}', "missing required field `suite`"),
    ],
)
def test_load_unusable(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
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


def test_load_missing(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no such file; run `pytest claims/`"):
        load(tmp_path / "report.json")


def test_load_directory(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="cannot be read"):
        load(tmp_path)


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
