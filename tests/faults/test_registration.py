"""An edit after the evidence was seen is judged on evidence drawn after the edit."""

from tests.faults.conftest import HEAD, Suite, written

REGION = ("Region(0.95, 1.05)", "Region(0.94, 1.05)")
EDITS = {
    "region": REGION,
    "looks": ("looks=6", "looks=5"),
    "cells": ("5.0", "4.0"),
    "formula": ("predict=predict", 'predict=lambda cell: 1.001 * cell["scale"]'),
    "control": ("predict=double", 'predict=lambda cell: 3 * cell["scale"]'),
}
PROSE = ("wide enough", "and wide enough")


def test_an_edited_declaration_draws_fresh_evidence_and_prose_is_none(suite: Suite) -> None:
    suite.write(*EDITS, "prose")
    suite.run()
    before = suite.claims()
    edited = [written(name, edit) for name, edit in EDITS.items()]
    suite.write_text(HEAD + "".join(edited) + written("prose", PROSE))
    suite.run_apart()
    after = suite.claims()
    for name in EDITS:
        old, new = before[f"tiny.{name}"], after[f"tiny.{name}"]
        assert new["registration"] != old["registration"], name
        assert new["blocks"]["reused"] == 0
        assert new["components"][0]["estimate"] != old["components"][0]["estimate"]
        assert (old["draws"], new["draws"], new["draw"]) == (1, 2, 2)
    prose = after["tiny.prose"]
    assert prose["registration"] == before["tiny.prose"]["registration"]
    assert prose["blocks"]["reused"] == prose["blocks"]["total"]


def test_old_evidence_explores_and_decides_nothing(suite: Suite) -> None:
    suite.write("edited", "same")
    suite.run()
    before = suite.claims()["tiny.edited"]
    suite.write_text(HEAD + written("edited", REGION) + written("same"))
    result = suite.run_apart("--reuse-evidence")
    assert "EXPLORED" in result.text
    explored, same = suite.claims().values()
    assert (explored["state"], explored["outcome"]) == ("EXPLORED", "skipped")
    assert explored["verdict"] is None
    assert explored["registration"] == before["registration"]
    assert explored["blocks"]["reused"] == explored["blocks"]["total"]
    assert explored["components"]
    assert same["verdict"] == "SUPPORTED", "evidence of its own is no exploration"


def test_where_nothing_is_kept_or_asked_for_all_is_drawn_as_ever(suite: Suite) -> None:
    suite.write("one")
    baseline = suite.folder / "reports" / "baseline.json"
    baseline.parent.mkdir()
    baseline.write_text("{}", encoding="utf-8")  # which nobody asks for
    suite.run("--reuse-evidence")
    assert suite.claims()["tiny.one"]["verdict"] == "SUPPORTED"


def test_a_seed_and_a_draw_that_changes_nothing_but_the_evidence_are_counted(suite: Suite) -> None:
    dummy = ("    time.sleep(0.0)\n", "    [rng.random() for rng in block.rngs]\n")
    suite.write("one")
    suite.run()
    suite.run("--seed", "1")
    suite.write_text(HEAD + written("one", dummy))
    suite.run_apart()
    [again] = suite.claims().values()
    assert (again["draws"], again["draw"]) == (3, 3)
    suite.write("one")
    suite.run_apart()
    [first] = suite.claims().values()
    assert (first["draws"], first["draw"], first["blocks"]["reused"] > 0) == (3, 1, True)
