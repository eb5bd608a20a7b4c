"""An edit after the evidence was seen is judged on evidence drawn after the edit."""

import json
import shutil
from typing import Any

from tests.faults.conftest import HEAD, LEDGER, Suite, written

REGION = ("Region(0.95, 1.05)", "Region(0.94, 1.05)")
PROSE = ("wide enough", "and wide enough")
DUMMY = ("    time.sleep(0.0)\n", "    [rng.random() for rng in block.rngs]\n")


def test_each_edit_is_judged_on_fresh_evidence_and_counted_and_prose_is_none(suite: Suite) -> None:
    """Which edits are any is in `tests/unit/library/test_registration.py`."""

    def judged(*edits: tuple[str, str], seed: str = "0") -> dict[str, Any]:
        suite.write_text(HEAD + written("one", *edits))
        suite.run_apart("--seed", seed)
        [claim] = suite.claims().values()
        return claim

    first, seed, region, draw = judged(), judged(seed="1"), judged(REGION), judged(DUMMY)
    estimates = {claim["components"][0]["estimate"] for claim in (first, seed, region, draw)}
    assert len(estimates) == 4
    for number, claim in enumerate((first, seed, region, draw), start=1):
        assert (claim["draws"], claim["draw"], claim["blocks"]["reused"]) == (number, number, 0)
    prose = judged(PROSE)
    assert (prose["draws"], prose["draw"]) == (4, 1)
    assert prose["blocks"]["reused"] == prose["blocks"]["total"]
    assert prose["registration"] == first["registration"] != region["registration"]


def test_a_new_ledger_counts_the_sets_that_the_baseline_tells_of(suite: Suite) -> None:
    suite.write("one")

    def places(*seeds: str) -> list[tuple[int, int]]:
        found = []
        for seed in seeds:
            suite.run("--seed", seed)
            [claim] = suite.claims().values()
            found.append((claim["draw"], claim["draws"]))
        return found

    assert places("0", "1") == [(1, 1), (2, 2)]
    baseline, ledger = suite.folder / "reports" / "baseline.json", suite.folder / LEDGER
    report = suite.folder / "reports" / "latest" / "report.json"
    shutil.copy(report, baseline)
    for file in ledger.parent.glob(f"{ledger.name}*"):
        file.unlink()
    assert places("1", "2", "2", "1") == [(2, 2), (3, 3), (3, 3), (2, 3)]
    told = json.loads(report.read_text())
    told["claims"][0]["draws"] = 2**40
    baseline.write_text(json.dumps(told))
    assert places("2") == [(3, 101)]


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
