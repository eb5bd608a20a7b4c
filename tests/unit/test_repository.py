"""Parts that a stranger needs: links, citations, rights of workflows, folders and examples."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import recall_claims
import recall_reports
import simulation
import theory
from recall_claims import ask
from recall_claims.__main__ import main
from recall_claims.judge.rules import Rule
from recall_claims.plugin import options
from recall_reports.record.files import load
from tests import prose
from tests.apart import run

ROOT = Path(__file__).parents[2]
FLOWS = {file.stem: file for file in (ROOT / ".github" / "workflows").iterdir()}


def flow(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FLOWS[name].read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", FLOWS)
def test_actions_are_pinned_by_commit_and_rights_given_job_by_job(name: str) -> None:
    used = re.findall(r"\buses: *(\S+)(.*)", FLOWS[name].read_text(encoding="utf-8"))
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v[\d.]+", comment), action
    assert flow(name)["permissions"] == {}
    assert all("permissions" in job for job in flow(name)["jobs"].values())


def test_only_the_job_that_publishes_may_sign_in() -> None:
    jobs = flow("release")["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["environment"] == "release"
    assert jobs["build"]["permissions"] == {"contents": "read"}
    assert not any("run" in step for step in jobs["publish"]["steps"]), "no code of ours signs"


def test_what_builds_and_checks_a_release_is_pinned() -> None:
    installed = [step["run"] for step in flow("release")["jobs"]["build"]["steps"] if "run" in step]
    assert re.fullmatch(r"pip install build==[\d.]+ twine==[\d.]+", installed[0])
    assert installed[-1] == "twine check --strict dist/*"


TOOL = """#!/bin/sh
if [ "$2" = venv ]; then
  mkdir -p "$3/bin"
  for name in python pytest ruff mypy lint-imports; do cp "$0" "$3/bin/$name"; done
else
  echo "$0 $*"
