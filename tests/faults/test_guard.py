"""Pull requests that try to approve themselves, judged by the guard's own shell steps.

The steps stand in the workflows; what they run on is a small repository with a suite of its own.
"""

import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml

from tests.apart import git, run, run_pytest, saved
from tests.faults.conftest import HEAD, PAPER, REPOSITORY, environment, judged, reported, written

WORKFLOWS = REPOSITORY / ".github" / "workflows"
ACTIONS = WORKFLOWS.with_name("actions")
LOCAL = "./.github/actions/"
NAMES = ("guard", "guard-compare")
Step = dict[str, Any]

CONFTEST = """
from pathlib import Path

from recall_claims import add_paper, pytest_addoption

add_paper(Path(__file__).with_name("paper.toml"))
"""
SCALED = """
from simulation import tiny

honest = tiny.values
tiny.values = lambda rngs, scale: 1.3 * honest(rngs, scale)
"""
VERDICT_SET = """
from recall_claims.evidence.run import Decision
from recall_claims.judge.region import Verdict

Decision.verdict = property(lambda self: Verdict.SUPPORTED)
"""
FORMULA = "def mean(scale):\n    return 1.0 * scale\n"
CLAIM = HEAD.replace(
    "import time", "from simulation import tiny\nfrom theory.tiny import mean"
).replace('add_paper(Path(__file__).with_name("paper.toml"))\n', "").replace(
    'return cell.number("scale")', 'return mean(cell["scale"])'
).replace("return 2 *", "return 4 *") + written(
    "mean",
    ("def mean", "def scaled"),
    ("    time.sleep(0.0)\n", ""),
    (
        'np.array([rng.normal(cell["scale"], 0.1) for rng in block.rngs])',
        'tiny.values(block.rngs, cell["scale"])',
    ),
)
SUITE = {
    ".gitignore": ".recall-claims\nreports/latest\n__pycache__\n",
    "README.md": "Claims.\n",
    "pytest.ini": "[pytest]\n",
    "claims/__init__.py": "",
    "claims/conftest.py": CONFTEST,
    "claims/paper.toml": PAPER,
    "claims/test_tiny.py": CLAIM,
    "theory/__init__.py": "",
    "theory/tiny.py": FORMULA,
    "simulation/__init__.py": "",
    "simulation/tiny.py": "import numpy as np\n\n\ndef values(rngs, scale):\n"
    "    return np.array([rng.normal(scale, 0.1) for rng in rngs])\n",
}


def jobs(workflow: str) -> dict[str, Any]:
    """The jobs of a workflow, with the steps of its own composite actions in their place."""
    found = yaml.safe_load((WORKFLOWS / f"{workflow}.yml").read_text(encoding="utf-8"))["jobs"]
    assert isinstance(found, dict)
    for job in found.values():
        job["steps"] = [part for step in job["steps"] for part in expanded(step)]
    return found


def expanded(step: Step) -> list[Step]:
    """The steps of one of our actions, with its inputs filled in, as far as they are no expression
    of GitHub's; any other step as it is."""
    if not step.get("uses", "").startswith(LOCAL):
        return [step]
    file = ACTIONS / step["uses"].removeprefix(LOCAL) / "action.yml"
    action = yaml.safe_load(file.read_text(encoding="utf-8"))
    given = {name: str(entry.get("default", "")) for name, entry in action["inputs"].items()}
    given |= step.get("with", {})
    for part in action["runs"]["steps"]:
        assert ("run" in part) == (part.get("shell") == "bash")
        env = {key: text for key, text in part.get("env", {}).items() if "inputs." in text}
        for key, text in env.items():
            env[key] = given[text.removeprefix("${{ inputs.").removesuffix(" }}")]
        part["filled"] = {key: text for key, text in env.items() if "${{" not in text}
    steps: list[Step] = action["runs"]["steps"]
    return steps


