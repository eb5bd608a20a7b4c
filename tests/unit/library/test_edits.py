"""Edits since a commit, and the claims that depend on them."""

import importlib
from pathlib import Path

import pytest

from recall_claims.model import predictions as registry
from recall_claims.plugin.edited import Edits
from tests.apart import git, saved

THEORY = """
from recall_claims import prediction

FACTOR = 2
TEXT = "prose"


def helped(size):
    return FACTOR * size


def half(size):
    return helped(size)


@prediction(latex="n", source="nowhere")
def alone(size):
    return size


def planted(size):
    return 3 * size
"""
CLAIMS = '''
import numpy as np
import recall_claims as rc
from edited_paper import simulation, theory

for_all = dict(
    source=rc.Source("A", "A3", provenance="derived"), regime="everywhere", replicates=16,
    cells={"standard": rc.grid(size=(1, 2))}, rule=rc.MeanRatio(rc.Region(0.9, 1.1)), why="a test",
    controls=[rc.Control("planted", "wrong", predict=lambda cell: theory.planted(cell["size"]))],
)


@rc.claim("T.one", predict=rc.on(theory.half), **for_all)
def one(cell, block):
    """A mean."""
    return simulation.drawn(block)


@rc.claim("T.two", predict=lambda cell: theory.half(cell["size"]), **for_all)
def two(cell, block):
    """A mean."""
    return np.ones(block.replicates)
'''
SIMULATION = "def drawn(block):\n    return [rng.normal() for rng in block.rngs]\n"


@pytest.fixture
def edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Edits:
    """Make a repository with two claims on one formula, and commit it."""
    texts = {"__init__": "", "theory": THEORY, "simulation": SIMULATION, "test_claims": CLAIMS}
    saved(tmp_path, {f"edited_paper/{name}.py": text for name, text in texts.items()})
    monkeypatch.setattr(registry, "_registered", {**registry._registered})
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("edited_paper.test_claims")
    return Edits(tmp_path, "0123456789+", [module.one, module.two])


def test_what_is_edited_is_told_with_the_claims_that_depend_on_it(
    edits: Edits, tmp_path: Path
) -> None:
    file = tmp_path / "edited_paper" / "theory.py"
    prose = THEORY.replace("def half(size):", 'def half(size):\n    """Half."""')
    file.write_text(prose, encoding="utf-8")
    assert not edits.names, "a docstring is no formula"
    del edits.names
    changed = THEORY
    for old, new in (
        ("FACTOR = 2", "FACTOR = 4"),
        ("prose", "text"),
        ("3 *", "5 *"),
        ("return size", "return 7"),
    ):
        changed = changed.replace(old, new)
    file.write_text(changed, encoding="utf-8")
    one, two = edits._claims
    here = "judged here: T.one; not judged here: T.two (in standard, full)"
    alone = "no claim predicts with it"
    assert list(edits.lines(["T.one"])) == [
        f"edited, not committed: edited_paper.theory.FACTOR; {here}",
        f"edited, not committed: edited_paper.theory.alone; {alone}",
        f"edited, not committed: edited_paper.theory.planted; {alone}; controls do: T.one, T.two",
    ]
    git(tmp_path, "branch", "baseline")
    git(tmp_path, "commit", "--all", "--message", "second")
    file.write_text(changed.replace("5 *", "9 *"), encoding="utf-8")
    since = Edits(tmp_path, "baseline", edits._claims)
    assert [told.partition(";")[0] for told in since.lines(["T.one"])] == [
        "edited, not committed: edited_paper.theory.planted",
        "edited since baseline: edited_paper.theory.FACTOR",
        "edited since baseline: edited_paper.theory.alone",
    ]
    git(tmp_path, "reset", "baseline")
    file.write_text(changed, encoding="utf-8")
    theory = "its theory was edited (edited_paper.theory.FACTOR)"
    assert edits.since(two) == f"since commit HEAD, {theory} and its simulation was not"

    file.write_text(THEORY, encoding="utf-8")
    del edits.names
    file.with_name("simulation.py").write_text(SIMULATION.replace("()", "(1)"), encoding="utf-8")
    simulation = "its simulation was edited (edited_paper.simulation.drawn)"
    assert edits.since(one) == f"since commit HEAD, {simulation} and its theory was not"
    neither = "neither its theory nor its simulation was edited"
    assert edits.since(two) == f"since commit HEAD, {neither}"
    assert not list(edits.lines(["T.one"]))

    for unreadable in ("def (", "TEXT = '\xe9'"):  # committed files need not be readable
        file.write_bytes(unreadable.encode("latin-1"))
        git(tmp_path, "commit", "--all", "--message", "unreadable")
        file.write_text(THEORY, encoding="utf-8")
        del edits.names
        assert {("edited_paper.theory", name) for name in ("half", "TEXT")} <= edits.names


def test_without_git_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert Edits(tmp_path, None, []).commit == ""
    assert not Edits(tmp_path, None, []).names
