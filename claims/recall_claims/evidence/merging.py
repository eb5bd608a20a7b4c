"""Put the evidence of several ledgers into one: slices of a tier that several machines have run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from uuid import uuid4

from recall_claims.errors import LedgerError
from recall_claims.evidence.block import BlockKey, BlockResult
from recall_claims.evidence.ledger import Ledger, opened
from recall_claims.evidence.validate import difference

PAGE = 1_000
"""Blocks that are read at a time."""
_NAMES = tuple(field.name for field in fields(BlockKey))
_ROWS = f"""
SELECT rowid, key, seconds, checksum, payload, {", ".join(_NAMES)} FROM blocks
WHERE rowid > ? ORDER BY rowid LIMIT {PAGE}
"""


def merge(sources: Sequence[Path], out: Path) -> int:
    """Make a ledger of all blocks, draws and confirmed violations of others; how many blocks.

    Blocks are named by all that their figures depend on, so a block that two ledgers have is kept
    once; what rounding has made of it elsewhere is no other figure. What hunts have only tried, and
    what was put aside, is left behind.

    Args:
        sources: ledgers, which keep what they have.
        out: a file that is not there yet; it appears whole or not at all.

    Raises:
        LedgerError: two ledgers have different results for a block, one has a block that is no
            evidence, or a file cannot be read or written.
    """
    if out.exists():
        raise LedgerError(f"{out} is there already; name a new file with -o")
    for path in sources:
        if not path.exists():
            raise LedgerError(f"{path}: no such file; name ledgers that runs have written")
    draft = out.with_name(f".{uuid4().hex}")
    try:
        with Ledger(draft) as merged:
            merged.ask("BEGIN")
            for number, path in enumerate(sources):
                with Ledger(path) as ledger:
                    earlier = " or ".join(map(str, sources[:number]))
                    for key, result in _blocks(ledger):
                        _take(merged, key, result, f"{ledger.path} and {earlier}")
                    _others(merged, ledger)
            merged.ask("COMMIT")
            for path in sources:
                with Ledger(path) as ledger:
                    for drawn, first_used, _ in ledger.chain().links:
                        merged.register(drawn, first_used)
            [(count,)] = merged.ask("SELECT count(*) FROM blocks")
            merged.ask("PRAGMA wal_checkpoint(TRUNCATE)")
        os.replace(draft, out)
    finally:
        for leftover in draft.parent.glob(f"{draft.name}*"):
            leftover.unlink()
    return int(count)


def _blocks(ledger: Ledger) -> Iterator[tuple[BlockKey, BlockResult]]:
    """All blocks of a ledger; it is a stranger's."""
    rows = ledger.ask(_ROWS, (-(2**63),))
    while rows:
        for _, digest, seconds, checksum, payload, *told in rows:
            named = dict(zip(_NAMES, told, strict=True))
            where = f"block {named['block']} of {named['claim']!r:.80} at {named['cell']!r:.200}"
            try:
                key = BlockKey(**{**named, "seed": int(named["seed"])})
                found = opened(key, seconds, checksum, payload)
            except ValueError as error:
                found = str(error)
            if isinstance(found, BlockResult) and key.digest != digest:
                found = "it is kept under the key of another"
            if not isinstance(found, BlockResult):
                raise LedgerError(
                    f"{ledger.path}: {where} is no evidence ({found}); run the claim again with "
                    "this ledger, which draws it anew, and merge then"
                )
            yield key, found
        rows = ledger.ask(_ROWS, rows[-1][:1])


def _take(merged: Ledger, key: BlockKey, result: BlockResult, both: str) -> None:
    kept = merged.get(key)
    if kept is None:
        merged.put(key, result)
        return
    apart = difference(kept.observations, result.observations, key.dtype)
    if apart is not None:
        raise LedgerError(
            f"{both} have different results for block {key.block} of {key.claim} at {key.cell}: "
            f"{apart}; draw it again with each, to see which is wrong"
        )


def _others(merged: Ledger, ledger: Ledger) -> None:
    """Of which modules codes are made, and confirmations of hunts, which count on."""
    for row in ledger.ask("SELECT code, modules FROM codes"):
        merged.ask("INSERT OR IGNORE INTO codes VALUES (?, ?)", row)
    if ledger.ask("SELECT sql FROM sqlite_master WHERE name = 'confirmations'"):
        from recall_claims.hunt.tables import HuntTables  # which knows ledgers

        HuntTables(merged, 0)
        rows = ledger.ask("SELECT claim, point, key, verdict FROM confirmations ORDER BY number")
        for row in rows:
            sql = "INSERT INTO confirmations (claim, point, key, verdict) VALUES (?, ?, ?, ?)"
            merged.ask(sql, row)