@dataclass(frozen=True)
class Guard:
    """The guard at work on pull requests to a repository: as much of GitHub as it needs.

    `cache` is the ledger that the main branch has cached, and `base` its commit.
    """

    origin: Path
    base: str
    cache: Path
    folder: Path

    def checkout(self, name: str) -> Path:
        git(self.folder, "clone", "--quiet", str(self.origin), name)
        return self.folder / name

    def judge(self, pull: Path) -> tuple[bool, str]:
        """Whether the guard is green on the commits of a checkout, and what it posts."""
        scratch, artifacts = self.folder / "scratch", self.folder / "artifacts"
        for folder in (scratch, artifacts, self.folder / "base", pull / ".recall-claims"):
            shutil.rmtree(folder, ignore_errors=True)
        scratch.mkdir()
        artifacts.mkdir()
        git(pull, "push", "--quiet", "--force", "origin", "HEAD:refs/pull/1/head")
        given = environment(
            PATH=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            BASE=self.base,
            PULL=git(pull, "rev-parse", "HEAD"),
            RUNNER_TEMP=str(scratch),
            GITHUB_STEP_SUMMARY=str(scratch / "summary"),
        )
        judged = self._runs("guard", "judge", pull, given)
        compared = self._runs("guard-compare", "compare", self.checkout("base"), given)
        posted = (artifacts / "diff").read_text(encoding="utf-8")
        assert posted == (scratch / "summary").read_text(encoding="utf-8")
        return judged and compared, posted

    def _runs(self, workflow: str, job: str, checkout: Path, given: dict[str, str]) -> bool:
        """Whether every step of the job succeeds in a checkout, for a pull request."""
        passed = True
        for step in jobs(workflow)[job]["steps"]:
            condition = str(step.get("if", ""))
            if not (passed or "always()" in condition):
                continue
            if "event_name ==" in condition and "'pull_request'" not in condition:
                continue
            passed &= self._step(step, checkout, given) or step.get("continue-on-error", False)
        return passed

    def _step(self, step: Step, checkout: Path, given: dict[str, str]) -> bool:
        action, ledger = step.get("uses", "").partition("@")[0], checkout / ".recall-claims"
        kept = self.folder / "artifacts" / step.get("with", {}).get("name", "")
        if action in ("actions/cache/restore", "actions/cache") and self.cache.exists():
            shutil.copytree(self.cache, ledger, dirs_exist_ok=True)
        elif action == "actions/cache/save":
            shutil.copytree(ledger, self.cache, dirs_exist_ok=True)
        elif action == "actions/upload-artifact":
            found = checkout / step["with"]["path"]
            if found.is_dir():
                shutil.copytree(found, kept)
            elif found.exists():
                shutil.copy(found, kept)
        elif action == "actions/download-artifact":
            if not kept.exists():
                return False
            shutil.copytree(kept, self.folder / "scratch" / "report")
        return _succeeds(step.get("run", ":"), checkout, {**given, **step.get("filled", {})})


def _succeeds(script: str, checkout: Path, given: dict[str, str]) -> bool:
    if script.startswith(("pip install", "python -m recall_claims bundle")):
        return True
    if script.startswith("pytest "):  # which would load torch anew
        options = "--executor serial -p no:cacheprovider -p no:unraisableexception"
        given = {**given, "PYTEST_ADDOPTS": options}
        words = shlex.split(Template(script).substitute(given))[1:]
        return run_pytest(checkout, words, given).status == 0
    command = ["bash", "-e", "-o", "pipefail", "-c", script]
    return run(checkout, *command, environment=given).status == 0


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Guard:
    """The suite, with a baseline and a cache as its main branch has made them."""
    folder = tmp_path_factory.mktemp("guarded")
    origin, cache = folder / "origin", folder / "cache"
    origin.mkdir()
    saved(origin, SUITE)
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    found = judged(origin, "claims/")
    assert found.status == 0, found.text
    shutil.copytree(origin / ".recall-claims", cache)
    report = (origin / "reports/latest/report.json").read_text(encoding="utf-8")
    base = saved(origin, {"reports/baseline.json": report})
    git(origin, "checkout", "--quiet", "--detach")
    return Guard(origin, base, cache, folder)


