"""The record is checked when written and read, and writing never destroys what was there."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from recall_reports import record
from recall_reports.errors import ReportError
from tests.reports import sample


@pytest.mark.parametrize("tier", ["smoke", "standard"])
def test_sample_is_valid(tier: str) -> None:
    record.validate(sample.record(tier))


def test_round_trip(tmp_path: Path, report: record.Record) -> None:
    path = record.dump(report, tmp_path / "deep" / "report.json")
    assert record.load(path) == report


def _set(report: Any, path: list[Any], value: Any) -> None:
    for key in path[:-1]:
        report = report[key]
    report[path[-1]] = value


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (["claims", 0, "verdict"], "VERIFIED", "claims[0].verdict (claim A.gradient-identity)"),
        (["claims", 0, "verdict"], None, "claims[0].verdict"),
        (["claims", 14, "verdict"], "SUPPORTED", "claims[14].verdict (claim A.scale)"),
        (["claims", 14, "outcome"], "passed", "claims[14].outcome"),
        (["claims", 0, "verdict"], "SURVIVES", "claims[0].verdict"),
        (["claims", 0, "exploratory"], True, "claims[0].verdict"),
        (["claims", 1, "components"], [], "claims[1].components"),
        (["claims", 1, "id"], "A.gradient-identity", "a second claim of this name"),
        (["claims", 1, "id"], "no spaces", "claims[1].id"),
        (["claims", 1, "interval"], [2.0, 1.0], "the lower bound 2.0 exceeds"),
        (["claims", 1, "interval"], [2.0], "claims[1].interval"),
        (["claims", 1, "estimate"], float("nan"), "claims[1].estimate (claim A.trigger-signal)"),
        (["claims", 1, "cells", 3, "observed"], float("inf"), "claims[1].cells[3].observed"),
        (["claims", 1, "controls", 0, "verdict"], "FALSE", "claims[1].controls[0].verdict"),
        (["claims", 1, "plot", "kind"], "pie", "claims[1].plot"),
        (["suite", "seconds"], -1, "suite.seconds"),
        (["suite", "error_budget", "probability"], 2, "suite.error_budget.probability"),
        (["statements", 0, "claims"], ["A.unknown"], "'A.unknown' is not a claim"),
    ],
)
def test_error_names_place(report: record.Record, path: list[Any], value: Any, place: str) -> None:
    _set(report, path, value)
    with pytest.raises(ReportError) as raised:
        record.validate(report)
    assert place in str(raised.value)
    assert "pytest claims/" in str(raised.value)


@pytest.mark.parametrize("key", ["schema", "suite", "claims", "statements"])
def test_missing_part(report: record.Record, key: str) -> None:
    del report[key]
    with pytest.raises(ReportError, match=key if key != "schema" else "None"):
        record.validate(report)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not a JSON record"),
        (b"", "not a JSON record"),
        (b"\xff\xfe\x00", "not a JSON record"),
        (b"[1, 2]", "format None"),
        (b'{"schema": "recall-claims/2"}', "reads 'recall-claims/1'"),
        (b'{"schema": "recall-claims/1"}', "'suite' is a required property"),
    ],
)
def test_load_unusable(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(ReportError) as raised:
        record.load(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("kind", ["statements", "derivations"])
def test_what_rests_on_nothing_known_or_on_itself(report: record.Record, kind: str) -> None:
    first, second = report[kind][:2]
    second["rests_on"] = ["nothing"]
    with pytest.raises(ReportError, match=rf"{kind}\[1\].rests_on: 'nothing' is not among"):
        record.validate(report)
    first["rests_on"], second["rests_on"] = [second["id"]], [first["id"]]
    with pytest.raises(ReportError, match="rest on one another in a circle"):
        record.validate(report)


def test_load_missing(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no such file; run `pytest claims/`"):
        record.load(tmp_path / "report.json")


def test_load_directory(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="cannot be read"):
        record.load(tmp_path)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_full_disk_keeps_previous(
    tmp_path: Path, report: record.Record, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = record.dump(report, tmp_path / "report.json")
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    report["suite"]["seed"] = 1
    with pytest.raises(ReportError, match=r"No space left on device.*unchanged"):
        record.dump(report, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_invalid_record_is_not_written(tmp_path: Path, report: record.Record) -> None:
    report["claims"][0]["state"] = "MAYBE"
    with pytest.raises(ReportError):
        record.dump(report, tmp_path / "report.json")
    assert not list(tmp_path.iterdir())


def test_growth_is_allowed_where_the_schema_says_so(report: record.Record) -> None:
    report["suite"]["git_commit"] = "abc"
    report["claims"][0]["notes"] = ["new in a later release"]
    record.validate(report)


def test_file_is_plain_json(tmp_path: Path, report: record.Record) -> None:
    text = record.dump(report, tmp_path / "report.json").read_text(encoding="utf-8")

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    json.loads(text, parse_constant=refuse)
