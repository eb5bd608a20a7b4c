"""Test `python -m recall_reports` and its `diff`; most cases are in `__snapshots__/`."""

import importlib
import json
import re
from collections import Counter
from copy import deepcopy
from pathlib import Path

import jsonschema
import pytest

from recall_reports import diff, summary
from recall_reports.__main__ import main
from recall_reports.record import Record, files
from tests.reports import sample


@pytest.fixture
def file(tmp_path: Path, report: Record) -> Path:
    return files.dump(report, tmp_path / "report.json")


@pytest.mark.parametrize(
    ("command", "status", "says"),
    [
        ("show FILE", 0, "A.gradient-identity"),
        ("show FILE -v", 0, " replicates"),
        ("show FILE -q", 0, "✕ REFUTED A.orthonormal-gaussian"),
        ("render FILE --to FOLDER", 0, "FOLDER/report.html\nFOLDER/report.md\n"),
        ("diff FILE FILE", 0, "Nothing changed beyond rounding.\n"),
        ("diff FILE WORSE", 1, "\nlost verdict "),
        ("diff FILE WORSE --markdown", 1, "| lost verdict | `A.all-tokens` | ✓ SUPPORTED |"),
    ],
)
def test_commands(
    command: str, status: int, says: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, worse = str(file.with_name("again")), file.with_name("worse.json")
    files.dump(sample.later(), worse)
    places = {"FILE": str(file), "FOLDER": folder, "WORSE": str(worse)}
    assert main([places.get(word, word) for word in command.split()]) == status
    said = capsys.readouterr().out
    assert says.replace("FOLDER", folder) in said
    assert ("A.gradient-identity" in said) is (command[:4] == "show" and "-q" not in command)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("recall_reports", "the following arguments are required: command; `python -m"),
        (
            "recall_reports shw",
            "command shw: it is one of show, render, diff, schema (did you mean",
        ),
        ("recall_reports paint", "command paint: it is one of show, render, diff, schema;"),
        ("recall_reports render", "render: the following arguments are required: --to;"),
        ("recall_reports show a b", "recall_reports show: there is no place for the argument 'b'"),
        ("recall_reports diff --mardkown", "no option --mardkown (did you mean --markdown?)"),
        ("recall_claims predct", "COMMAND predct: it is one of new, data, certify, check, predict"),
        ("recall_claims data X --teir smoke", "no option --teir (did you mean --tier?)"),
        (
            "recall_claims data X --tier smok",
            "--tier smok: it is one of smoke, standard, full (did",
        ),
        ("recall_claims ledger merge a --ut b", "the following arguments are required: -o;"),
    ],
)
def test_wrong_usage(command: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    package, *arguments = command.split()
    run = importlib.import_module(f"{package}.__main__").main
    with pytest.raises(SystemExit) as raised:
        run(arguments)
    assert raised.value.code == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_schema_describes_a_record(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    validator = jsonschema.Draft202012Validator(schema)
    found = json.loads(file.read_text(encoding="utf-8"))
    assert list(validator.iter_errors(found)) == []
    found["claims"][0]["verdict"] = "VERIFIED"
    assert list(validator.iter_errors(found))


def test_a_file_name_writes_no_line_of_its_own(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = file.with_name("names")
    names.write_bytes(b"a\n::error::b\x1b[31m\0")
    main(["diff", str(file), str(file), "--files", str(names)])
    assert r"a\n::error::b\x1b[31m" in "".join(capsys.readouterr().out.split())


def test_files_of_which_no_figure_tells_are_listed_conftest_and_data_first(report: Record) -> None:
    shown = [
        *("claims/conftest.py", "claims/test_more/conftest.py", "conftest.py"),
        *("claims/papers/A.toml", "claims/test_more/law.json", "pyproject.toml"),
        *("claims/test_sample/test_empty.py", "claims/test_sample/test_sample.py", "theory/law.py"),
        "README.md",
    ]
    report.claims[0].file = "claims/conftest.py"  # a record may lie
    report.claims[1].file = "claims/test_told.py"
    other = deepcopy(report)
    for claim in other.claims[:2]:
        claim.why = "another reason"
    found = diff.changes(report, other, [*reversed(shown), "claims/test_told.py"])
    files = [change.claim for change in found if change.kind == "changed file"]
    assert files == shown
    unseen = diff.changes(report, report, ["claims/test_told.py"])
    assert [change.claim for change in unseen] == ["claims/test_told.py"]


def test_a_comment_has_a_length_that_is_accepted(report: Record) -> None:
    found = diff.changes(report, report, [f"{'*' * 5000}{number}" for number in range(1000)])
    text = diff.markdown(found)
    assert len(text) < 65_536
    assert re.search("And [1-9][0-9]+ more: run `diff`", text)


def test_the_committed_baseline_is_a_whole_standard_run_in_which_all_claims_pass(
    baseline: Record,
) -> None:
    assert baseline.suite.tier == "standard"
    left_out = [claim for claim in baseline.claims if claim.outcome != "passed"]
    assert Counter(claim.reason for claim in left_out) == {
        "the claim needs `--device cuda`; this run is on cpu": 1,
        "the claim has no cells in tier standard (only in full)": 4,
    }
    for entries in summary.statements(baseline).values():
        assert all(entry.claims for entry in entries)
