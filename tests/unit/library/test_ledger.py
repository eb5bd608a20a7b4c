"""Opening a ledger that others open at the same moment, and what it holds."""

import hashlib
import io
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recall_claims.errors import LedgerError
from recall_claims.evidence.ledger import BlockKey, BlockResult, Ledger

KEY = BlockKey("claim", "reg", "a=1", 0, 0, 2, "float64", "cpu", "code", "versions")


def test_many_may_create_one_ledger_at_the_same_moment(tmp_path: Path) -> None:
    def put(place: tuple[int, int]) -> int:
        round_, block = place
        with Ledger(tmp_path / f"{round_}.sqlite") as ledger:
            ledger.put(replace(KEY, block=block), BlockResult({"value": np.ones(2)}, 0.1))
        return block

    places = [(round_, block) for round_ in range(20) for block in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(put, places))) == len(places)
    for round_ in range(20):
        with Ledger(tmp_path / f"{round_}.sqlite") as ledger:
            found = [
                ledger.get(
                    BlockKey("claim", "reg", "a=1", 0, b, 2, "float64", "cpu", "code", "versions")
                )
                for b in range(8)
            ]
        assert None not in found


def test_a_ledger_is_looked_at_and_created_under_one_lock(tmp_path: Path) -> None:
    locked = []

    class Watched(Ledger):
        def _check_or_create(self) -> None:
            locked.append(self._database.in_transaction)
            super()._check_or_create()

    Watched(tmp_path / "ledger.sqlite").__exit__(None, None, None)
    assert locked == [True]


def test_a_kept_block_is_not_replaced(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.put(KEY, BlockResult({"value": np.ones(2)}, 0.1))
        ledger.put(KEY, BlockResult({"value": np.zeros(2)}, 0.2))
        kept = ledger.get(KEY)
    assert kept is not None
    assert kept.seconds == 0.1
    assert kept.observations["value"].tolist() == [1.0, 1.0]


class Trap:
    """Unpickled, it does harm."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("harm",)


def test_the_ledger_holds_and_reads_no_pickles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        ledger.put(KEY, BlockResult({"value": np.ones(2)}, 0.1))
    buffer = io.BytesIO()
    np.savez(buffer, value=np.array([Trap(), None]))
    payload = buffer.getvalue()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        (kept,) = database.execute("SELECT payload FROM blocks").fetchone()
        database.execute(
            "UPDATE blocks SET payload = ?, checksum = ?",
            (payload, hashlib.sha256(payload).hexdigest()),
        )

    with np.load(io.BytesIO(kept), allow_pickle=False) as archive:
        assert archive.files == ["value"]
    with Ledger(path) as ledger, pytest.raises(LedgerError, match="no numpy archive"):
        ledger.get(KEY)
    assert not (tmp_path / "harm").exists()


FORMAT_1 = """
CREATE TABLE blocks (
    key TEXT PRIMARY KEY, claim TEXT NOT NULL, cell TEXT NOT NULL, seed TEXT NOT NULL,
    block INTEGER NOT NULL, replicates INTEGER NOT NULL, dtype TEXT NOT NULL,
    device TEXT NOT NULL, code TEXT NOT NULL, versions TEXT NOT NULL,
    seconds REAL NOT NULL, checksum TEXT NOT NULL, payload BLOB NOT NULL
) STRICT
"""


def format_1(path: Path) -> None:
    """A ledger as it was before registrations, with one block."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(FORMAT_1)
        database.execute(f"PRAGMA application_id = {0x52434C4D}")
        database.execute("PRAGMA user_version = 1")
        row = ("key", "claim", "a=1", "0", 0, 2, "float64", "cpu", "code", "versions", 0.1, "", b"")
        database.execute(f"INSERT INTO blocks VALUES ({', '.join('?' * len(row))})", row)


def test_a_ledger_of_format_1_is_upgraded_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    format_1(path)
    for kept in (1, 2):  # upgraded at the first opening alone
        with Ledger(path) as ledger:
            if kept == 1:
                assert ledger.get(KEY) is None
                assert ledger.why_missing(KEY) == "registration changed"
            ledger.put(KEY, BlockResult({"value": np.ones(2)}, 0.1))
            assert ledger.get(KEY) is not None
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (2,)
        rows = database.execute("SELECT claim, registration, seconds FROM blocks").fetchall()
    assert rows == [("claim", "", 0.1), ("claim", "reg", 0.1)]


def test_many_may_upgrade_one_ledger_at_the_same_moment(tmp_path: Path) -> None:
    def put(block: int) -> None:
        with Ledger(path) as ledger:
            ledger.put(replace(KEY, block=block), BlockResult({"value": np.ones(2)}, 0.1))

    path = tmp_path / "ledger.sqlite"
    format_1(path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(8)))
    with Ledger(path) as ledger:
        assert None not in [ledger.get(replace(KEY, block=block)) for block in range(8)]


