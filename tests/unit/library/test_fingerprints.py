"""What a block's fingerprint depends on, and what the simulation can see."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from claims.factual import sequential
from claims.factual.test_sequential_plateau import hallucination
from recall_claims.evidence.fingerprints import (
    bases,
    fingerprint,
    independence,
    source,
    summary,
    upstream,
    visible_names,
)

SOURCE = '''
"""A module."""
from simulation.attention import sampling
from theory.attention import problem

SIZE = 3

def helper(x):
    """Doc."""
    return x + SIZE

def decorate(f):
    return f

@decorate
def observe(cell, block):
    """Statement."""
    return sampling, helper(1)

def cheat(cell, block):
    return problem.Problem

def innocent(cell, block):
    return block.problem
'''


def load(folder: Path, source: str, name: str = "claimlike") -> ModuleType:
    """Import the source as a fresh module."""
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    sys.modules.pop(name, None)
    import importlib
    import linecache

    linecache.clearcache()
    importlib.invalidate_caches()
    return importlib.import_module(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("", "", True),
        ('"""Doc."""', '"""Another docstring."""', True),
        ("@decorate\n", "@decorate  # a comment\n", True),
        ('"""Statement."""', '"""The theorem, reworded."""', True),
        ("x + SIZE", "x - SIZE", False),
        ("SIZE = 3", "SIZE = 4", False),
        ("helper(1)", "helper(2)", False),
        ("return problem.Problem", "return problem", True),
    ],
)
def test_fingerprint_changes_with_what_the_figures_depend_on(
    folder: Path, old: str, new: str, same: bool
) -> None:
    before = fingerprint(load(folder, SOURCE).observe)
    after = fingerprint(load(folder, SOURCE.replace(old, new) if old else SOURCE).observe)
    assert (before == after) is same


def test_a_table_of_functions_has_a_fingerprint_of_its_own(folder: Path) -> None:
    source = SOURCE.replace("SIZE = 3", "SIZE = 3\nTABLE = {'h': len, 'i': lambda x: x}").replace(
        "return x + SIZE", "return TABLE"
    )
    assert fingerprint(load(folder, source).observe) == fingerprint(load(folder, source).observe)


def test_a_simulation_that_uses_theory_is_seen(folder: Path) -> None:
    module = load(folder, SOURCE)
    assert "theory.attention.problem" in visible_names(module.cheat)
    assert not any(name.startswith("theory") for name in visible_names(module.observe))


def test_an_attribute_that_shares_a_theory_modules_name_is_innocent(folder: Path) -> None:
    assert visible_names(load(folder, SOURCE).innocent) == ()


def test_a_file_in_no_package_counts_with_what_it_imports(folder: Path) -> None:
    (folder / "flat_helper.py").write_text("from simulation import tiles\n")
    load(folder, "import json\nimport numpy\nimport flat_helper\n", "flat")
    assert upstream("flat") >= {"flat_helper", "simulation", "simulation.tiles"}
    assert source("flat") == (folder / "flat.py").resolve()
    assert source("json") is source("numpy") is source("flat.nothing") is None


def test_helpers_of_another_claim_file_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(hallucination.observe)
    monkeypatch.setattr(sequential, "NAMES", ("subjects", "relations"))
    assert fingerprint(hallucination.observe) != before


def test_formulas_rest_on_the_nearest_that_are_asked_about() -> None:
    names = (
        "theory.attention.signal",
        "theory.attention.localisation",
        "theory.attention.critical",
        "theory.attention.capacity",
    )
    assert bases([*names, "theory.nowhere"]) == {
        "theory.attention.capacity": ["theory.attention.critical"],
        "theory.attention.critical": ["theory.attention.localisation"],
        "theory.attention.localisation": ["theory.attention.signal"],
        "theory.attention.signal": [],
    }


def test_summary_is_the_first_paragraph_of_the_docstring() -> None:
    expected = "Localisation: the probability that the attention finds the informative token."
    assert summary("theory.attention.localisation") == expected


def test_theory_and_simulation_are_independent_and_counted() -> None:
    found = independence()
    assert found["chains"] == 0
    for package in ("theory", "simulation"):
        folder = Path(__file__).parents[3] / package
        assert found[package] == len([*folder.rglob("*.py")]) - 1  # without the package itself
