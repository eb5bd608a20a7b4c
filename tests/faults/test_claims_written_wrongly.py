"""A claim that is written wrongly is one clear error when pytest collects it.

What can be wrong with one is in `tests/unit/library/test_run.py`.
"""

from pathlib import Path

import pytest

from recall_claims.__main__ import main
from tests.faults.conftest import HEAD, Suite, edited, judged, written

CELLS = "cells=grid(scale=(1.0, 2.0, 5.0))"
TWICE = written("one", ("def one", "def other")) + "\n\n@claim"


@pytest.mark.parametrize(
    ("edits", "status", "says"),
    [
        ([('id="tiny.one"', 'id="tiny one"')], 2, "an id has letters, digits, dots"),
        ([('Source("tiny"', 'Source("tyni"')], 2, "the paper 'tyni', and it is one of tiny; have"),
        (
            [("import time", "from theory.attention import signal"), ("time.sleep(0.0)", "signal")],
            2,
            "its simulation sees the prediction (theory.attention.signal)",
        ),
        ([("\n\n@claim", TWICE)], 4, "two claims share the id tiny.one"),
    ],
)
def test_a_claim_that_cannot_be_collected(
    suite: Suite, edits: list[tuple[str, str]], status: int, says: str
) -> None:
    suite.write_text(edited(HEAD + written(), *edits))
    result = suite.run(status=status)
    assert says in result.text
    assert not (suite.folder / "reports").exists()


SHOWN = {
    "zero": ("cells=grid(scale=(0.0, 1.0))", "prediction is 0"),
    "twice": ("cells=lambda: grid(scale=(1.0, 1.0))", "a cell stands twice"),
    "none": ("cells=lambda: {}", "no cells in any tier"),
    "empty": ("cells=lambda: grid(scale=())", "has no values"),
}


@pytest.mark.parametrize(
    "executor", ["serial", pytest.param("processes:1", marks=pytest.mark.thorough)]
)
def test_what_a_prediction_shows_is_found_before_a_block_runs(suite: Suite, executor: str) -> None:
    """And by a dry run; collection predicts nothing."""
    ran = ("    time.sleep(0.0)\n", '    Path(".ran").touch()\n')
    wrong = [written(name, (CELLS, cells), ran) for name, (cells, _) in SHOWN.items()]
    predicted = ("predict=predict,", "predict=lambda cell: touched() or predict(cell),")
    later = written("later", (CELLS, CELLS.replace("=", "=lambda: ", 1)), predicted)
    touched = '\n\ndef touched():\n    Path(".predicted").touch()\n'
    suite.write_text(HEAD + touched + later + written("ok", predicted) + "".join(wrong))

    suite.run("--collect-only")
    assert not (suite.folder / ".predicted").exists()
    for name in ("zero", "empty"):
        dry = suite.run("--dry-run", "-k", name, status=2)
        assert SHOWN[name][1] in dry.text
    suite.run("--executor", executor, status=1)
    assert (suite.folder / ".predicted").exists()
    for name, (_, says) in SHOWN.items():
        assert says in suite.claims()[f"tiny.{name}"]["reason"]
    assert not (suite.folder / ".ran").exists()
    errors = {f"tiny.{name}": "ERROR" for name in SHOWN}
    assert suite.states() == {"tiny.later": "DECIDED", "tiny.ok": "DECIDED", **errors}


def test_more_claims_than_their_paper_has_slots_for(suite: Suite) -> None:
    paper = suite.folder / "paper.toml"
    paper.write_text(paper.read_text().replace("slots = 26", "slots = 1"))
    suite.write("one", "two")

    for options in ((), ("-k", "one")):  # what is selected makes no difference
        result = suite.run(*options, status=4)
        assert "paper tiny has 2 claims" in result.text
        assert f"1 slots; raise `slots` in {paper}" in result.text


@pytest.mark.parametrize("name", ["simulation", "drawn"])
def test_a_simulation_that_reaches_theory_is_refused_in_any_repository(
    tmp_path: Path, name: str
) -> None:
    assert main(["new", "hebb", "--to", str(tmp_path)]) == 0
    (tmp_path / "hebb" / "helper.py").write_text("from hebb import theory\n")
    simulation, claim = (tmp_path / "hebb" / f"{n}.py" for n in ("simulation", "test_claims"))
    simulation.write_text(f"{simulation.read_text()}\n\nfrom . import helper\n")
    simulation.rename(simulation.with_stem(name))
    claim.write_text(claim.read_text().replace("simulation", name))

    result = judged(tmp_path, "hebb")

    assert result.status == 1, result.text
    assert f"simulation sees the prediction (hebb.{name} imports hebb.theory)" in result.text


def test_numbers_of_numpy_in_a_rule_of_ones_own(suite: Suite) -> None:
    """An author's rule may name components by whatever numbers it has."""
    rule = """
from dataclasses import replace
from recall_claims.judge.rules import Rule


class Own(MeanRatio):
    def components(self, evidence, predict, alpha):
        found = super().components(evidence, predict, alpha)
        return tuple(replace(c, params={"scale": np.float64(c.params["scale"])}) for c in found)

"""
    claim = written("one", ("rule=MeanRatio(", "rule=Own("))
    suite.write_text(HEAD + rule + claim)
    suite.run()
    assert suite.states() == {"tiny.one": "DECIDED"}
