"""An unusable ledger gives one clear error; in a usable ledger, a run names a bad block."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from recall_claims.__main__ import main
from recall_claims.evidence import ledger_file
from tests.faults.conftest import LEDGER, Suite

Damage = Callable[[Path], object]


def told(sql: str) -> Damage:
    """Make a damage that runs SQL on a file, which becomes a database if it is none."""

    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(sql)

    return damage


def halved(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize(
    ("used", "damage", "cause"),
    [
        (False, lambda path: path.write_bytes(b"no database\n" * 400), "damaged or no ledger"),
        (False, told("CREATE TABLE bookmarks (url TEXT)"), "another program's database"),
        # The other program's database is still empty.
        (False, told("PRAGMA application_id = 252006674"), "another program's database"),
        (False, Path.touch, "an empty file, not a ledger"),
        (False, lambda path: path.symlink_to("gone"), "a link to gone, which is not there"),
        (True, told("PRAGMA user_version = 99"), "a newer version"),
        (True, told("PRAGMA user_version = 4"), "an older version"),
        (True, halved, "damaged"),
    ],
)
def test_unusable_ledger(suite: Suite, used: bool, damage: Damage, cause: str) -> None:
    suite.write("one")
    path = suite.folder / "ledger.sqlite"
    options = ("--ledger", path.name)
    if used:
        suite.run(*options)
    damage(path)
    before = path.read_bytes() if path.exists() else None

    result = suite.run(*options, "--report-dir", "anew", status=4)
    assert cause in result.text
    assert "--ledger" in result.text
    assert "Traceback" not in result.text
    assert (path.read_bytes() if path.exists() else None) == before
    assert not (suite.folder / "anew").exists()
    assert (suite.folder / "reports").exists() == used


def test_an_sqlite_without_strict_tables_is_named_at_the_start(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11 of RHEL 9 has such an SQLite."""
    suite.write("one")
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    result = suite.run(status=4)
    assert "has SQLite 3.34.1, and a ledger needs 3.37.0 or newer; take another" in result.text