@pytest.fixture
def guard(repository: Guard, tmp_path: Path) -> Guard:
    cache = shutil.copytree(repository.cache, tmp_path / "cache")
    return replace(repository, cache=cache, folder=tmp_path)


# Of another length: Python takes a file of the same size and second for the one that it compiled.
WRONG = {"theory/tiny.py": FORMULA.replace("1.0", "1.30")}
EXPECTED = CLAIM.replace("cells=", 'refuted="It is wrong.",\n    cells=')
REPLACED = CLAIM.replace('"tiny.mean"', '"tiny.other"').replace("0.95, 1.05", "0.7, 0.85")


def test_a_pull_request_without_effect_is_green(guard: Guard) -> None:
    pull = guard.checkout("pull")
    saved(pull, {"README.md": "Words.\n", "theory/tiny.py": f"# A comment.\n{FORMULA}"})
    assert guard.judge(pull) == (True, "**Nothing changed beyond rounding.**\n\n")


def test_the_baseline_is_that_of_the_base_commit(guard: Guard) -> None:
    pull = guard.checkout("pull")
    saved(pull, {"reports/baseline.json": "{}"})
    green, posted = guard.judge(pull)
    assert green
    assert posted.startswith("**1 changed file.**")
    assert "| changed file | `reports/baseline.json` |" in posted
    report = reported(pull / "reports/latest")
    kept = {"file": "baseline.json", "revision": guard.base}
    assert [claim["blocks"]["kept"] for claim in report["claims"]] == [kept]


NO_FIGURE = "no figure shows its effect"
PULLS: dict[str, tuple[dict[str, str], bool, list[str]]] = {
    "wrong formula": (
        WRONG,
        False,
        [
            "| lost verdict | `tiny.mean` | ✓ SUPPORTED | ✕ REFUTED |",
            "prediction in 3 of 3 cells, such as scale = 1 |",
        ],
    ),
    "expected": (
        {**WRONG, "claims/test_tiny.py": EXPECTED},
        False,
        [
            "| lost verdict | `tiny.mean` | ✓ SUPPORTED | ✕ REFUTED as declared |",
            "| SUPPORTED | REFUTED | expected |",
        ],
    ),
    "replaced": (
        {**WRONG, "claims/test_tiny.py": REPLACED},
        False,
        [
            "| no longer judged | `tiny.mean` | ✓ SUPPORTED |",
            r"| new claim | `tiny.other` | – | ✓ SUPPORTED | region \[0.7, 0.85\] |",
        ],
    ),
    "verdict set": (
        {**WRONG, "claims/conftest.py": CONFTEST + VERDICT_SET},
        False,
        ["**Nothing could be compared.**"],
    ),
    "results scaled": (
        {**WRONG, "claims/conftest.py": CONFTEST + SCALED},
        True,
        [f"| changed file | `claims/conftest.py` | – | – | {NO_FIGURE} |"],
    ),
    "region": (
        {**WRONG, "claims/test_tiny.py": CLAIM.replace("0.95, 1.05", "0.5, 1.05")},
        True,
        [r"| edited declaration | `tiny.mean` | \[0.95, 1.05\] | \[0.5, 1.05\] | region |"],
    ),
    "simulation broken": (
        {"claims/conftest.py": CONFTEST + SCALED},
        False,
        ["| lost verdict | `tiny.mean` |"],
    ),
    "statement": (
        {"claims/paper.toml": PAPER.replace("has its value", "never has its value")},
        True,
        ["| A mean has its value. | A mean never has its value. | statement 1 |"],
    ),
    "error budget": (
        {"pytest.ini": "[pytest]\naddopts = --error-budget 0.5\n"},
        True,
        ["| edited declaration | the run | 0.001 | 0.5 | error budget |"],
    ),
}
"""What a pull request changes, whether the guard is green, and what it posts."""


