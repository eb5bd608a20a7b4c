"""A paper of one's own: what `python -m claims new` writes runs, and is guarded like the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from claims.__main__ import main
from tests.faults.conftest import REPOSITORY, Result


def judge(folder: Path, *options: str) -> Result:
    command = [sys.executable, "-m", "pytest", "own", "--executor", "serial", *options]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Result(done.returncode, done.stdout + done.stderr)


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "reports/latest/report.json").read_text())
    return found


def test_new_paper_runs_and_notices_what_changes(tmp_path: Path) -> None:
    assert main(["new", "own", "--to", str(tmp_path)]) == 0
    first = judge(tmp_path)
    assert first.status == 0, first.text
    assert [s["claims"] for s in report(tmp_path)["statements"]] == [["own.flipped"]]

    theory = tmp_path / "own" / "theory.py"
    theory.write_text(theory.read_text().replace("return float(", "return 1.3 * float("))
    second = judge(tmp_path)
    [claim] = report(tmp_path)["claims"]
    assert second.status == 1
    assert claim["verdict"] == "REFUTED"
    assert claim["blocks"]["reused"] == claim["blocks"]["total"]  # old evidence, judged anew

    simulation = tmp_path / "own" / "simulation.py"
    simulation.write_text(simulation.read_text().replace("* first < 0", "* first < -1"))
    judge(tmp_path)
    [claim] = report(tmp_path)["claims"]
    assert claim["blocks"]["reused"] == 0


@pytest.mark.parametrize("name", ["theory", "two words", "1st"])
def test_senseless_name(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", name, "--to", str(tmp_path)]) == 1
    assert "cannot be the name of a paper" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_folder_that_exists_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own").mkdir()
    assert main(["new", "own", "--to", str(tmp_path)]) == 1
    assert "File exists" in capsys.readouterr().err
    assert list((tmp_path / "own").iterdir()) == []
