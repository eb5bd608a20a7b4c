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
