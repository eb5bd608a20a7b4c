"""An edit after the evidence was seen is judged on evidence drawn after the edit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.faults.conftest import CLAIM, HEAD, Suite

TEXT = HEAD + CLAIM.format(name="one", pause=0)
EDITS = {
    "region": ("Region(0.95, 1.05)", "Region(0.94, 1.05)"),
    "looks": ("looks=6", "looks=5"),
    "grid": ("5.0", "4.0"),
    "formula": ('return cell.number("scale")', 'return 1.001 * cell.number("scale")'),
    "control": ("return 2 *", "return 3 *"),
}


def only_claim(suite: Suite) -> dict[str, Any]:
    [claim] = suite.report()["claims"]
    return dict(claim)


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_declaration_draws_fresh_evidence(suite: Suite, what: str) -> None:
    suite.write_text(TEXT)
    assert suite.run().status == 0
    before = only_claim(suite)
    assert TEXT.count(EDITS[what][0]) == 1
    suite.write_text(TEXT.replace(*EDITS[what]))
    assert suite.run_apart().status == 0
    after = only_claim(suite)
    assert after["registration"] != before["registration"]
    assert after["blocks"]["reused"] == 0
    assert after["components"][0]["estimate"] != before["components"][0]["estimate"]
    assert (before["registrations"], after["registrations"]) == (1, 2)


def test_prose_is_no_declaration(suite: Suite) -> None:
    suite.write_text(TEXT)
    suite.run()
    before = only_claim(suite)
    suite.write_text(TEXT.replace("wide enough", "and wide enough"))
    assert suite.run_apart().status == 0
    after = only_claim(suite)
    assert after["registration"] == before["registration"]
    assert after["blocks"]["reused"] == after["blocks"]["total"]


def test_old_evidence_explores_and_decides_nothing(suite: Suite) -> None:
    suite.write_text(TEXT)
    suite.run()
    before = only_claim(suite)
    suite.write_text(TEXT.replace(*EDITS["region"]))
    result = suite.run_apart("--reuse-evidence")
    assert result.status == 0
    assert "EXPLORED" in result.text
    explored = only_claim(suite)
    assert (explored["state"], explored["outcome"]) == ("EXPLORED", "skipped")
    assert explored["verdict"] is None
    assert explored["registration"] == before["registration"]
    assert explored["blocks"]["reused"] == explored["blocks"]["total"]
    assert explored["components"]


def test_evidence_of_its_own_is_no_exploration(suite: Suite) -> None:
    suite.write_text(TEXT)
    suite.run()
    assert suite.run_apart("--reuse-evidence").status == 0
    assert only_claim(suite)["verdict"] == "SUPPORTED"


def test_nothing_kept_is_drawn_as_ever(suite: Suite) -> None:
    suite.write_text(TEXT)
    assert suite.run("--reuse-evidence").status == 0
    assert only_claim(suite)["verdict"] == "SUPPORTED"


def test_a_baseline_that_nobody_asked_for_is_not_read(suite: Suite) -> None:
    suite.write_text(TEXT)
    (suite.folder / "reports").mkdir()
    (suite.folder / "reports" / "baseline.json").write_text("{}", encoding="utf-8")
    assert suite.run().status == 0
