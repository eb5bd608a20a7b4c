"""List what a ledger holds, and remove what no claim needs: `recall_claims ledger`."""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pytest

from recall_claims.declare.claim import Claim
from recall_claims.declare.registration import registration
from recall_claims.errors import ClaimError
from recall_claims.evidence.ledger import Ledger
from recall_claims.plugin.item import ClaimItem


@dataclass(frozen=True)
class Held:
    """The blocks of one registration of a claim.

    Attributes:
        claim: its id.
        registration: a hash of the declaration under which they were drawn.
        used: when that was first run, as ISO 8601; "" where the ledger does not tell.
        blocks: how many.
        size: of their observations, bytes.
    """

    claim: str
    registration: str
    used: str
    blocks: int
    size: int


def held(ledger: Ledger) -> list[Held]:
    """All blocks of a ledger, by claim and age."""
    rows = ledger.ask(
        "SELECT claim, registration, coalesce((SELECT max(first_used) FROM draws AS d "
        "WHERE d.claim = b.claim AND d.registration = b.registration), '') AS used, count(*), "
        "sum(length(payload)) FROM blocks AS b GROUP BY claim, registration ORDER BY claim, used"
    )
    return [Held(*row) for row in rows]


def unneeded(ledger: Ledger, needed: Collection[tuple[str, str]], before: str) -> list[Held]:
    """What is held for none of these claims and registrations, and was first used before a date."""
    return [h for h in held(ledger) if (h.claim, h.registration) not in needed and h.used < before]


def remove(ledger: Ledger, found: Collection[Held], before: str) -> None:
    """Delete these blocks, and those put aside before a date; give the space back to the system.

    How many registrations a claim has had stays known: the count is what its error rate rests on.
    """
    for one in found:
        sql = "DELETE FROM blocks WHERE claim = ? AND registration = ?"
        ledger.ask(sql, (one.claim, one.registration), action="write")
    ledger.ask("DELETE FROM aside WHERE found < ?", (before,), action="write")
    ledger.ask("VACUUM", action="write")
    ledger.ask("PRAGMA wal_checkpoint(TRUNCATE)", action="write")


def collected(folder: Path, ledger: Path | None = None) -> list[Claim]:
    """The claims that pytest collects in a folder; nothing is written.

    Raises:
        ClaimError: pytest cannot collect them, or there are none.
    """
    found = _Collected()
    hooks = importlib.import_module("recall_claims.plugin")  # -p would warn that it is loaded
    arguments = ["--collect-only", "-p", "no:cacheprovider"]
    arguments += ["--ledger", str(ledger)] if ledger else []
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = pytest.main([str(folder), *arguments], plugins=[found, hooks])
    if status != pytest.ExitCode.OK or not found.claims:
        raise ClaimError(f"no claims could be collected in {folder}:\n{printed.getvalue()}")
    return found.claims


class _Collected:
    claims: list[Claim]

    def __init__(self) -> None:
        self.claims = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.claims = [item.claim for item in session.items if isinstance(item, ClaimItem)]


def list_ledger(path: Path) -> None:
    """Print what a ledger holds, and what was put aside as no evidence."""
    with Ledger(path) as ledger:
        found = held(ledger)
        _print(found)
        for row in ledger.ask("SELECT found, claim, cell, block, problem FROM aside"):
            day, claim, cell, block, problem = map(_plain, row)
            print(f"put aside {day[:10]}: block {block} of {claim} at {cell}: {problem}")
    print(f"{path}: {_total(found)}, {_size(path)}")


def prune_ledger(path: Path, folder: Path, before: str, *, yes: bool) -> None:
    """Take out what no claim of a folder needs; without `yes`, say what that is."""
    needed = {
        (claim.id, registration(claim, tier))
        for claim in collected(folder, path)
        for tier in claim.cells
    }
    with Ledger(path) as ledger:
        found = unneeded(ledger, needed, before)
        _print(found)
        if yes:
            remove(ledger, found, before)
    done = "removed" if yes else "--yes would remove"
    print(f"{path}: {done} {_total(found)}; the file has {_size(path)}")


def _print(found: Collection[Held]) -> None:
    for one in found:
        claim, name, used = map(_plain, (one.claim, one.registration, one.used))
        size = f"{one.size / 2**20:.1f} MiB"
        print(f"{claim}  {name}  first used {used[:10] or '?'}  {one.blocks} blocks, {size}")


def _total(found: Collection[Held]) -> str:
    return f"{sum(one.blocks for one in found)} blocks of {len(found)} registrations"


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 2**20:.1f} MiB"


def _plain(text: object) -> str:
    """A text of a ledger's, as one line without control characters."""
    return "".join(c if c.isprintable() else "?" for c in str(text))