def test_where_other_machines_may_write_a_ledger_it_has_no_log_ahead(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's log needs memory that all processes with the file open share."""
    suite.write("one")
    suite.run("--ledger", "old")
    mounts = ("/dev/sda / ext4 rw", *(f"host:/x {suite.folder} {k} rw" for k in ("autofs", "nfs4")))
    (suite.folder / "mounts").write_text("\n".join(mounts))
    monkeypatch.setattr(ledger_file, "MOUNTS", suite.folder / "mounts")
    for name, reused in (("old", True), ("new", False)):
        suite.run("--ledger", name)
        assert suite.ask("PRAGMA journal_mode", name) == [("delete",)]
        assert bool(suite.report()["suite"]["blocks"]["reused"]) == reused
    assert main(["ledger", "merge", "old", "new", "-o", "both"]) == 0
    assert suite.kept("both") == suite.kept("new")


def test_a_ledger_that_was_not_closed_is_looked_through(suite: Suite) -> None:
    suite.write("one")
    suite.run("--ledger", "whole")
    with closing(sqlite3.connect("whole")) as database:
        database.execute("INSERT INTO codes VALUES ('newest', '{}')")
        database.commit()
        shutil.copy("whole-wal", "killed-wal")
        content = bytearray(Path("whole").read_bytes())
    for start in range(2 * 8192, len(content), 8192):  # all but the pages that opening reads
        content[start : start + 100] = b"\xff" * 100
    Path("killed").write_bytes(content)
    result = suite.run("--ledger", "killed", status=4)
    assert "so it is damaged or no ledger; it was left alone" in result.text


def test_a_block_that_is_no_evidence_is_named_and_drawn_again(suite: Suite) -> None:
    suite.write("one", "two")
    options = ("--ledger", "ledger.sqlite")
    suite.run(*options)
    honest = suite.figures()
    where = "claim = 'tiny.one' AND block < 2"
    suite.ask(f"UPDATE blocks SET payload = zeroblob(length(payload)) WHERE {where}", options[1])
    changed = len(suite.ask(f"SELECT 1 FROM blocks WHERE {where}", options[1]))

    result = suite.run(*options)
    assert suite.figures() == honest
    one, two = (claim["blocks"] for claim in suite.report()["claims"])
    problem = "it has none of the forms that this program writes"
    assert one["recomputed"] == {f"damaged ({problem})": changed}
    assert not two["recomputed"]
    assert f"tiny.one: {changed} blocks of the ledger were no evidence" in result.text
    again = suite.run(*options)
    assert "no evidence" not in again.text
    assert suite.report()["suite"]["blocks"]["reused"] == suite.report()["suite"]["blocks"]["total"]


def test_what_a_lying_worker_returns_is_named_and_not_kept(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The executor is a user's own, with the results of a broken machine."""
    suite.write("one")
    monkeypatch.syspath_prepend(suite.folder)
    (suite.folder / "lying.py").write_text(LYING, encoding="utf-8")
    result = suite.run("--executor", "lying:Liar", status=1)
    (one,) = suite.report()["claims"]
    assert one["state"] == "ERROR"
    assert (
        "what its worker returned is no evidence: observable 'value' has 16 values" in result.text
    )
    assert "tiny.one at scale=" in result.text
    suite.run("--executor", "serial")
    assert not suite.report()["suite"]["blocks"]["reused"]


LYING = """
from dataclasses import replace

import numpy as np

from recall_claims.evidence.executors import SerialExecutor

WRONG = {"value": np.full(16, np.nan)}


class Liar(SerialExecutor):
    def submit(self, simulate, /, tasks):
        return super().submit(lambda: [replace(r, observations=WRONG) for r in simulate(tasks)])
"""


@pytest.mark.parametrize("name", ["report.json", "report.html", "report.md"])
def test_a_report_never_replaces_the_ledger(suite: Suite, name: str) -> None:
    suite.write("one")
    for there in (False, True):
        if there:
            suite.run("--ledger", f"here/{name}")
        result = suite.run("--ledger", f"here/{name}", "--report-dir", "there/../here", status=4)
        assert "would replace that file" in result.text
    assert (suite.folder / "here" / name).read_bytes().startswith(b"SQLite format 3")


def test_half_runs_merge_into_the_whole_one(suite: Suite) -> None:
    suite.write("one", "two")
    for name in ("one", "two"):
        suite.run("-k", name, "--ledger", f"{name}.sqlite")
    suite.run("--ledger", "whole.sqlite")
    whole = suite.figures()
    sets = suite.ask("SELECT * FROM draws ORDER BY claim", "whole.sqlite")
    halves = ["one.sqlite", "two.sqlite"]
    assert main(["ledger", "merge", *halves, "one.sqlite", "-o", "both.sqlite"]) == 0
    assert suite.ask("SELECT * FROM draws ORDER BY claim", "both.sqlite") == sets
    suite.run("--ledger", "both.sqlite")
    assert suite.figures() == whole
    blocks = suite.report()["suite"]["blocks"]
    assert blocks["reused"] == blocks["total"] == suite.kept("both.sqlite")
    for _ in range(2):
        assert main(["ledger", "merge", *halves, "-o", "both.sqlite"]) == 2
        assert "both.sqlite is there already" in suite.capture.readouterr().err
    assert main(["ledger", "merge", "one.sqlite", "gone.sqlite", "-o", "new.sqlite"]) == 2
    assert not {*suite.folder.glob("new.*"), *suite.folder.glob("gone.*")}


def test_confirmations_of_hunts_go_on_being_counted(suite: Suite) -> None:
    suite.write("one")
    for name, verdict in (("a", "REFUTED"), ("b", "SUPPORTED")):
        suite.run("--ledger", name)
        row = f"(7, 'tiny.one', '{{}}', '{name}', '{verdict}')"
        suite.ask(f"INSERT INTO confirmations VALUES {row}", name)
    assert main(["ledger", "merge", "a", "b", "-o", "both"]) == 0
    kept = suite.ask("SELECT number, key, verdict FROM confirmations", "both")
    assert kept == [(1, "a", "REFUTED"), (2, "b", "SUPPORTED")]


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (
            "UPDATE blocks SET payload = (SELECT payload FROM blocks WHERE block = 1), "
            "checksum = (SELECT checksum FROM blocks WHERE block = 1) WHERE block = 0",
            "other.sqlite and one.sqlite have different results for block 0 of tiny.one at",
        ),
        ("UPDATE blocks SET payload = x'01'", "is no evidence (it has none of the forms"),
        ("UPDATE blocks SET key = key || '0'", "it is kept under the key of another"),
        ("UPDATE blocks SET seed = 'seed'", "is no evidence (invalid literal"),
        ("UPDATE blocks SET claim = char(27)", r"block 0 of '\x1b' at 'scale=1.0' is no evidence"),
        ("UPDATE blocks SET replicates = 1 << 62", "bytes of values, where a block has at most"),
        ("UPDATE blocks SET replicates = -1", "bytes of values, where a block has at most"),
    ],
)
def test_bad_and_contradicting_blocks_are_refused_by_name(
    suite: Suite, edit: str, says: str
) -> None:
    suite.write("one")
    for name in ("one", "other"):
        suite.run("--ledger", f"{name}.sqlite")
    suite.ask(edit, "other.sqlite")
    before = [(suite.folder / f"{name}.sqlite").read_bytes() for name in ("one", "other")]
    assert main(["ledger", "merge", "one.sqlite", "other.sqlite", "-o", "both.sqlite"]) == 2
    error = suite.capture.readouterr().err
    assert says in error
    assert "other.sqlite" in error
    assert [(suite.folder / f"{name}.sqlite").read_bytes() for name in ("one", "other")] == before
    assert not (suite.folder / "both.sqlite").exists()
    assert not [*suite.folder.glob(".*")]
    assert LEDGER not in error


def test_text_that_cannot_be_read_is_called_damage(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    suite.write("one")
    suite.run("--ledger", "bad.sqlite")
    bad = suite.folder / "bad.sqlite"
    told("UPDATE blocks SET versions = CAST(x'ff' AS TEXT)")(bad)
    assert main(["ledger", "merge", str(bad), "-o", str(suite.folder / "all.sqlite")]) == 2
    assert "it is damaged: move it away" in capsys.readouterr().err