@pytest.mark.parametrize("field", [field.name for field in fields(BlockKey)])
def test_a_block_of_any_other_key_is_no_evidence(tmp_path: Path, field: str) -> None:
    changes: dict[str, Any] = {field: 7 if isinstance(getattr(KEY, field), int) else "other"}
    other = replace(KEY, **changes)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.put(other, BlockResult({"value": np.ones(2)}, 0.1))
        assert ledger.get(KEY) is None
        same_place = field not in ("claim", "cell", "block")
        assert ledger.why_missing(KEY) == (f"{field} changed" if same_place else "new")


def test_why_a_block_is_missing_tells_what_differs_from_the_newest(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.put(replace(KEY, code="x", versions="y"), BlockResult({"value": np.ones(2)}, 0.1))
        ledger.put(replace(KEY, registration="z"), BlockResult({"value": np.ones(2)}, 0.1))
        assert ledger.why_missing(KEY) == "registration changed"


def test_why_a_block_is_missing_names_the_modules_whose_code_changed(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.put(replace(KEY, code="old"), BlockResult({"value": np.ones(2)}, 0.1))
        assert ledger.why_missing(KEY) == "code changed"
        ledger.remember_code("old", lambda: {"same": "1", "edited": "2", "removed": "3"})
        ledger.remember_code(KEY.code, lambda: {"same": "1", "edited": "4", "added": "5"})
        assert ledger.why_missing(KEY) == "code changed (added, edited, removed)"


def test_why_a_block_is_missing_prefers_its_own_seed(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.put(replace(KEY, device="cuda"), BlockResult({"value": np.ones(2)}, 0.1))
        ledger.put(replace(KEY, seed=77), BlockResult({"value": np.ones(2)}, 0.1))
        assert ledger.why_missing(KEY) == "device changed"


def test_registrations_are_counted_by_claim_and_tier(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        assert [ledger.register("claim", "smoke", r) for r in "aabab"] == [1, 1, 2, 2, 2]
        assert ledger.register("claim", "standard", "a") == 1
        assert ledger.register("other", "smoke", "c") == 1
    with Ledger(path) as ledger:
        assert ledger.register("claim", "smoke", "c") == 3


def test_the_newest_registration_that_has_every_cell(tmp_path: Path) -> None:
    like: dict[str, Any] = {
        "seed": 0,
        "dtype": "float64",
        "device": "cpu",
        "code": "code",
        "versions": "versions",
        "replicates": 2,
    }

    with Ledger(tmp_path / "ledger.sqlite") as ledger:

        def put(registration: str, *cells: str, **changes: Any) -> None:
            ledger.register("claim", "smoke", registration)
            for cell in cells:
                key = replace(KEY, registration=registration, cell=cell, **changes)
                ledger.put(key, BlockResult({"value": np.ones(2)}, 0.1))

        def newest(*cells: str, tier: str = "smoke", **changes: Any) -> str | None:
            return ledger.newest("claim", tier, cells, **{**like, **changes})

        assert newest("a=1") is None
        put("first", "a=1", "a=2")
        put("second", "a=1", "a=2", "a=3")
        put("third", "a=1")
        put("fourth", "a=1", "a=2", code="other")
        put("fifth", "a=1", "a=2", block=1)
        assert newest("a=1") == "third"
        assert newest("a=1", "a=2") == newest("a=1", "a=2", "a=3") == "second"
        assert newest("a=1", "a=4") is None
        assert newest("a=1", tier="standard") is None
        assert newest("a=1", "a=2", code="other") == "fourth"
        for name, value in like.items():
            changed: dict[str, Any] = {name: 7 if isinstance(value, int) else "unknown"}
            assert newest("a=1", **changed) is None, name
        ledger.register("claim", "smoke", "first")  # again: it is no newer for that
        assert newest("a=1", "a=2") == "second"
