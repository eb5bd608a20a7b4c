"""The house has the same rooms everywhere, and none is overfull."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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
