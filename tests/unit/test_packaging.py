"""What a stranger who adopts the project relies on: citations, pinned actions, narrow rights."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

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
