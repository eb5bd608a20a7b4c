"""The ledger: every block of evidence ever simulated, in one SQLite file.

A block's key is everything that changes its figures: claim, registration, cell, seed, block index,
replicates, dtype, device kind, code fingerprint, and library versions. If a run is killed, the next
run finds the finished blocks here, and only blocks in flight are lost.

A damaged block is put aside, no matter who wrote it, and drawn again. It stays in the file, in
another table, and `why_missing` says what was wrong with it.

The ledger also counts the attempts ever made at a claim in a tier. Each seed, each version of the
code and each registration is another attempt, and each may wrongly refute the claim with
probability alpha. Of T attempts, the one shown may wrongly refute with up to T times that
probability. Attempts that only a baseline lists count as well, so a new ledger starts from the
published number. A record does not name its code: for a new ledger, the same seed and registration
are the same attempt, even if the code was edited since.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import msgspec

from recall_claims.evidence.block import BlockKey, BlockResult, difference, fault, pack, unpack
from recall_claims.evidence.ledger_file import LedgerFile
from recall_claims.model.errors import LedgerError, SimulationError

__all__ = ["BlockKey", "BlockResult", "EvidenceSet", "Ledger", "Place"]

DAMAGED = "damaged"
"""The first word of the reason to simulate a block again after it was put aside."""
MOST_RECALLED = 100
"""Largest number of attempts at a claim taken over from a record."""
PAGE = 1_000
"""Number of blocks to read at a time."""
SPENT = (
    "SELECT claim, cell, sum(replicates), sum(seconds) FROM blocks WHERE device = ? "
    # Leaves out rows that no run can have written.
    "AND replicates BETWEEN 1 AND 1e9 AND seconds BETWEEN 0 AND 1e9 GROUP BY claim, cell"
)
_ROW = ("key", *(field.name for field in fields(BlockKey)), "seconds", "checksum", "payload")


class EvidenceSet(NamedTuple):
    """Registration, seed and code of one attempt; a change of one draws fresh evidence."""

    claim: str
    tier: str
    registration: str
    seed: str
    code: str


COUNT = f"INSERT OR IGNORE INTO draws ({', '.join(EvidenceSet._fields)}) VALUES (?, ?, ?, ?, ?)"


class Place(NamedTuple):
    """Number of attempts at a claim in a tier, and one attempt's place among them.

    Places count from 1; the place of an attempt that was never counted is 0.
    """

    sets: int
    shown: int


def opened(
    key: BlockKey,
    seconds: float,
    checksum: str,
    payload: bytes,
    *,
    names: Collection[str] | None = None,
) -> BlockResult | str:
    """Read the block in a row of a ledger, or say in words why the row is not evidence."""
    try:
        found = BlockResult(unpack(payload, checksum, key.replicates), seconds)
        return fault(key, found, names) or found
    except ValueError as error:
        return str(error)


class Ledger(LedgerFile):
    """An open ledger; use as a context manager, and open it as `LedgerFile` says."""

    def get(self, key: BlockKey, names: Collection[str] | None = None) -> BlockResult | None:
        """Return the block, or None if it is missing or damaged; put a damaged block aside.

        `names`: the observables that the block must have, if known.
        """
        found = self.read(key, names)
        if not isinstance(found, str):
            return found
        columns = ", ".join(_ROW)
        with self.one_step():
            self.ask(
                f"INSERT INTO aside (found, problem, {columns}) "
                f"SELECT ?, ?, {columns} FROM blocks WHERE key = ?",
                (datetime.now(UTC).isoformat(), found[:200], key.digest),
            )
            self.ask("DELETE FROM blocks WHERE key = ?", (key.digest,))
        return None

    def read(self, key: BlockKey, names: Collection[str] | None = None) -> BlockResult | str | None:
        """Return the block, or why it is damaged; None if it was never simulated."""
        sql = "SELECT seconds, checksum, payload FROM blocks WHERE key = ?"
        for row in self.ask(sql, (key.digest,)):
            return opened(key, *row, names=names)
        return None

    def put(self, key: BlockKey, result: BlockResult, names: Collection[str] | None = None) -> None:
        """Keep a block, unless another run has kept it meanwhile.

        Raises:
            SimulationError: the worker's block is no evidence; it is not kept.
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

    def blocks(self) -> Iterator[tuple[BlockKey, BlockResult]]:
        """Yield all blocks with their keys.

        Raises:
            LedgerError: a block is damaged.
        """
        names = [field.name for field in fields(BlockKey)]
        sql = f"SELECT rowid, {', '.join(_ROW)} FROM blocks WHERE rowid > ? ORDER BY rowid LIMIT ?"
        rows = self.ask(sql, (-(2**63), PAGE))
        while rows:
            for _, digest, *told, seconds, checksum, payload in rows:
                named = dict(zip(names, told, strict=True))
                try:
                    key = BlockKey(**{**named, "seed": int(named["seed"])})
                    found = opened(key, seconds, checksum, payload)
                except ValueError as error:
                    found = str(error)
                if isinstance(found, BlockResult) and key.digest != digest:
                    found = "it is kept under the key of another"
                if not isinstance(found, BlockResult):
                    raise LedgerError(
                        f"{self.path}: block {named['block']} of {named['claim']!r:.80} at "
                        f"{named['cell']!r:.200} is no evidence ({found}); run the claim again "
                        "with this ledger, which simulates the block again"
                    )
                yield key, found
            rows = self.ask(sql, (rows[-1][0], PAGE))

    def count_in(self, other: Ledger) -> None:
        """Add the attempts, confirmations and code fingerprints of another ledger."""
        for row in other.ask(f"SELECT {', '.join(EvidenceSet._fields)} FROM draws ORDER BY number"):
            self.ask(COUNT, row)
        for row in other.ask("SELECT code, modules FROM codes"):
            self.ask("INSERT OR IGNORE INTO codes VALUES (?, ?)", row)
        told = "claim, point, key, verdict"
        for row in other.ask(f"SELECT {told} FROM confirmations ORDER BY number"):
            self.ask(f"INSERT INTO confirmations ({told}) VALUES (?, ?, ?, ?)", row)

    def register(self, drawn: EvidenceSet) -> Place:
        """Count an attempt, unless it was counted before; return its place."""
        self.ask(COUNT, drawn)
        return self.place(drawn)

    def recall(self, drawn: EvidenceSet, others: int) -> None:
        """Add attempts until the ledger has `others` attempts other than `drawn`.

        `others`: number in a record, cut to `MOST_RECALLED`.
        """
        place = self.place(drawn)
        for number in range(place.sets - bool(place.shown), min(others, MOST_RECALLED)):
            self.register(drawn._replace(registration="", seed="", code=f"recorded {number + 1}"))

    def place(self, drawn: EvidenceSet) -> Place:
        """Return the place of an attempt among the attempts at its claim and tier."""
        own = " AND ".join(f"{name} = ?" for name in EvidenceSet._fields)
        counts = f"count(*) FILTER (WHERE number <= (SELECT number FROM draws WHERE {own}))"
        sql = f"SELECT count(*), {counts} FROM draws WHERE claim = ? AND tier = ?"
        [row] = self.ask(sql, (*drawn, drawn.claim, drawn.tier))
        return Place(*row)

    def remember_code(self, code: str, parts: Callable[[], Mapping[str, str]]) -> None:
        """Keep a digest of each module of a fingerprint, for `why_missing`."""
        if not self.ask("SELECT 1 FROM codes WHERE code = ?", (code,)):
            row = (code, json.dumps(dict(parts()), sort_keys=True))
            self.ask("INSERT OR IGNORE INTO codes VALUES (?, ?)", row)

    def codes(self) -> set[str]:
        """Return the fingerprints of all code that has drawn evidence."""
        return {str(code) for (code,) in self.ask("SELECT code FROM codes")}

    def registrations(self, claim: str) -> list[str]:
        """Return the names of the random streams of a claim's blocks, such as registrations."""
        sql = "SELECT DISTINCT registration FROM blocks WHERE claim = ? ORDER BY rowid"
        return [str(name) for (name,) in self.ask(sql, (claim,))]

    def spent(self, device: str) -> list[tuple[str, str, int, float]]:
        """Add up the replicates and seconds of a device's blocks, by claim and cell."""
        return self.ask(SPENT, (device,))

    def counts(
        self, claim: str, registration: str, seed: int, device: str, versions: str, code: str
    ) -> dict[str, int]:
        """Count the blocks of each cell, made by this code."""
        sql = (
            "SELECT cell, count(*) FROM blocks WHERE claim = ? AND registration = ? AND seed = ? "
            "AND device = ? AND versions = ? AND code = ? GROUP BY cell"
        )
        return dict(self.ask(sql, (claim, registration, str(seed), device, versions, code)))

    def why_missing(self, key: BlockKey) -> str:
        """Return why a block must be simulated: "new", or how its key differs from the last kept.

        If no block has this seed, the last block of another seed is compared. If the code differs,
        the changed modules are named where both versions are known. If the ledger has put the block
        aside, the reason is "damaged", with the fault.
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
        """Name the modules in which two fingerprints differ, if both are known."""
        rows = self.ask("SELECT modules FROM codes WHERE code IN (?, ?)", codes)
        if len(rows) < 2:
            return ""
        try:
            one, other = (set(msgspec.json.decode(t, type=dict[str, str]).items()) for (t,) in rows)
        except ValueError:
            return ""
        changed = {module for module, _ in one ^ other}
        return ", ".join(sorted(name for name in changed if name.replace(".", "_").isidentifier()))


def merge(sources: Sequence[Path], out: Path) -> int:
    """Merge the blocks, attempts and confirmations of ledgers into a new ledger; return its number
    of blocks.

    A block's key has all that its figures depend on, so a block in two ledgers is kept once, even
    if its figures differ by rounding. Verdicts, probes and blocks put aside are not copied.
    Confirmations of hunts are numbered again. Each ledger had a budget for hunts, so n ledgers may
    have used n such budgets.

    Args:
        sources: ledgers, which stay as they are.
        out: a new file; it appears complete or not at all.

    Raises:
        LedgerError: `out` exists, two ledgers have different results for a block, a block is
            damaged, or a file cannot be read or written.
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
