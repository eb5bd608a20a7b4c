"""The file of a ledger: create, open, check and read it, with errors that name cause and remedy."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from recall_claims.model.errors import LedgerError

APPLICATION_ID = 0x52434C4D  # "RCLM" in ASCII marks the file as ours
VERSION = 5
OLDEST = (3, 37, 0)
"""The oldest version of SQLite with strict tables."""
WAIT_SECONDS = 60
MOUNTS = Path("/proc/self/mounts")
SHARED = (
    *("9p", "afs", "beegfs", "ceph", "cifs", "drvfs", "fuse", "gfs2", "gpfs", "lustre", "ncpfs"),
    *("nfs", "ocfs2", "orangefs", "panfs", "smb", "virtiofs", "wekafs"),
)
"""Beginnings of names of network file systems, on which machines cannot share mapped memory."""
LARGEST = 2**24 + 2**22
"""Largest size of a stored value, in bytes: a block with its names."""

_COLUMNS = """
    claim TEXT NOT NULL, registration TEXT NOT NULL,
    cell TEXT NOT NULL, seed TEXT NOT NULL,
    block INTEGER NOT NULL, replicates INTEGER NOT NULL, dtype TEXT NOT NULL,
    device TEXT NOT NULL, code TEXT NOT NULL, versions TEXT NOT NULL,
    seconds REAL NOT NULL, checksum TEXT NOT NULL, payload BLOB NOT NULL
"""
_SCHEMA = (
    f"CREATE TABLE blocks (key TEXT PRIMARY KEY, {_COLUMNS}) STRICT",
    "CREATE TABLE aside (key TEXT NOT NULL, found TEXT NOT NULL, problem TEXT NOT NULL, "
    f"{_COLUMNS}, PRIMARY KEY (key, found)) STRICT",
    "CREATE TABLE draws (number INTEGER PRIMARY KEY, claim TEXT NOT NULL, tier TEXT NOT NULL, "
    "registration TEXT NOT NULL, seed TEXT NOT NULL, code TEXT NOT NULL, "
    "UNIQUE (claim, tier, registration, seed, code)) STRICT",
    "CREATE TABLE codes (code TEXT PRIMARY KEY, modules TEXT NOT NULL) STRICT",
    "CREATE TABLE probes (claim TEXT NOT NULL, seed TEXT NOT NULL, code TEXT NOT NULL, "
    "key TEXT NOT NULL, point TEXT NOT NULL, discrepancy REAL NOT NULL, verdict TEXT NOT NULL, "
    "seconds REAL NOT NULL, PRIMARY KEY (claim, seed, code, key)) STRICT",
    "CREATE TABLE confirmations (number INTEGER PRIMARY KEY AUTOINCREMENT, claim TEXT NOT NULL, "
    "point TEXT NOT NULL, key TEXT NOT NULL, verdict TEXT) STRICT",
    # Holds all that `cost.py` adds up, so that the table's long rows need not be read.
    "CREATE INDEX costs ON blocks (claim, cell, block, device, replicates, seconds)",
)

_VERDICTS = (
    "CREATE TABLE verdicts (claim TEXT NOT NULL, tier TEXT NOT NULL, seed TEXT NOT NULL, "
    "device TEXT NOT NULL, depends TEXT NOT NULL, row TEXT NOT NULL, "
    "PRIMARY KEY (claim, tier, seed, device)) STRICT"
)
"""A table that older ledgers get when they are opened for writing."""


def refuse_old() -> None:
    """Refuse an SQLite without strict tables.

    Raises:
        LedgerError: this Python's SQLite is older than `OLDEST`.
    """
    if sqlite3.sqlite_version_info < OLDEST:
        raise LedgerError(
            f"this Python ({sys.executable}) has SQLite {sqlite3.sqlite_version}, and a ledger "
            f"needs {'.'.join(map(str, OLDEST))} or newer; take another Python, such as uv's or "
            "conda's"
        )


def _is_shared(path: Path) -> bool:
    """Whether other machines may write the file: a write-ahead log would then lose their blocks.

    False if the system does not list its file systems.
    """
    place, kind = path.resolve(), ""
    with suppress(OSError):
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        mounts = [(f[1].replace(r"\040", " "), f[2]) for f in map(str.split, lines) if len(f) > 2]
        # Of two file systems at one place, as autofs makes them, the later covers the other.
        over = [mount for mount in mounts[::-1] if place.is_relative_to(mount[0])]
        kind = max(over, key=lambda mount: len(mount[0]), default=("", ""))[1]
    return kind.startswith(SHARED)


def _size(path: Path) -> int:
    """Return a file's size, 0 if another process has removed it."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def _create(path: Path) -> None:
    """Make a file marked as a ledger, in one step, since another run may be making it too."""
    if path.is_symlink():
        raise LedgerError(
            f"{path} is a link to {os.readlink(path)}, which is not there; remove the link, or "
            "choose another file with --ledger"
        )
    with closing(sqlite3.connect(":memory:")) as database:
        # Pages of 4096 bytes would hold six blocks of 64 values, or five with a byte more each.
        database.execute("PRAGMA page_size = 8192")
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        content = bytearray(database.serialize())
        if not _is_shared(path):  # a log: readers and a writer work side by side
            content[18:20] = b"\2\2"
    new = path.with_name(f".{uuid4().hex}")
    try:
        new.write_bytes(content)
        os.link(new, path)
    except FileExistsError:  # the other run was first
        pass
    except OSError:  # a file system without links
        with suppress(FileExistsError), path.open("xb") as file:
            file.write(content)
    finally:
        new.unlink(missing_ok=True)