@pytest.mark.parametrize("pull_request", PULLS)
def test_a_pull_request_does_not_approve_itself(guard: Guard, pull_request: str) -> None:
    """Each brings a baseline that agrees with it, which the guard does not look at."""
    files, green, words = PULLS[pull_request]
    pull = guard.checkout("pull")
    forged = json.loads((pull / "reports/baseline.json").read_text(encoding="utf-8"))
    forged["claims"] = []
    saved(pull, {**files, "reports/baseline.json": json.dumps(forged)})
    found, posted = guard.judge(pull)
    assert not [word for word in words if word not in posted], posted
    assert found is green
    assert "| changed file | `reports/baseline.json` |" in posted or not green
    assert "Nothing changed" not in posted


def test_evidence_of_one_push_is_no_evidence_for_the_next(guard: Guard) -> None:
    pull = guard.checkout("pull")
    saved(pull, {**WRONG, "claims/conftest.py": CONFTEST + SCALED})
    guard.judge(pull)
    kept = guard.folder / "kept"
    shutil.copytree(pull / ".recall-claims", kept)
    saved(pull, {"claims/conftest.py": CONFTEST})
    green, posted = guard.judge(pull)
    assert not green
    assert "| lost verdict | `tiny.mean` |" in posted

    # Nor is it where it was restored all the same: it is of other code.
    shutil.copytree(kept, guard.cache, dirs_exist_ok=True)
    assert guard.judge(pull) == (green, posted)


def each_step() -> list[tuple[dict[str, Any], Step]]:
    return [(job, step) for name in NAMES for job in jobs(name).values() for step in job["steps"]]


def test_who_runs_a_pull_request_cannot_write_and_who_writes_runs_none() -> None:
    for name in NAMES:
        text = yaml.safe_load((WORKFLOWS / f"{name}.yml").read_text(encoding="utf-8"))
        assert text["permissions"] == {}
    for job, step in each_step():
        action = step.get("uses", "").partition("@")[0]
        if "write" in job["permissions"].values():
            assert action in ("", "actions/checkout", "actions/download-artifact")
            assert not any(word in step.get("run", "") for word in ("pip", "pytest", "python"))
        if action == "actions/checkout":
            assert "ref" not in step.get(
                "with", {}
            )  # the main branch's, where workflow_run starts it
        assert "${{" not in step.get("run", "")  # text of a stranger is no part of a script
    assert jobs("guard")["judge"]["permissions"] == {"contents": "read"}
    for file in WORKFLOWS.glob("*.yml"):
        for job in jobs(file.stem).values():
            [checkout] = [s for s in job["steps"] if "checkout@" in s.get("uses", "")] or [None]
            assert checkout is None or checkout["with"]["persist-credentials"] is False


def test_a_cache_is_written_on_the_main_branch_alone() -> None:
    for _, step in each_step():
        action = step.get("uses", "").partition("@")[0]
        assert action != "actions/cache"
        assert "cache" not in step.get("with", {})
        if action == "actions/cache/save":
            assert "github.event_name == 'push'" in step["if"]


def test_actions_are_pinned_and_take_only_their_inputs() -> None:
    """A stranger's workflow names them by commit, so what they use must be named so too."""
    for file in ACTIONS.glob("*/action.yml"):
        action = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert action["runs"]["using"] == "composite"
        for step in action["runs"]["steps"]:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.get("uses", "a/b@" + "0" * 40))
            assert "${{" not in step.get("run", "")
        used = set(re.findall(r"inputs\.([\w-]+)", file.read_text(encoding="utf-8")))
        assert used == action["inputs"].keys()
