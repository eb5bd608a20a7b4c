"""`python -m recall_claims ledger`: what a ledger holds, and what may go."""

from dataclasses import replace
from pathlib import Path

import pytest

from recall_claims.__main__ import main
from tests.faults.conftest import HEAD, LEDGER, Suite, written


@pytest.fixture
def edited(suite: Suite) -> Suite:
    """A suite with evidence of a claim that is gone, of one as it was, and as it is."""
    suite.write("one", "two")
    assert suite.run().status == 0
    (suite.folder / suite.file).unlink()
    later = replace(suite, file=suite.file.replace("tiny", "later"))
    later.write_text(HEAD + written("one", ("0.95, 1.05", "0.94, 1.05")))
    assert later.run().status == 0
    later.capture.readouterr()
    return later


def test_only_what_no_claim_needs_and_is_old_is_removed(edited: Suite) -> None:
    before = edited.figures()
    registrations = edited.ask("SELECT * FROM registrations ORDER BY claim, registration")
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
    assert edited.ask("SELECT * FROM registrations ORDER BY claim, registration") == registrations
    assert (edited.folder / LEDGER).stat().st_size < size

    assert edited.run().status == 0
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
    assert edited.run().status == 0
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
