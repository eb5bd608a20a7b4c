"""`python -m recall_reports`."""

import json
from pathlib import Path

import jsonschema
import pytest

from recall_reports.__main__ import main
from recall_reports.record import Range, Record, files
from recall_reports.record.values import Verdict


@pytest.fixture
def file(tmp_path: Path, report: Record) -> Path:
    return files.dump(report, tmp_path / "report.json")


def test_show(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(file)]) == 0
    assert "A.trigger-signal" in capsys.readouterr().out
    assert main(["show", str(file), "-v"]) == 0
    assert " replicates" in capsys.readouterr().out
    assert main(["show", str(file), "-q"]) == 0
    assert "A.gradient-identity" not in capsys.readouterr().out


def test_render(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", str(file), "--to", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "report.html").exists()
    assert str(tmp_path / "again" / "report.md") in capsys.readouterr().out


def test_diff(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(file), str(file)]) == 0
    assert capsys.readouterr().out == "Nothing changed beyond rounding.\n"
    worse = files.load(file)
    [claim] = [claim for claim in worse.claims if claim.id == "A.trigger-signal"]
    claim.controls[0].verdict, claim.controls[0].region = Verdict.INCONCLUSIVE, Range(1.0, 2.0)
    claim.verdict, claim.outcome = "INCONCLUSIVE", "failed"
    files.dump(worse, tmp_path / "worse.json")
    assert main(["diff", str(file), str(tmp_path / "worse.json")]) == 1
    assert "lost verdict" in capsys.readouterr().out
    assert main(["diff", str(file), str(tmp_path / "worse.json"), "--markdown"]) == 1
    assert "| lost verdict | `A.trigger-signal` | ✓ SUPPORTED |" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["paint"], ["render"], ["show", "a", "b"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    assert "usage: python -m recall_reports" in capsys.readouterr().err


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
