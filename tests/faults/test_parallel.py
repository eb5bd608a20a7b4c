"""Whoever runs the blocks, no record is lost and the figures are the same."""

from __future__ import annotations

import re

from tests.faults.conftest import Suite

NAMES = ("one", "two", "three", "four", "five")


def test_every_way_of_running_gives_the_same_figures(suite: Suite) -> None:
    suite.write(*NAMES)
    ways = {
        "serial": ("--executor", "serial"),
        "processes": ("--executor", "processes:2"),
        "workers": ("-n", "2"),
    }
    for name, options in ways.items():
        result = suite.run_apart(*options, "--ledger", f"{name}.sqlite", "--report-dir", name)
        assert result.status == 0, result.text

    assert list(suite.figures("serial")) == sorted(f"tiny.{name}" for name in NAMES)
    assert suite.figures("processes") == suite.figures("serial")
    assert suite.figures("workers") == suite.figures("serial")


def test_a_claim_alone_has_the_figures_of_the_full_run(suite: Suite) -> None:
    suite.write(*NAMES)
    full = suite.run("--ledger", "full.sqlite")
    assert full.status == 0, full.text
    wanted = suite.figures()["tiny.three"]

    alone = suite.run("-k", "three", "--ledger", "alone.sqlite")

    assert alone.status == 0, alone.text
    assert suite.figures() == {"tiny.three": wanted}


def test_fresh_seed_is_printed_recorded_and_can_be_replayed(suite: Suite) -> None:
    suite.write("one")
    fresh = suite.run("--seed", "fresh", "--report-dir", "fresh")
    assert fresh.status == 0, fresh.text
    printed = re.search(r"seed (\d+)", fresh.text)
    assert printed is not None
    seed = printed.group(1)
    assert suite.report("fresh")["suite"]["seed"] == int(seed)

    again = suite.run("--seed", "fresh", "--report-dir", "again")
    assert again.status == 0, again.text
    assert suite.report("again")["suite"]["seed"] != int(seed)

    replayed = suite.run("--seed", seed, "--ledger", "other", "--report-dir", "replayed")
    assert replayed.status == 0, replayed.text
    assert suite.figures("replayed") == suite.figures("fresh")


def test_fresh_seed_is_one_seed_for_all_workers(suite: Suite) -> None:
    suite.write(*NAMES)
    result = suite.run_apart("-n", "2", "--seed", "fresh")
    assert result.status == 0, result.text
    report = suite.report()
    assert {claim["seed"] for claim in report["claims"]} == {report["suite"]["seed"]}
