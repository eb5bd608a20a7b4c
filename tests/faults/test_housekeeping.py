"""`python -m recall_claims ledger`: what a ledger holds, and what may go."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recall_claims.__main__ import main
from recall_claims.evidence.block import pack
from recall_claims.evidence.ledger import Ledger
from tests.faults.conftest import HEAD, LEDGER, Suite, written


@pytest.fixture
def edited(suite: Suite) -> Suite:
    """A suite with evidence of a claim that is gone, of one as it was, and as it is."""
    suite.write("one", "two")
    suite.run()
    (suite.folder / suite.file).unlink()
    later = replace(suite, file=suite.file.replace("tiny", "later"))
    later.write_text(HEAD + written("one", ("0.95, 1.05", "0.94, 1.05")))
    later.run()
    later.capture.readouterr()
    return later


def test_only_what_no_claim_needs_and_is_old_is_removed(edited: Suite) -> None:
    before = edited.figures()
    draws = edited.ask("SELECT * FROM draws")
    assert len(draws) == 3
    blocks = edited.ask("SELECT key FROM blocks")
    size = (edited.folder / LEDGER).stat().st_size

    for day in ("2020-01-01", "2999-01-01"):
        assert main(["ledger", "prune", ".", "--before", day]) == 0
        assert edited.ask("SELECT key FROM blocks") == blocks
    assert "--yes would remove" in edited.capture.readouterr().out
    assert main(["ledger", "prune", ".", "--before", "2020-01-01", "--yes"]) == 0
    assert edited.ask("SELECT key FROM blocks") == blocks

    assert main(["ledger", "prune", ".", "--before", "2999-01-01", "--yes"]) == 0
    assert "of 2 registrations" in edited.capture.readouterr().out
    kept = edited.ask("SELECT DISTINCT claim, registration FROM blocks")
    assert kept == [("tiny.one", edited.report()["claims"][0]["registration"])]
    assert edited.ask("SELECT * FROM draws") == draws
    assert (edited.folder / LEDGER).stat().st_size < size

    edited.run()
    assert edited.figures() == before
    assert edited.report()["suite"]["blocks"]["reused"] == edited.kept()


def test_nothing_is_removed_if_the_claims_cannot_be_read(edited: Suite) -> None:
    blocks = edited.ask("SELECT key FROM blocks")
    (edited.folder / "empty").mkdir()
    (edited.folder / "broken").mkdir()
    (edited.folder / "broken" / "test_broken.py").write_text("1 / 0")
    for folder in ("empty", "broken", "nowhere"):
        assert main(["ledger", "prune", folder, "--before", "2999-01-01", "--yes"]) == 2
        assert f"no claims could be collected in {folder}" in edited.capture.readouterr().err
    assert edited.ask("SELECT key FROM blocks") == blocks


def test_a_ledger_is_listed_without_what_a_terminal_would_obey(edited: Suite) -> None:
    edited.ask("UPDATE blocks SET claim = char(27) || '[2J' WHERE claim = 'tiny.two'")
    edited.ask("UPDATE blocks SET checksum = '' WHERE claim = 'tiny.one'")
    edited.run()
    edited.capture.readouterr()
    assert main(["ledger", "list"]) == 0
    printed = edited.capture.readouterr().out
    assert "?[2J  " in printed
    assert "\x1b" not in printed
    assert "of tiny.one at scale=1.0: it does not match its checksum" in printed
    assert "blocks of 3 registrations" in printed


def test_a_ledger_that_is_not_there_is_not_made(suite: Suite) -> None:
    for do in (["list"], ["prune", "--before", "2999-01-01"]):
        assert main(["ledger", *do]) == 2
        assert "no such file; name a ledger with --ledger" in suite.capture.readouterr().err
    assert not Path(LEDGER).exists()


def test_half_runs_merge_into_the_whole_one(suite: Suite) -> None:
    suite.write("one", "two")
    for name in ("one", "two"):
        suite.run("-k", name, "--ledger", f"{name}.sqlite")
    suite.run("--ledger", "whole.sqlite")
    whole = suite.figures()
    halves = ["one.sqlite", "two.sqlite"]
    assert main(["ledger", "merge", *halves, "one.sqlite", "-o", "both.sqlite"]) == 0
    suite.run("--ledger", "both.sqlite")
    assert suite.figures() == whole
    blocks = suite.report()["suite"]["blocks"]
    assert blocks["reused"] == blocks["total"] == suite.kept("both.sqlite")
    for _ in range(2):
        assert main(["ledger", "merge", *halves, "-o", "both.sqlite"]) == 2
        assert "both.sqlite is there already" in suite.capture.readouterr().err
    assert main(["ledger", "merge", "one.sqlite", "gone.sqlite", "-o", "new.sqlite"]) == 2
    assert not {*suite.folder.glob("new.*"), *suite.folder.glob("gone.*")}


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ("other", "other.sqlite and one.sqlite have different results for block 0 of tiny.one at"),
        ("UPDATE blocks SET payload = x'01'", "is no evidence (Input data was truncated)"),
        ("UPDATE blocks SET key = key || '0'", "it is kept under the key of another"),
        ("UPDATE blocks SET seed = 'seed'", "is no evidence (invalid literal"),
        ("UPDATE draws SET seed = '7'", "its chain of draws was edited at number 1"),
    ],
)
def test_ledgers_that_contradict_each_other_are_not_merged(
    suite: Suite, edit: str, says: str
) -> None:
    suite.write("one")
    for name in ("one", "other"):
        suite.run("--ledger", f"{name}.sqlite")
    if edit == "other":
        with Ledger(suite.folder / "other.sqlite") as ledger:
            payload, checksum = pack({"value": np.ones(16)})
            sql = "UPDATE blocks SET payload = ?, checksum = ? WHERE block = 0"
            ledger.ask(sql, (payload, checksum))
    else:
        suite.ask(edit, "other.sqlite")
    before = [(suite.folder / f"{name}.sqlite").read_bytes() for name in ("one", "other")]
    assert main(["ledger", "merge", "one.sqlite", "other.sqlite", "-o", "both.sqlite"]) == 2
    assert says in suite.capture.readouterr().err
    assert [(suite.folder / f"{name}.sqlite").read_bytes() for name in ("one", "other")] == before
    assert not (suite.folder / "both.sqlite").exists()
    assert not [*suite.folder.glob(".*")]