def is_ledger(path: Path) -> bool:
    """Whether a file is marked as a ledger.

    SQLite reads the mark. To open and close the file in another way would drop the locks that this
    process has on it, and another process would take the file for unused.
    """
    if not path.is_file():
        return False
    there = f"{path.absolute().as_uri()}?mode=ro"
    with suppress(sqlite3.Error), closing(sqlite3.connect(there, uri=True)) as database:
        return bool(database.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,))
    return False


class LedgerFile:
    """An open ledger; use as a context manager.

    Args:
        path: the file, which is made if it does not exist.
        read_only: leave the file, and the folder, as they are.

    Raises:
        LedgerError: SQLite is older than `OLDEST`; or the file is not a ledger, is damaged, comes
            from another version, or cannot be opened, read or written. The file stays as it was.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        refuse_old()
        with self._explained("open"):
            how = "mode=rw"  # creates no file
            if read_only:
                if not path.is_file():
                    raise LedgerError(f"{path}: no such file; name a ledger that a run has written")
                ahead = path.with_name(f"{path.name}-wal")  # blocks not yet in the file
                how = "mode=ro" if _size(ahead) else "immutable=1"
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                if path.is_dir():
                    raise LedgerError(f"{path} is a folder; name a file in it with --ledger")
                if not path.exists():
                    _create(path)
                # The last writer was killed, or is writing now.
                unclosed = any(_size(Path(f"{path}-{log}")) for log in ("wal", "journal"))
            self._database = sqlite3.connect(
                f"{path.absolute().as_uri()}?{how}",
                timeout=WAIT_SECONDS,
                isolation_level=None,
                uri=True,
            )
            try:
                self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
                self._database.execute("PRAGMA trusted_schema = OFF")
                if read_only:
                    self._check()
                else:
                    self._prepare()
                    if unclosed:
                        [(answer,)] = self._database.execute("PRAGMA quick_check(1)")
                        if answer != "ok":
                            raise sqlite3.DatabaseError(answer)
            except Exception:  # close the file after any error
                self._database.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def ask(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of an SQL statement; `values` replace its question marks."""
        with self._explained("read" if sql.lstrip().startswith("SELECT") else "write"):
            return self._database.execute(sql, values).fetchall()

    @contextmanager
    def one_step(self) -> Iterator[None]:
        """Run the body under one lock; undo everything after an error."""
        with self._explained("write"), self._database:  # the latter commits, or rolls back
            self._database.execute("BEGIN IMMEDIATE")
            yield

    def finish(self) -> int:
        """Move everything from the log into the file; return the number of blocks."""
        self.ask("PRAGMA wal_checkpoint(TRUNCATE)")
        [(count,)] = self.ask("SELECT count(*) FROM blocks")
        return int(count)

    def _prepare(self) -> None:
        """Make the tables of a new file, check the file, and keep a log where that is safe."""
        with self.one_step():  # two runs may do this at once
            tables = self._tables()
            if not tables:
                for statement in _SCHEMA:
                    self._database.execute(statement)
                self._database.execute(f"PRAGMA user_version = {VERSION}")
            if ("table", _VERDICTS) not in tables:
                self._database.execute(_VERDICTS)
            self._check()
        # With a log, readers and a writer work side by side. A new file has one; an older file gets
        # one at the first opening that no lock prevents.
        if _is_shared(self.path):
            self._database.execute("PRAGMA journal_mode = DELETE")
            return
        with suppress(sqlite3.OperationalError):
            self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")

    def _tables(self) -> set[tuple[str, str]]:
        """Return the kinds and definitions of everything that the file declares."""
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION_ID:
            what = "an empty file" if not self.path.stat().st_size else "another program's database"
            raise LedgerError(
                f"{self.path} is {what}, not a ledger; move it away, or choose another file with "
                "--ledger"
            )
        sql = "SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL"
        return set(self._database.execute(sql))

    def _check(self) -> None:
        """Refuse a file that is not a ledger of this version, or that would run code."""
        tables = self._tables()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
            age = "a newer" if version > VERSION else "an older"
            raise LedgerError(
                f"{self.path} was written by {age} version of this suite (format {version}, this "
                f"one knows {VERSION}); use that version, or choose another file with --ledger"
            )
        kinds = {kind for kind, _ in tables}
        if not kinds <= {"table", "index"} or not {sql for _, sql in tables} >= {*_SCHEMA}:
            raise LedgerError(
                f"{self.path} has other tables than this suite makes, views or triggers; choose "
                "another file with --ledger"
            )

    @contextmanager
    def _explained(self, action: str) -> Iterator[None]:
        """Turn SQLite's and the system's errors into an error that names cause and remedy."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                remedy = "free some disk space and run again; finished blocks are kept"
            elif "locked" in str(error):
                remedy = (
                    "another process holds it, here or on a machine that shares its file system; "
                    "wait for that run, or use another --ledger"
                )
            elif "decode" in str(error):
                remedy = "it is damaged: move it away, or choose another with --ledger"
            else:
                remedy = "check that its folder exists and is writable, or choose another --ledger"
            raise LedgerError(f"cannot {action} {self.path}: {error}; {remedy}") from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # in SQLite's message
            raise LedgerError(
                f"cannot {action} {self.path}: {error}, so it is damaged or no ledger; it was "
                "left alone: move it away (or choose another with --ledger) and run again"
            ) from error
        except OSError as error:
            raise LedgerError(
                f"cannot {action} {self.path}: {error.strerror or error}; choose a writable "
                "place with --ledger"
            ) from error
