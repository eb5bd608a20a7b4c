"""Test the report of `.github/workflows/claims.yml` on a change, and the workflow's rights.

The workflow's steps run on a small repository with its own suite, whose main branch has run before.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from recall_claims.__main__ import template
from tests.apart import git, run, run_pytest, saved
from tests.faults.conftest import HEAD, PAPER, REPOSITORY, edited, environment, written

FLOW = REPOSITORY / ".github" / "workflows" / "claims.yml"
ADD = 'add_paper(Path(__file__).with_name("paper.toml"))\n'
CONFTEST = f"from pathlib import Path\n\nfrom recall_claims import add_paper\n\n{ADD}"
FORMULA = "def mean(scale):\n    return 1.0 * scale\n"
VALUES = "import numpy as np\n\n\ndef values(rngs, scale):\n    return np.array(["
VALUES += "rng.normal(scale, 0.1) for rng in rngs])\n"
CLAIM = edited(
    HEAD + written("mean", ("def mean", "def scaled"), ("cells=grid", 'cells={"smoke": grid')),
    (ADD, ""),
    ("import time", "from simulation import tiny\nfrom theory.tiny import mean"),
    ('cell.number("scale")', 'mean(cell["scale"])'),
    ("2 * predict", "4 * predict"),
    ("5.0)),", "5.0))},"),
    ("    time.sleep(0.0)\n", ""),
    (
        'np.array([rng.normal(cell["scale"], 0.1) for rng in block.rngs])',
        'tiny.values(block.rngs, cell["scale"])',
    ),
)
SUITE = {
    ".gitignore": ".recall-claims\nreports\n__pycache__\n",
    "pytest.ini": "[pytest]\n",
    "claims/__init__.py": "",
    "claims/conftest.py": CONFTEST,
    "claims/paper.toml": PAPER,
    "claims/test_tiny.py": CLAIM,
    "theory/__init__.py": "",
    "theory/tiny.py": FORMULA,
    "simulation/__init__.py": "",
    "simulation/tiny.py": VALUES,
}
# Of another length: Python takes a file of the same size and second for the one that it compiled.
WRONG = {"theory/tiny.py": FORMULA.replace("1.0", "1.30")}
SCALED = f"""{CONFTEST}
from simulation import tiny

honest = tiny.values
tiny.values = lambda rngs, scale: 1.3 * honest(rngs, scale)
"""


def steps() -> list[dict[str, Any]]:
    [job] = yaml.safe_load(FLOW.read_text(encoding="utf-8"))["jobs"].values()
    found: list[dict[str, Any]] = job["steps"]
    return found


def judged(folder: Path, event: str, scratch: Path) -> tuple[bool, str]:
    """Run the workflow on the checkout in a folder; return whether it is green, and its summary."""
    scratch.mkdir(exist_ok=True)
    summary = scratch / "summary"
    summary.write_text("")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    given = environment(PATH=path, RUNNER_TEMP=str(scratch), GITHUB_STEP_SUMMARY=str(summary))
    given["PYTEST_ADDOPTS"] = "--executor serial -p no:cacheprovider -p no:unraisableexception"
    given["PYTEST_ADDOPTS"] += " -p recall_claims.plugin"
    green = True
    for step in steps():
        condition, script = step.get("if", ""), step.get("run", "pip")
        if not (green or "always()" in condition) or ("push" in condition and event != "push"):
            continue
        if script.startswith("pytest "):  # forked, because a new process would load all packages
            green &= run_pytest(folder, script.split()[1:], given).status == 0
        elif not script.startswith("pip"):
            command = ("bash", "-e", "-o", "pipefail", "-c", script)
            green &= run(folder, *command, environment=given).status == 0
    return green, summary.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repository of the suite, with the ledger and record that its main branch saved."""
    folder, scratch = tmp_path_factory.mktemp("origin"), tmp_path_factory.mktemp("scratch")
    saved(folder, SUITE)
    saved(folder, {"README.md": "Claims.\n"})
    none = "There is no earlier record to compare with.\n"
    assert judged(folder, "push", scratch) == (True, none)
    green, said = judged(folder, "push", scratch)
    assert (green, said.splitlines()[0]) == (True, "**1 changed file.**")
    return folder


