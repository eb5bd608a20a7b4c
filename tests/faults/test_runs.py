"""Guarantees for every executor: no record is lost, and the figures are the same.

A run that was killed, or whose disk was full, continues from the ledger; an edit draws fresh
evidence.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from recall_claims.plugin.session import ClaimSession
from tests.faults.conftest import HEAD, LEDGER, WAYS, Suite, environment, until, written

NAMES = ("one", "two", "three", "four", "five")


def test_every_way_of_running_gives_the_same_figures(suite: Suite) -> None:
    """Each test case of `--junitxml FILE` has the figures."""
    on_gpu = written("gpu", ("cells=grid", "needs='cuda',\n    cells=grid"))
    suite.write_text(HEAD + "".join(map(written, NAMES)) + on_gpu)
    for name, options in WAYS.items():
        places = ("--ledger", f"{name}.sqlite", "--report-dir", name)
        suite.run(*options, *places, "--junitxml", "results/junit.xml")
        told_of_each_test_case(suite.claims(name))

    assert list(suite.figures("serial")) == sorted(f"tiny.{name}" for name in (*NAMES, "gpu"))
    assert suite.figures("processes") == suite.figures("serial")


def told_of_each_test_case(claims: dict[str, dict[str, Any]]) -> None:
    cases = {c.get("name"): c for c in ElementTree.parse("results/junit.xml").iter("testcase")}
    found = {
        name: {p.get("name"): p.get("value") for p in case.iter("property")}
        for name, case in cases.items()
    }
    claim = claims["tiny.one"]
    head = claim["components"][claim["headline"]]
    assert found["tiny.one"] == {
        "verdict": "SUPPORTED",
        "estimate": str(head["estimate"]),
        "interval": str(head["interval"]),
        "region": "[0.95, 1.05]",
        "resolution": f"a constant off by {claim['resolution']:.1%}",
    }
    assert found["tiny.gpu"] == {"verdict": "NOT RUN"}
    assert "needs `--device cuda`" in str(cases["tiny.gpu"][-1].get("message"))


def test_two_runs_share_one_ledger(suite: Suite) -> None:
    suite.write(*NAMES[:3], pause=0.02)
    suite.run("--ledger", "alone.sqlite", "--report-dir", "alone")
    with ThreadPoolExecutor(1) as beside:
        options = ("--executor", "serial", "--ledger", "shared.sqlite")
        other = beside.submit(suite.run_apart, *options, "--report-dir", "other")
        until(lambda: (suite.folder / "shared.sqlite").exists() or other.done())
        suite.run("--ledger", "shared.sqlite", "--report-dir", "this")
        other.result()
    assert suite.figures("this") == suite.figures("other") == suite.figures("alone")
    assert suite.kept("shared.sqlite") == suite.report("alone")["suite"]["blocks"]["total"]


def test_fresh_seed_is_printed_recorded_and_can_be_replayed(suite: Suite) -> None:
    suite.write("one")
    fresh = suite.run("--seed", "fresh", "--report-dir", "fresh")
    printed = re.search(r"seed (\d+)", fresh.text)
    assert printed is not None
    seed = printed.group(1)
    assert suite.report("fresh")["suite"]["seed"] == int(seed)

    suite.run("--seed", "fresh", "--report-dir", "again")
    assert suite.report("again")["suite"]["seed"] != int(seed)

    suite.run("--seed", seed, "--ledger", "other", "--report-dir", "replayed")
    assert suite.figures("replayed") == suite.figures("fresh")


def test_a_replay_has_the_error_budget_of_its_run(suite: Suite) -> None:
    suite.write("one")
    suite.run("--error-budget", "0.01")
    [row] = suite.report()["claims"]
    suite.run(*row["replay"].split()[2:])
    [again] = suite.report("reports/replay")["claims"]
    assert (again["alpha"], again["components"]) == (row["alpha"], row["components"])


def test_claims_are_not_spread_by_xdist(suite: Suite) -> None:
    suite.write("one")
    shutil.copy(suite.file, "test_more.py")
    refused = suite.run_apart("test_more.py", "-n", "2", status=4)
    assert refused.text.count("claims share all cores without pytest-xdist: leave out -n") == 1
    assert not suite.kept()


@pytest.mark.parametrize("way", ["serial", pytest.param("processes", marks=pytest.mark.thorough)])
def test_killed_run_resumes_with_identical_figures(suite: Suite, way: str) -> None:
    executor = WAYS[way]
    suite.write("one", "two", pause=0.05)
    suite.run("--ledger", "whole.sqlite", "--report-dir", "whole")
    assert suite.report("whole")["suite"]["blocks"]["reused"] == 0

    process = subprocess.Popen(
        suite.command(*executor, "--ledger", "killed.sqlite"),
        cwd=suite.folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert until(lambda: suite.kept("killed.sqlite") >= 4)
    finished = suite.kept("killed.sqlite")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    if not until(lambda: _alone(process.pid), 30):
        os.killpg(process.pid, signal.SIGKILL)
        pytest.fail("worker processes outlive a run that was killed")

    suite.run(*executor, "--ledger", "killed.sqlite")
    assert suite.figures() == suite.figures("whole")
    blocks = suite.report()["suite"]["blocks"]
    assert finished <= blocks["reused"] < blocks["total"]

    suite.run("--ledger", "killed.sqlite", "--report-dir", "again")
    assert suite.figures("again") == suite.figures("whole")
    assert suite.report("again")["suite"]["blocks"]["reused"] == blocks["total"]


@pytest.mark.parametrize("kept", [False, True])
def test_a_run_that_is_stopped_reports_every_verdict_that_it_printed(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    printed = ClaimSession._show
    suite.write_text(HEAD + written("waited_for", pause=0.5 * (not kept)) + written("fast"))
    if kept:
        suite.run()
        suite.ask("DELETE FROM blocks WHERE claim = 'tiny.waited_for'")
        (suite.folder / "reports" / "latest" / "report.json").unlink()

    def stopped(session: ClaimSession, *what: Any, passes: bool) -> None:
        printed(session, *what, passes=passes)
        raise KeyboardInterrupt

    monkeypatch.setattr(ClaimSession, "_show", stopped)
    result = suite.run("--executor", "concurrent.futures:ThreadPoolExecutor", status=2)
    assert "INTERRUPTED, 1 of 2 claims done; the same command continues" in result.text
    assert "No claim was decided" not in result.text
    assert suite.states() == {"tiny.fast": "DECIDED"}


def test_a_block_that_dies_with_its_worker_is_taken_up_by_another(suite: Suite) -> None:
    safe = suite.folder / ".safe"  # no code: hidden files do not count
    trap = f"""
    if cell["scale"] == 5.0 and not os.path.exists({str(safe)!r}):
        open({str(safe)!r}, "x").close()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep"""
    one = written("one", ("\n    time.sleep", trap))
    suite.write_text("import os\nimport signal\n" + HEAD + one + written("two"))
    broken = suite.run("--executor", "processes:2", "--ledger", "killed.sqlite")
    assert "Traceback" not in broken.text
    suite.run("--ledger", "whole.sqlite", "--report-dir", "whole")
    assert suite.figures() == suite.figures("whole")


def _alone(group: int) -> bool:
    """Whether no process of a group still runs."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture
