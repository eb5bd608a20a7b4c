"""A claim that is written wrongly is one clear error when pytest collects it."""

from __future__ import annotations

import pytest

from tests.faults.conftest import CLAIM, HEAD, Suite

GOOD = CLAIM.format(name="one", pause=0)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("    source=SOURCE,\n", "", "no provenance"),
        (
            '    controls=[Control("double", "twice the value", predict=double)],\n',
            "",
            "no control",
        ),
        ("    predict=predict,\n", "", "give predict="),
        ("replicates=16", "replicates=1", "at least 2 replicates"),
        ("replicates=16", "replicates=16, block=6", "block=6 does not divide"),
        ("cells=grid(scale=(1.0, 2.0, 5.0))", "cells={}", "no cells in any tier"),
        ("scale=(1.0, 2.0, 5.0)", "scale=(1.0, 1.0)", "a cell stands twice"),
        ("wide enough to be decided after some looks", "", "no why="),
        ("    regime=", "    title=", "keyword argument repeated"),
        ("cells=grid(scale=(1.0, 2.0, 5.0))", "cells=grid(scale=())", "has no values"),
    ],
)
def test_wrong_claim(suite: Suite, old: str, new: str, says: str) -> None:
    assert old in GOOD
    suite.write_text(HEAD + GOOD.replace(old, new))

    result = suite.run()

    assert result.status == 2, result.text
    assert says in result.text
    assert not (suite.folder / "reports").exists()


PREDICTED = """

def predict(cell):
    Path("predicted").touch()
    return cell.number("scale")
"""
LATER = "cells=lambda: grid(scale=(1.0, 2.0, 5.0))"


@pytest.mark.parametrize("cells", ["cells=grid(scale=(1.0, 2.0, 5.0))", LATER])
def test_collection_predicts_nothing(suite: Suite, cells: str) -> None:
    body = GOOD.replace("cells=grid(scale=(1.0, 2.0, 5.0))", cells)
    suite.write_text(HEAD + PREDICTED + body)

    assert suite.run("--collect-only").status == 0
    assert not (suite.folder / "predicted").exists()
    assert suite.run("-k", "one").status == 0
    assert (suite.folder / "predicted").exists()


SHOWN = {
    "cells=grid(scale=(0.0, 1.0))": "prediction is 0",
    "cells=lambda: grid(scale=(1.0, 1.0))": "a cell stands twice",
    "cells=lambda: {}": "no cells in any tier",
    "cells=lambda: grid(scale=())": "has no values",
}
FIRST = next(iter(SHOWN))


@pytest.mark.parametrize(
    ("cells", "executor"),
    [
        *((cells, "serial") for cells in SHOWN),
        (FIRST, "processes:1"),
        *(
            pytest.param(cells, "processes:1", marks=pytest.mark.thorough)
            for cells in SHOWN
            if cells != FIRST
        ),
    ],
)
def test_what_a_prediction_shows_is_found_before_a_block_runs(
    suite: Suite, cells: str, executor: str
) -> None:
    wrong = GOOD.replace("cells=grid(scale=(1.0, 2.0, 5.0))", cells)
    ran = '    Path("ran").touch()\n    time.sleep(0)\n'
    good = GOOD.replace("def one", "def ok").replace("tiny.one", "tiny.ok")
    suite.write_text(HEAD + good + wrong.replace("    time.sleep(0)\n", ran))

    result = suite.run("--executor", executor)

    assert result.status == 1, result.text
    assert SHOWN[cells] in result.text
    assert not (suite.folder / "ran").exists()
    states = {claim["id"]: claim["state"] for claim in suite.report()["claims"]}
    assert states == {"tiny.ok": "DECIDED", "tiny.one": "ERROR"}


def test_a_dry_run_finds_what_predictions_show(suite: Suite) -> None:
    suite.write_text(HEAD + GOOD.replace("scale=(1.0, 2.0, 5.0)", "scale=(0.0, 1.0)"))

    result = suite.run("--dry-run")

    assert result.status == 2, result.text
    assert "prediction is 0" in result.text


def test_simulation_that_sees_the_prediction(suite: Suite) -> None:
    body = GOOD.replace("    time.sleep(0)\n", "    signal.trigger_signal\n")
    suite.write_text("from theory.attention import signal\n" + HEAD + body)

    result = suite.run()

    assert result.status == 2, result.text
    assert "its simulation sees the prediction (theory.attention.signal)" in result.text


def test_two_claims_of_one_id(suite: Suite) -> None:
    suite.write_text(HEAD + GOOD + GOOD.replace("def one", "def other"))

    result = suite.run()

    assert result.status == 4, result.text
    assert "two claims share the id tiny.one" in result.text


def test_more_claims_than_their_paper_has_slots_for(suite: Suite) -> None:
    paper = suite.folder / "paper.toml"
    paper.write_text(paper.read_text().replace("slots = 26", "slots = 1"))
    suite.write("one", "two")

    for options in ((), ("-k", "one")):  # what is selected makes no difference
        result = suite.run(*options)

        assert result.status == 4, result.text
        assert "paper tiny has 2 claims" in result.text
        assert f"1 slots; raise `slots` in {paper}" in result.text