@pytest.fixture
def pull(origin: Path, tmp_path: Path) -> Path:
    """A clone of `origin`, with the ledger that its main branch saved."""
    git(tmp_path, "clone", "--quiet", str(origin), "pull")
    shutil.copytree(origin / ".recall-claims", tmp_path / "pull" / ".recall-claims")
    return tmp_path / "pull"


PULLS: dict[str, tuple[dict[str, str], bool, list[str]]] = {
    "a wrong formula": (
        WRONG,
        False,
        [
            "| lost verdict | `tiny.mean` | ✓ SUPPORTED | ✕ REFUTED |",
            "| 1 | 1.3 | predictions: scale = 1",
        ],
    ),
    "a claim that expects it": (
        {
            **WRONG,
            "claims/test_tiny.py": CLAIM.replace("cells=", 'refuted="It is wrong.",\n    cells='),
        },
        False,
        [
            "| lost verdict | `tiny.mean` | ✓ SUPPORTED | ✓ false, as expected |",
            "| SUPPORTED | REFUTED | expected |",
        ],
    ),
    "another claim": (
        {
            **WRONG,
            "claims/test_tiny.py": edited(
                CLAIM, ('"tiny.mean"', '"tiny.other"'), ("0.95, 1.05", "0.7, 0.85")
            ),
        },
        False,
        [
            "| no longer judged | `tiny.mean` | ✓ SUPPORTED |",
            r"| new claim | `tiny.other` | – | ✓ SUPPORTED | region \[0.7, 0.85\] |",
        ],
    ),
    "a wide region, another statement and a larger error budget": (
        {
            **WRONG,
            "claims/test_tiny.py": CLAIM.replace("0.95, 1.05", "0.5, 1.05"),
            "claims/paper.toml": PAPER.replace("has its value", "never has its value"),
            "pytest.ini": "[pytest]\naddopts = --error-budget 0.5\n",
        },
        True,
        [
            r"| edited declaration | `tiny.mean` | \[0.95, 1.05\] | \[0.5, 1.05\] | regions |",
            "| A mean has its value. | A mean never has its value. | statements |",
            "| edited declaration | the run | 0.001 | 0.5 | error budget |",
        ],
    ),
}
"""Pull requests: the changed files, whether the workflow is green, and parts of its summary."""


@pytest.mark.parametrize("change", PULLS)
def test_a_change_is_told(pull: Path, tmp_path: Path, change: str) -> None:
    files, green, words = PULLS[change]
    saved(pull, files)
    found, said = judged(pull, "pull_request", tmp_path / "scratch")
    assert not [word for word in words if word not in said], said
    assert found is green


def test_evidence_of_other_code_is_no_evidence(pull: Path, tmp_path: Path) -> None:
    saved(pull, {**WRONG, "claims/conftest.py": SCALED})
    green, said = judged(pull, "pull_request", tmp_path / "scratch")
    assert green
    assert "| changed file | `claims/conftest.py` | – | – | no figure shows its effect |" in said
    saved(pull, {"claims/conftest.py": CONFTEST})
    green, said = judged(pull, "pull_request", tmp_path / "scratch")
    assert not green
    assert "| lost verdict | `tiny.mean` |" in said


def test_a_pull_request_can_write_nothing() -> None:
    flow = yaml.safe_load(FLOW.read_text(encoding="utf-8"))
    assert flow["jobs"]["judge"]["permissions"] == {"contents": "read"}
    for step in steps():
        action = step.get("uses", "").partition("@")[0]
        assert action != "actions/cache"
        assert "cache" not in step.get("with", {})
        if action == "actions/cache/save":
            assert "github.event_name == 'push'" in step["if"]
        if action == "actions/checkout":
            assert step["with"]["persist-credentials"] is False
        assert "${{" not in step.get("run", ""), "text of a stranger is no part of a script"


def test_the_page_and_this_repository_have_the_workflow_that_new_writes() -> None:
    text = template("claims.yml", folder="claims", install="-e .")
    assert FLOW.read_text(encoding="utf-8") == text
    page = (FLOW.parents[1] / "docs" / "changes.md").read_text(encoding="utf-8")
    assert f"```yaml\n{text}```" in page
