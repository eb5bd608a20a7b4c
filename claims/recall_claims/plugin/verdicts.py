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
from time import time

import msgspec

import recall_claims
import recall_reports
from recall_claims import recording
from recall_claims.declare.claim import Claim
from recall_claims.evidence.fingerprints import content, files_behind
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Prepared, Settings, task_of
from recall_claims.evidence.simulate import find, versions
from recall_claims.model.cell import Cell
from recall_claims.model.papers import papers
from recall_reports.record import Blocks, ClaimRow

BEGAN = time()
"""A time on the system's clock, before this process imported any claim file."""


class Verdicts:
    """Kept verdicts of a tier, seed and device; `ledger` opens the ledger at its first call."""

    def __init__(self, ledger: Callable[[], Ledger], settings: Settings) -> None:
        self._ledger, self._settings = ledger, settings

    def find(self, claim: Claim, file: str) -> ClaimRow | None:
        """Return the row that a claim's last judgement made, if the row still holds.

        The result is None if anything has changed since, if a block is missing or damaged, or if
        the row cannot be read. `file`: the claim's file, as the record names it.
        """
        sql = "SELECT depends, row FROM verdicts WHERE (claim, tier, seed, device) = (?, ?, ?, ?)"
        for depends, text in self._ledger().ask(sql, self._key(claim)):
            with suppress(ValueError):
                row = msgspec.json.decode(text, type=ClaimRow)
                ours = claim.id, file, recording.replay_line(claim, self._settings, file), "DECIDED"
                same = (row.id, row.file, row.replay, row.state) == ours
                same &= depends == self._depends(claim, file) != ""
                if same and self._has_blocks(claim, row):
                    row.blocks = Blocks(total=row.blocks.total, reused=row.blocks.total)
                    return row
        return None

    def keep(self, claim: Claim, row: ClaimRow) -> None:
        """Keep the row of a claim judged now, instead of the claim's earlier row."""
        found = (self._depends(claim, row.file), msgspec.json.encode(row).decode())
        sql = "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?)"
        self._ledger().ask(sql, (*self._key(claim), *found))

    def _key(self, claim: Claim) -> tuple[str, ...]:
        settings = self._settings
        return claim.id, settings.tier, str(settings.seed), settings.device

    def _depends(self, claim: Claim, file: str) -> str:
        """Hash what a claim's row depends on, except the blocks and `_key`.

        The result is "" if a file was edited after this process may have read it.
        """
        paper = replace(papers()[claim.source.paper], file=Path(file))
        files = _files(claim.module)
        code = files, find(claim.module, claim.id)[1], versions()
        text = "\0".join((repr(paper), repr(self._settings.budget), *code))
        return files and hashlib.sha256(text.encode()).hexdigest()

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
def _files(module: str) -> str:
    """Hash a claim file, its imports and this library; "" if one was edited since BEGAN."""
    files = files_behind(module) | _library()
    if any(path.stat().st_mtime > BEGAN for path in files.values()):
        return ""
    return repr([(name, content(path)) for name, path in sorted(files.items())])


@cache
def _library() -> dict[str, Path]:
    folders = [Path(str(package.__file__)).parent for package in (recall_claims, recall_reports)]
    return {
        f"{folder.name}/{path.relative_to(folder)}": path
        for folder in folders
        for path in folder.rglob("*.py")
    }
