"""A ledger that cannot be used gives one clear error, and is left alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.conftest import Suite


def garbage(path: Path) -> None:
    """Not a database at all."""
    path.write_bytes(b"this is no database, whatever its name says\n" * 100)


def foreign(path: Path) -> None:
    """Some other program's database."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE bookmarks (url TEXT)")
    database.close()


def newer(path: Path) -> None:
    """Written by a later version of the suite."""
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def truncated(path: Path) -> None:
    """Half of it is gone."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def wrong_payload(path: Path) -> None:
    """A figure was changed."""
    with sqlite3.connect(path) as database:
        database.execute("UPDATE blocks SET payload = zeroblob(length(payload))")
    database.close()


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (garbage, "damaged or no ledger"),
        (foreign, "some other program's database"),
        (newer, "newer version"),
        (truncated, "damaged"),
        (wrong_payload, "damaged"),
    ],
)
def test_unusable_ledger(suite: Suite, damage: Callable[[Path], None], cause: str) -> None:
    suite.write("one")
    path = suite.folder / "ledger.sqlite"
    options = ("--ledger", path.name)
    if damage is not garbage and damage is not foreign:
        assert suite.run(*options).status == 0
    damage(path)
    before = path.read_bytes()

    result = suite.run(*options)

    assert result.status == 1
    assert cause in result.text
    assert "--ledger" in result.text
    assert "Traceback" not in result.text
    assert path.read_bytes() == before
    assert suite.report()["claims"][0]["state"] == "ERROR"


def test_ledger_in_an_impossible_place(suite: Suite) -> None:
    suite.write("one")
    (suite.folder / "file").touch()

    result = suite.run("--ledger", "file/ledger.sqlite")

    assert result.status == 1
    assert "choose a writable place with --ledger" in result.text
    assert "Traceback" not in result.text
