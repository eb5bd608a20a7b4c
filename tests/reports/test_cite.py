"""What cites and signs a report has what its profile and its predicate ask for."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from recall_reports import cite
from recall_reports.__main__ import main
from recall_reports.record import Record
from recall_reports.write import write
from tests.reports import golden

SCHEMA = Path(__file__).with_name("test-result.schema.json")


@pytest.fixture
def folder(tmp_path: Path, report: Record) -> Path:
    write(report, tmp_path)
    return tmp_path


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_statement_is_one_of_test_results_and_names_the_files(folder: Path) -> None:
    found = read(folder / "test-result.json")
    jsonschema.validate(found, read(SCHEMA))
    assert {s["name"]: s["digest"]["sha256"] for s in found["subject"]} == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("report.json", "report.html", "report.md", "summary.svg")
    }


@pytest.mark.parametrize(
    ("states", "result"),
    [("sdB", "PASSED"), ("sdkn", "WARNED"), ("sx", "WARNED"), ("skr", "FAILED")],
)
def test_the_worst_verdict_is_the_result(states: str, result: str) -> None:
    assert cite.statement(golden.of_states(states), [])["predicate"]["result"] == result


def test_a_report_that_is_rendered_where_it_lies_is_cited_anew(folder: Path) -> None:
    (folder / "test-result.json").unlink()
    assert main(["render", str(folder / "report.json"), "--to", str(folder)]) == 0
    assert read(folder / "test-result.json")["subject"]
    assert main(["render", str(folder / "report.json"), "--to", str(folder / "other")]) == 0
    assert not (folder / "other" / "test-result.json").exists()