fi
"""


def test_every_python_that_is_named_runs_the_tests_and_the_first_all_else(tmp_path: Path) -> None:
    for name in ("one", "two", "chromium"):
        (tmp_path / name).write_text(TOOL)
        (tmp_path / name).chmod(0o755)
    given = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHONS": "one two"}
    done = run(tmp_path, str(ROOT / ".ci" / "run"), environment=given)
    assert done.status == 0, done.text
    ran = re.findall(
        r"^/.*/(one|two)/bin/pytest (\S+)", done.text.partition("==== passed")[0], re.M
    )
    assert ran == [("one", "tests/"), ("one", "claims/"), ("two", "tests/")]


def test_every_paper_is_cited() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    numbers = {entry["identifiers"][0]["value"] for entry in cited["references"]}
    papers = (ROOT / "claims" / "papers").glob("*.toml")
    texts = [path.read_text(encoding="utf-8") for path in papers]
    found = (re.findall(r'^identifier = "arXiv (\d{4}\.\d{5})"', t, re.MULTILINE) for t in texts)
    assert numbers == {f"arXiv:{number}" for some in found for number in some}


def test_one_version_and_one_date() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    log = (ROOT / ".github" / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+), (\S+)$", log, re.MULTILINE)
    assert newest is not None
    assert newest.groups() == (project["version"], str(cited["date-released"]))
    assert cited["version"] == project["version"]


def test_what_the_paper_cites_is_there() -> None:
    folder = ROOT / ".github" / "paper"
    text, books = ((folder / f"paper.{kind}").read_text(encoding="utf-8") for kind in ("md", "bib"))
    assert {*re.findall(r"\[@(\w+)\]", text)} == {*re.findall(r"@\w+\{(\w+),", books)}


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_read_in_a_few_minutes() -> None:
    assert len(README.partition("<!--")[0].split()) <= 600
    assert "![" in README
    assert README.count("```sh") == 1


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, by GitHub's rules."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in found}


@pytest.mark.parametrize("page", prose.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        file, _, heading = link.partition("#")
        where = page.parent / file if file else page
        assert link.startswith("https://") or where.exists(), link
        if heading and not link.startswith("https://"):
            assert heading in headings(where), link


def test_the_claim_is_in_its_file() -> None:
    page = (ROOT / ".github/docs/tour.md").read_text(encoding="utf-8")
    [shown] = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    [file] = re.findall(r"\[(claims/\w+/test_\w+\.py)\]", page)
    rest = (ROOT / file).read_text(encoding="utf-8")
    for part in shown.split("    ...\n"):  # what is left out lies between these, in this order
        _, found, rest = rest.partition(part)
        assert found, part


ASKED = re.findall(
    r"^\$ python -m recall_claims (.+)\n((?:.+\n)+?)\.\.\.$",
    (ROOT / ".github/docs/ask.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize(("command", "answer"), ASKED)
def test_an_answer_is_what_the_command_prints(
    command: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out.startswith(answer)


def test_every_formula_that_readers_may_ask_is_there() -> None:
    page = (ROOT / ".github/docs/ask.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| .+\? \| `([\w.]+)` \|", page, re.MULTILINE)
    assert len(ASKED) == 3
    assert names
    for name in names:
        ask.find(name, "theory")


def test_the_run_whose_time_is_given_is_of_the_tier_that_runs_by_itself() -> None:
    assert load(ROOT / "reports" / "baseline.json").suite.tier == options.VALUED["--tier"][0]


def test_every_rule_is_explained_by_an_example() -> None:
    page = (ROOT / ".github/docs/rules.md").read_text(encoding="utf-8")
    names = {name: getattr(recall_claims, name) for name in recall_claims.__all__}
    shown = {type(eval(code, names)) for code in re.findall(r"\| `(\w+\(.*\))` \|", page)}
    rules = {rule for rule in names.values() if isinstance(rule, type) and issubclass(rule, Rule)}
    assert shown == rules


def test_every_option_is_explained() -> None:
    page = (ROOT / ".github/docs/options.md").read_text(encoding="utf-8")
    for name in (*options.VALUED, "--dry-run"):
        assert f"| `{name}" in page, name


HOUSES = ("theory", "simulation", "claims", "tests/unit")
SUBJECTS = {"attention", "attention_mlp", "lower_bound", "memory", "factual", "spectral"}
SOURCES = sorted(
    path
    for house in ("theory", "simulation", "claims", "reports")
    for path in (ROOT / house).rglob("*.py")
)


def rooms(house: str) -> set[str]:
    return {path.parent.name for path in (ROOT / house).glob("*/__init__.py")}


@pytest.mark.parametrize("house", HOUSES)
def test_a_subject_has_one_name_everywhere(house: str) -> None:
    others = {"laws", "papers", "recall_claims", "library"}
    assert rooms(house) - others == SUBJECTS


@pytest.mark.parametrize("house", ["theory", "simulation", "claims"])
def test_each_room_opens_with_one_screen_that_names_its_files(house: str) -> None:
    for room in rooms(house) - {"papers"}:
        folder = ROOT / house / room
        text = (folder / "README.md").read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 40, room
        files = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
        unnamed = {name for name in files if name not in text}
        assert not unnamed or room == "recall_claims", (room, unnamed)


def test_no_folder_and_no_file_is_overfull() -> None:
    for path in SOURCES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, path
        assert len([*path.parent.glob("*.py")]) <= 20, path.parent


def test_no_claim_file_imports_another() -> None:
    for path in (ROOT / "claims").glob("*/test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
                assert not any(".test_" in name for name in names), path


PACKAGES = (theory, simulation, recall_claims, recall_reports)
MODULES = [package.__name__ for package in PACKAGES] + [
    module.name
    for package in PACKAGES
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_every_public_name_says_what_it_is() -> None:
    """A dataclass without a docstring gets its signature as docstring, which explains nothing."""
    for name in recall_claims.__all__:
        text = getattr(recall_claims, name).__doc__ or ""
        assert len(text) > 20, name
        assert not text.startswith(f"{name}("), name