def small_disk(suite: Suite) -> Iterator[Path]:
    """Mount a file system of 256 KiB."""
    disk = suite.folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"only root may mount a small file system ({mounted.stderr.strip()})")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_too_small_for_the_ledger(suite: Suite, small_disk: Path) -> None:
    suite.write("one", "two", "three", "four")
    suite.run("--ledger", "whole.sqlite", "--report-dir", "whole")

    full = suite.run("--ledger", "disk/ledger.sqlite", status=1)
    assert "free some disk space and run again; finished blocks are kept" in full.text
    assert "Traceback" not in full.text
    assert "ERROR" in {claim["state"] for claim in suite.report()["claims"]}

    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    suite.run("--ledger", "disk/ledger.sqlite")
    assert suite.figures() == suite.figures("whole")
    blocks = suite.report()["suite"]["blocks"]
    assert 0 < blocks["reused"] < blocks["total"]


AGAIN = """
from _pytest.runner import runtestprotocol


def pytest_runtest_protocol(item, nextitem):
    for outcome in ("rerun", ""):
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            report.outcome = outcome or report.outcome
            item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
TOO_LONG = """
import signal

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("too long"))
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
"""


def test_a_claim_that_another_plugin_runs_again_is_one_claim(suite: Suite) -> None:
    """pytest-rerunfailures is such a plugin."""
    suite.write("one", "two")
    (suite.folder / "conftest.py").write_text(AGAIN, encoding="utf-8")
    suite.run_apart()
    assert suite.states() == {"tiny.one": "DECIDED", "tiny.two": "DECIDED"}


@pytest.mark.parametrize("way", ["serial", "processes"])
def test_a_claim_that_another_plugin_cuts_short_is_an_error(suite: Suite, way: str) -> None:
    """pytest-timeout is such a plugin."""
    suite.write_text(HEAD + written("long", pause=1) + written("short"))
    (suite.folder / "conftest.py").write_text(TOO_LONG, encoding="utf-8")
    result = suite.run_apart(*WAYS[way], status=1)
    assert suite.claims()["tiny.long"]["reason"] == "Failed: too long"
    assert "damaged" not in result.text


REGION = ("Region(0.95, 1.05)", "Region(0.94, 1.05)")
PROSE = ("wide enough", "and wide enough")
DUMMY = ("    time.sleep(0.0)\n", "    [rng.random() for rng in block.rngs]\n")


def test_each_edit_is_judged_on_fresh_evidence_and_counted_and_prose_is_none(suite: Suite) -> None:
    """`tests/unit/library/test_registration.py` says which edits count."""

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
