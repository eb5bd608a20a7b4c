"""Put several ledgers into one, such as parts of a tier that several machines have run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.validate import difference
from recall_claims.model.errors import LedgerError


def merge(sources: Sequence[Path], out: Path) -> int:
    """Merge the blocks, attempts and confirmations of ledgers into a new ledger; return its number
    of blocks.

    A block's key has all that its figures depend on, so a block in two ledgers is kept once, even
    if its figures differ by rounding. Probes of hunts, and blocks put aside, are left out.

    Args:
        sources: ledgers, which stay as they are.
        out: a new file; it appears complete or not at all.

    Raises:
        LedgerError: two ledgers have different results for a block, a block is damaged, or a file
            cannot be read or written.
    """
    if out.exists():
        raise LedgerError(f"{out} is there already; name a new file with -o")
    draft = out.with_name(f".{uuid4().hex}")
    try:
        with Ledger(draft) as merged:
            with merged.one_step():
                for number, path in enumerate(sources):
                    both = f"{path} and {' or '.join(map(str, sources[:number]))}"
                    with Ledger(path, read_only=True) as ledger:
                        _take(merged, ledger, both)
            count = merged.finish()
        os.replace(draft, out)
    finally:
        for leftover in draft.parent.glob(f"{draft.name}*"):
            leftover.unlink()
    return count


def _take(merged: Ledger, ledger: Ledger, both: str) -> None:
    for key, result in ledger.blocks():
        kept = merged.get(key)
        if kept is None:
            merged.put(key, result)
            continue
        apart = difference(kept.observations, result.observations, key.dtype)
        if apart is not None:
            raise LedgerError(
                f"{both} have different results for block {key.block} of {key.claim} at "
                f"{key.cell}: {apart}; draw it again with each, to see which is wrong"
            )
    merged.count_in(ledger)
