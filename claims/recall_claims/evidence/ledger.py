"""The ledger: every block of evidence ever simulated, in one SQLite file.

A block is keyed on all that its figures depend on: claim, registration, cell, seed, block index,
replicates, dtype, device kind, fingerprint of the code that made it, and library versions. A run
that was killed finds its finished blocks here and loses at most those in flight.

A block that is not evidence, whoever wrote it, is put aside and drawn again: it stays in the file,
in a table of its own, and `why_missing` tells what was wrong with it.

Of blocks that a time limit gave up, it keeps how long they had taken, for `cost.py`.

The ledger also keeps a chain of all evidence sets that were ever drawn for a claim (`draws.py`): T
of them cost up to T times its alpha.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from recall_claims.errors import LedgerError, SimulationError
from recall_claims.evidence import draws
from recall_claims.evidence.block import BlockKey, BlockResult, pack, unpack
from recall_claims.evidence.draws import Chain, EvidenceSet, Link, Place
from recall_claims.evidence.validate import fault

__all__ = ["BlockKey", "BlockResult", "Ledger"]

APPLICATION_ID = 0x52434C4D  # "RCLM" in ASCII marks the file as ours
VERSION = 4
WAIT_SECONDS = 60
DAMAGED = "damaged"
MOST_RECALLED = 100
"""Evidence sets of a claim that a record is believed to tell of."""
"""The first word of why a block that was put aside is drawn again."""

_COLUMNS = """
    claim TEXT NOT NULL, registration TEXT NOT NULL,
    cell TEXT NOT NULL, seed TEXT NOT NULL,
    block INTEGER NOT NULL, replicates INTEGER NOT NULL, dtype TEXT NOT NULL,
    device TEXT NOT NULL, code TEXT NOT NULL, versions TEXT NOT NULL,
    seconds REAL NOT NULL, checksum TEXT NOT NULL, payload BLOB NOT NULL
"""
_SCHEMA = (
    f"CREATE TABLE IF NOT EXISTS blocks (key TEXT PRIMARY KEY, {_COLUMNS}) STRICT",
    f"""
CREATE TABLE IF NOT EXISTS aside (
    key TEXT NOT NULL, found TEXT NOT NULL, problem TEXT NOT NULL, {_COLUMNS},
    PRIMARY KEY (key, found)
) STRICT
""",
    draws.TABLE,
    "CREATE TABLE IF NOT EXISTS codes (code TEXT PRIMARY KEY, modules TEXT NOT NULL) STRICT",
    # It has all that `cost.py` adds up over the whole table, whose rows are many times as long.
    "CREATE INDEX IF NOT EXISTS costs ON blocks (claim, cell, block, device, replicates, seconds)",
)
_ROW = ("key", *(field.name for field in fields(BlockKey)), "seconds", "checksum", "payload")


def _create(path: Path) -> None:
    """Make a file that is marked as ours, in one step: another run may do so at this moment."""
    if path.is_symlink():
        raise LedgerError(
            f"{path} is a link to {os.readlink(path)}, which is not there; remove the link, or "
            "choose another file with --ledger"
        )
    with closing(sqlite3.connect(":memory:")) as database:
        # Of 4096 bytes a page holds six blocks of 64 values, or five if each has a byte more.
        database.execute("PRAGMA page_size = 8192")
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        content = bytearray(database.serialize())
        content[18:20] = b"\2\2"  # a log ahead of the file, for those who write and who read it
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


def opened(
    key: BlockKey,
    seconds: float,
    checksum: str,
    payload: bytes,
    *,
    names: Collection[str] | None = None,
) -> BlockResult | str:
    """The block that a row of a ledger holds, or in words why that is no evidence."""
    try:
        found = BlockResult(unpack(payload, checksum, key.replicates), seconds)
        return fault(key, found, names) or found
    except ValueError as error:
        return str(error)


def is_ledger(path: Path) -> bool:
    """Whether a file is marked as a ledger."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(72)
    return head.startswith(b"SQLite format 3") and head[68:] == APPLICATION_ID.to_bytes(4)


