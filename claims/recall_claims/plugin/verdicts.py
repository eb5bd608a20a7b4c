"""Verdicts that the ledger keeps, so that an unchanged claim need not be judged again.

A verdict follows from code, data and library versions, from the run's settings, and from the
blocks. While all of these stay the same, so does the claim's row of the record. Judging takes far
longer than comparing them: it evaluates the theory thousands of times.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec

import recall_claims
import recall_reports
from recall_claims.declare.claim import Claim
from recall_claims.evidence.fingerprints import files_behind
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Prepared, Settings, task_of
from recall_claims.evidence.simulate import find, versions
from recall_claims.model.cell import Cell
from recall_claims.model.papers import papers
from recall_reports.record import Blocks, ClaimRow


class Verdicts:
    """Kept verdicts of a tier, seed and device; `ledger` returns the ledger, at first need."""

    def __init__(self, ledger: Callable[[], Ledger], settings: Settings) -> None:
        self._ledger, self._settings = ledger, settings

    def find(self, claim: Claim, file: str) -> ClaimRow | None:
        """Return a claim's row of the record in which it was last judged, if it still holds.

        The result is None if anything has changed since, if a block is missing or damaged, or if
        the row cannot be read. `file`: the claim's file, as the record names it.
        """
        sql = "SELECT depends, row FROM verdicts WHERE (claim, tier, seed, device) = (?, ?, ?, ?)"
        for depends, text in self._ledger().ask(sql, self._key(claim)):
            with suppress(ValueError):
                row = msgspec.json.decode(text, type=ClaimRow)
                if depends == self._depends(claim, file) and self._has_blocks(claim, row):
                    row.blocks = Blocks(total=row.blocks.total, reused=row.blocks.total)
                    return row
        return None

    def keep(self, claim: Claim, row: ClaimRow) -> None:
        """Keep the row of a claim that was judged now, instead of an earlier one."""
        found = (self._depends(claim, row.file), msgspec.json.encode(row).decode())
        sql = "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?)"
        self._ledger().ask(sql, (*self._key(claim), *found))

    def _key(self, claim: Claim) -> tuple[str, ...]:
        settings = self._settings
        return claim.id, settings.tier, str(settings.seed), settings.device

    def _depends(self, claim: Claim, file: str) -> str:
        """Hash what a claim's row depends on, except key and blocks."""
        paper = replace(papers()[claim.source.paper], file=Path(file))
        code = find(claim.module, claim.id)[1], files_behind(claim.module), _library(), versions()
        return _hash("\0".join((repr(paper), repr(self._settings.budget), *code)).encode())

    def _has_blocks(self, claim: Claim, row: ClaimRow) -> bool:
        ready = Prepared(claim, row.registration or "")
        size = claim.block_size(self._settings.tier)
        keys = [
            task_of(ready, self._settings, Cell(**cell.params), number).key
            for cell in row.cells
            for number in range(cell.replicates // size)
        ]
        return len(keys) == row.blocks.total and all(map(self._ledger().get, keys))


@cache
def _library() -> str:
    """Hash the code of this library."""
    folders = [Path(str(package.__file__)).parent for package in (recall_claims, recall_reports)]
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    return _hash(b"\0".join(file.read_bytes() for file in files))


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
