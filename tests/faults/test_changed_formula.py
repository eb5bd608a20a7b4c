"""A changed formula: exactly the claims that depend on it run, and those it breaks fail."""

import sys
from pathlib import Path

from tests.apart import Result, run, saved
from tests.faults.conftest import HEAD, Suite, judged, written
from tests.faults.test_guard import FORMULA, SUITE, WRONG

OTHER = HEAD.replace('add_paper(Path(__file__).with_name("paper.toml"))\n', "") + written("other")


def test_exactly_the_dependent_claims_run_and_fail(suite: Suite) -> None:
    def judge(*options: str) -> Result:
        return judged(suite.folder, "claims/", *options)

    def kept() -> set[str]:
        claims = suite.claims().values()
        return {c["id"] for c in claims if c["blocks"]["kept"] == carried}

    saved(suite.folder, {**SUITE, "claims/test_other.py": OTHER})
    assert judge().status == 0
    report = Path("reports/latest/report.json").read_text(encoding="utf-8")
    saved(suite.folder, {"reports/baseline.json": report})
    carried = {"file": "baseline.json", "revision": "HEAD"}

    formula = Path("theory/tiny.py")
    formula.write_text(WRONG["theory/tiny.py"])
    result = judge("--changed-since", "HEAD", "-ra")
    assert result.status == 1, result.text
    outcomes = {name: claim["outcome"] for name, claim in suite.claims().items()}
    assert outcomes == {"tiny.mean": "failed", "tiny.other": "passed"}
    assert kept() == {"tiny.other"}
    assert "SUPPORTED, record of baseline.json: nothing that the claim depends on" in result.text
    compared = run(suite.folder, sys.executable, "-m", "recall_reports", "diff")
    assert compared.status == 1, compared.text
    assert "1 lost verdict" in compared.text

    dry = " ".join(judge("--changed-since", "HEAD", "--dry-run").text.split())
    assert "1 of 2 claims would run in tier standard" in dry
    assert "1 would keep the verdict of baseline.json" in dry
    late = judge("--changed-since", "HEAD", "--time-limit", "0.001s", "--seed", "0")
    assert late.status == 6, late.text
    states = {"tiny.mean": "NOT RUN", "tiny.other": "DECIDED"}
    assert suite.states() == states, "an inherited record needs no time"

    formula.write_text(f"# Of the mean.\n{FORMULA}")
    reworded = judge("--changed-since", "HEAD")
    assert reworded.status == 0, reworded.text
    assert kept() == {"tiny.mean", "tiny.other"}