class Ledger:
    """An open ledger; use as a context manager.

    Raises:
        LedgerError: the file is not a ledger, is damaged, comes from another version, or cannot
            be opened, read or written. The file is left as it was.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._chain = Chain()
        with self._explained("open"):
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                _create(path)
            there = f"{path.absolute().as_uri()}?mode=rw"  # which creates no file
            self._database = sqlite3.connect(
                there, timeout=WAIT_SECONDS, isolation_level=None, uri=True
            )
            try:
                self._prepare()
            except Exception:  # whatever it was, the file is not left open
                self._database.close()
                raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def get(self, key: BlockKey, names: Collection[str] | None = None) -> BlockResult | None:
        """The block, or None if it was never simulated, or is no evidence and was put aside.

        `names` are the observables that it must have, where they are known.
        """
        sql = "SELECT seconds, checksum, payload FROM blocks WHERE key = ?"
        for row in self.ask(sql, (key.digest,)):
            found = opened(key, *row, names=names)
            if isinstance(found, BlockResult):
                return found
            self._put_aside(key.digest, found)
        return None

    def _put_aside(self, digest: str, problem: str) -> None:
        """Move a block to the table of those that are no evidence."""
        names = ", ".join(_ROW)
        with self._explained("write"), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute(
                f"INSERT INTO aside (found, problem, {names}) "
                f"SELECT ?, ?, {names} FROM blocks WHERE key = ?",
                (datetime.now(UTC).isoformat(), problem[:200], digest),
            )
            self._database.execute("DELETE FROM blocks WHERE key = ?", (digest,))

    def put(self, key: BlockKey, result: BlockResult, names: Collection[str] | None = None) -> None:
        """Keep a block; one that another run has kept meanwhile stays as it is.

        Raises:
            SimulationError: what the worker returned is no evidence; it is not kept.
        """
        problem = fault(key, result, names)
        if problem is not None:
            raise SimulationError(
                f"{key}: what its worker returned is no evidence: {problem}; it is not kept. Look "
                "at the workers that --executor names, and run again"
            )
        payload, checksum = pack(result.observations)
        told = asdict(key) | {"seed": str(key.seed)}
        row = (key.digest, *told.values(), result.seconds, checksum, payload)
        columns = f"({', '.join(_ROW)}) VALUES (?{', ?' * (len(row) - 1)})"
        self.ask(f"INSERT OR IGNORE INTO blocks {columns}", row)

    def register(self, drawn: EvidenceSet, first_used: str | None = None) -> Place:
        """Keep that a claim's evidence was drawn, now or as ISO 8601 says; how many sets there are.

        Raises:
            LedgerError: the chain was edited.
        """
        found = self.chain().place(drawn)
        if found is None:
            now = first_used or datetime.now(UTC).isoformat()
            with self._explained("write"), self._database:
                self._database.execute("BEGIN IMMEDIATE")
                draws.append(self._database, drawn, now)
            found = self.chain(anew=True).place(drawn)
        if found is None:
            raise self._edited("its chain of draws lacks a number")
        return found

    def recall(self, drawn: EvidenceSet, others: int) -> None:
        """Count as many sets of a set's claim and tier besides it as a record tells of.

        Raises:
            LedgerError: the chain was edited.
        """
        for number in range(self.chain().others(drawn), min(others, MOST_RECALLED)):
            self.register(drawn._replace(registration="", seed="", code=f"recorded {number + 1}"))

    def chain(self, *, anew: bool = False) -> Chain:
        """All evidence sets that were ever drawn, as far as they were read; `anew`, the others too.

        Raises:
            LedgerError: the chain was edited.
        """
        if anew or not self._chain.links:
            names = ", ".join(EvidenceSet._fields)
            rows = self.ask(
                f"SELECT {names}, first_used, link FROM draws WHERE number > ? ORDER BY number",
                (len(self._chain.links),),
            )
            try:
                self._chain.extend(Link(EvidenceSet(*s), used, link) for *s, used, link in rows)
            except ValueError as error:
                raise self._edited(str(error)) from error
        return self._chain

    def _edited(self, what: str) -> LedgerError:
        return LedgerError(
            f"{self.path}: {what}, so nobody knows how often evidence was drawn; take a copy from "
            "before, or another --ledger"
        )

    def remember_code(self, code: str, parts: Callable[[], Mapping[str, str]]) -> None:
        """Keep of which modules a fingerprint is made, with a digest of each, for `why_missing`."""
        if not self.ask("SELECT 1 FROM codes WHERE code = ?", (code,)):
            row = (code, json.dumps(dict(parts()), sort_keys=True))
            self.ask("INSERT OR IGNORE INTO codes VALUES (?, ?)", row)

    def ask(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Rows that a statement about this file gives; `values` are those of its question marks."""
        with self._explained("read" if sql.lstrip().startswith("SELECT") else "write"):
            return self._database.execute(sql, values).fetchall()

    def why_missing(self, key: BlockKey) -> str:
        """Why a block has to be simulated: "new", or what differs from the one kept last there.

        If there is none under this seed, the last one under another is looked at. Of code, the
        modules are named that changed, where both versions were remembered. "damaged", with what
        was wrong, if the ledger had the block and put it aside.
        """
        sql = "SELECT problem FROM aside WHERE key = ? ORDER BY found DESC LIMIT 1"
        for (problem,) in self.ask(sql, (key.digest,)):
            return f"{DAMAGED} ({problem})"
        told = ("registration", "seed", "replicates", "dtype", "device", "code", "versions")
        rows = self.ask(
            f"SELECT {', '.join(told)} FROM blocks "
            "WHERE claim = ? AND cell = ? AND block = ? ORDER BY seed = ? DESC, rowid DESC LIMIT 1",
            (key.claim, key.cell, key.block, str(key.seed)),
        )
        if not rows:
            return "new"
        found = dict(zip(told, rows[0], strict=True))
        changed = [name for name in told if str(getattr(key, name)) != str(found[name])]
        if not changed:
            return f"{DAMAGED} (it is kept under the key of another)"
        text = f"{' and '.join(changed)} changed"
        modules = self._changed(found["code"], key.code) if "code" in changed else ""
        return f"{text} ({modules})" if modules else text

    def _changed(self, *codes: str) -> str:
        """The modules in which two fingerprints differ, as far as both are remembered."""
        rows = self.ask("SELECT modules FROM codes WHERE code IN (?, ?)", codes)
        if len(rows) < 2:
            return ""
        try:
            one, other = (set(msgspec.json.decode(t, type=dict[str, str]).items()) for (t,) in rows)
        except ValueError:
            return ""
        changed = {module for module, _ in one ^ other}
        return ", ".join(sorted(name for name in changed if name.replace(".", "_").isidentifier()))

    def _prepare(self) -> None:
        execute = self._database.execute
        execute("PRAGMA trusted_schema = OFF")
        # Two runs may fill the file at the same moment: look and fill it under one lock, which
        # the connection's context commits, or rolls back after an error.
        with self._database:
            execute("BEGIN IMMEDIATE")
            self._check_or_fill()
        # Readers and a writer work side by side. A new file is made so; another one becomes so when
        # somebody opens it whom no lock keeps from that.
        with suppress(sqlite3.OperationalError):
            execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")

    def _check_or_fill(self) -> None:
        execute = self._database.execute
        (application,) = execute("PRAGMA application_id").fetchone()
        (version,) = execute("PRAGMA user_version").fetchone()
        (tables,) = execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application != APPLICATION_ID:
            what = "an empty file" if not self.path.stat().st_size else "another program's database"
            raise LedgerError(
                f"{self.path} is {what}, not a ledger; move it away, or choose another file with "
                "--ledger"
            )
        if tables and version != VERSION:
            age = "a newer" if version > VERSION else "an older"
            raise LedgerError(
                f"{self.path} was written by {age} version of this suite (format {version}, this "
                f"one knows {VERSION}); use that version, or choose another file with --ledger"
            )
        for statement in _SCHEMA:
            execute(statement)
        if not tables:  # whoever only reads a ledger leaves every byte as it is
            execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def _explained(self, action: str) -> Iterator[None]:
        """Turn SQLite's and the system's errors into one that names cause and remedy."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                remedy = "free some disk space and run again; finished blocks are kept"
            elif "locked" in str(error):
                remedy = "another process holds it; wait for that run, or use another --ledger"
            else:
                remedy = "check that its folder exists and is writable, or choose another --ledger"
            raise LedgerError(f"cannot {action} {self.path}: {error}; {remedy}") from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # of SQLite's own message
            raise LedgerError(
                f"cannot {action} {self.path}: {error}, so it is damaged or no ledger; it was "
                "left alone: move it away (or choose another with --ledger) and run again"
            ) from error
        except OSError as error:
            raise LedgerError(
                f"cannot {action} {self.path}: {error.strerror or error}; choose a writable "
                "place with --ledger"
            ) from error
