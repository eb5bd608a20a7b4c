"""Opening a ledger that others open at the same moment, and what it holds."""

import hashlib
import io
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from recall_claims.errors import LedgerError
from recall_claims.evidence.ledger import BlockKey, BlockResult, Ledger

KEY = BlockKey("claim", "a=1", 0, 0, 2, "float64", "cpu", "code", "versions")


def test_many_may_create_one_ledger_at_the_same_moment(tmp_path: Path) -> None:
    def put(place: tuple[int, int]) -> int:
        round_, block = place
        with Ledger(tmp_path / f"{round_}.sqlite") as ledger:
            key = BlockKey("claim", "a=1", 0, block, 2, "float64", "cpu", "code", "versions")
            ledger.put(key, BlockResult({"value": np.ones(2)}, 0.1))
        return block

    places = [(round_, block) for round_ in range(20) for block in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(put, places))) == len(places)
    for round_ in range(20):
        with Ledger(tmp_path / f"{round_}.sqlite") as ledger:
            found = [
                ledger.get(BlockKey("claim", "a=1", 0, b, 2, "float64", "cpu", "code", "versions"))
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
