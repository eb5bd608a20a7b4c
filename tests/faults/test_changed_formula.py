"""A changed formula: exactly the claims that depend on it run, and those it breaks fail."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.apart import Result, run, run_pytest
from tests.faults.conftest import REPOSITORY

CLAIMS = ("attention/test_signal.py", "lower_bound/test_width_information.py")
BASELINE = ("reports", "baseline.json")


def judge(folder: Path, *options: str) -> Result:
    plugins = ("-p", "no:cacheprovider", "-p", "no:unraisableexception")
    command = ("claims/", "--tier", "smoke", "--executor", "serial", *plugins)
    return run_pytest(folder, (*command, *options), os.environ)


def commit(folder: Path) -> None:
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "saved")):
        assert run(folder, "git", *identity, *command).status == 0


def states(folder: Path) -> dict[str, Any]:
    report = json.loads((folder / "reports/latest/report.json").read_text(encoding="utf-8"))
    return {claim["id"]: claim for claim in report["claims"]}


def test_exactly_the_dependent_claims_fail(tmp_path: Path) -> None:
    for name in ("theory", "simulation", "reports", "claims"):
        left_out = shutil.ignore_patterns("__pycache__", "latest", "baseline.json", "test_*.py")
        shutil.copytree(REPOSITORY / name, tmp_path / name, ignore=left_out)
    for name in ("pyproject.toml", ".gitignore", *(f"claims/{claim}" for claim in CLAIMS)):
        shutil.copy(REPOSITORY / name, tmp_path / name)
    commit(tmp_path)
    assert judge(tmp_path).status == 0
    shutil.copy(tmp_path / "reports/latest/report.json", tmp_path.joinpath(*BASELINE))
    commit(tmp_path)

    formula = tmp_path / "theory" / "lower_bound" / "width_information.py"
    text = formula.read_text(encoding="utf-8")
    assert text.count("return 1 / length") == 1
    formula.write_text(text.replace("return 1 / length", "return 1.3 / length"), encoding="utf-8")
    result = judge(tmp_path, "--changed-since", "HEAD")

    assert result.status == 1, result.text
    found = {n: claim for n, claim in states(tmp_path).items() if claim["state"] == "DECIDED"}
    failed = {name for name, claim in found.items() if claim["outcome"] == "failed"}
    assert failed == {"A.width-linear-directions"}
    carried = {"file": "baseline.json", "revision": "HEAD"}
    kept = {name for name, claim in found.items() if claim["blocks"]["kept"] == carried}
    assert kept == {name for name, claim in found.items() if claim["file"].endswith(CLAIMS[0])}
    assert "SUPPORTED, record of baseline.json: nothing that the claim depends on" in result.text

    dry = " ".join(judge(tmp_path, "--changed-since", "HEAD", "--dry-run").text.split())
    assert (
        f"{len(found) - len(kept)} of {len(states(tmp_path))} claims would run in tier smoke" in dry
    )
    assert f"{len(kept)} would keep the record of baseline.json" in dry
    late = judge(tmp_path, "--changed-since", "HEAD", "--time-limit", "0.001s", "--seed", "0")
    assert late.status == 6, late.text
    told = {n for n, claim in states(tmp_path).items() if claim["state"] == "DECIDED"}
    assert told == kept, "an inherited record needs no time"
    judge(tmp_path, "--changed-since", "HEAD")

    compared = run(tmp_path, sys.executable, "-m", "recall_reports", "diff")
    assert compared.status == 1, compared.text
    assert "1 lost verdict" in compared.text

    formula.write_text(f"# Of the width.\n{text}", encoding="utf-8")
    reworded = judge(tmp_path, "--changed-since", "HEAD")
    assert reworded.status == 0, reworded.text
    again = {n for n, claim in states(tmp_path).items() if claim["blocks"]["kept"] == carried}
    assert again == {*found}
