"""Whoever runs the blocks, no record is lost and the figures are the same."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.faults.conftest import HEAD, WAYS, Suite, until, written

NAMES = ("one", "two", "three", "four", "five")


def test_every_way_of_running_gives_the_same_figures(suite: Suite) -> None:
    """Each test case of `--junitxml FILE` carries them."""
    on_gpu = written("gpu", ("cells=grid", "needs='cuda',\n    cells=grid"))
    suite.write_text(HEAD + "".join(map(written, NAMES)) + on_gpu)
    for name, options in WAYS.items():
        places = ("--ledger", f"{name}.sqlite", "--report-dir", name)
        suite.run(*options, *places, "--junitxml", "results/junit.xml")
        told_of_each_test_case(suite.claims(name))

    assert list(suite.figures("serial")) == sorted(f"tiny.{name}" for name in (*NAMES, "gpu"))
    assert suite.figures("processes") == suite.figures("serial")
    assert suite.figures("workers") == suite.figures("serial")


def told_of_each_test_case(claims: dict[str, dict[str, Any]]) -> None:
    """The properties that `junit.xml` has of them."""
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
    assert "needs --device cuda" in str(cases["tiny.gpu"][-1].get("message"))


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


def test_a_claim_alone_has_the_figures_of_the_full_run(suite: Suite) -> None:
    suite.write(*NAMES)
    suite.run("--ledger", "full.sqlite")
    wanted = suite.figures()["tiny.three"]

    suite.run("-k", "three", "--ledger", "alone.sqlite")
    assert suite.figures("reports/part") == {"tiny.three": wanted}


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


@pytest.mark.thorough
def test_fresh_seed_is_one_seed_for_all_workers(suite: Suite) -> None:
    suite.write(*NAMES)
    suite.run("-n", "2", "--seed", "fresh")
    report = suite.report()
    assert {claim["seed"] for claim in report["claims"]} == {report["suite"]["seed"]}
