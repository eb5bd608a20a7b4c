"""List what a ledger holds, and remove what no claim needs: `recall_claims ledger`."""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from recall_claims.declare.claim import Claim
from recall_claims.declare.registration import registration
from recall_claims.errors import ClaimError
from recall_claims.evidence.ledger import Ledger
from recall_claims.plugin.item import ClaimItem


class Held(NamedTuple):
    """The blocks of one registration of a claim: how many, and the bytes of their observations.

    `used` is when that was first run, as ISO 8601; "" where the ledger does not tell.
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


def collected(folder: Path, ledger: Path | None = None) -> list[Claim]:
    """The claims that pytest collects in a folder; nothing is written.

    Raises:
        ClaimError: pytest cannot collect them, or there are none.
    """
    claims: list[Claim] = []

    def finish(session: pytest.Session) -> None:
        claims.extend(item.claim for item in session.items if isinstance(item, ClaimItem))

    found = SimpleNamespace(pytest_collection_finish=finish)
    hooks = importlib.import_module("recall_claims.plugin")  # -p would warn that it is loaded
    arguments = ["--collect-only", "-p", "no:cacheprovider"]
    arguments += ["--ledger", str(ledger)] if ledger else []
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = pytest.main([str(folder), *arguments], plugins=[found, hooks])
    if status != pytest.ExitCode.OK or not claims:
        raise ClaimError(f"no claims could be collected in {folder}:\n{printed.getvalue()}")
    return claims


def list_ledger(path: Path) -> None:
    """Print what a ledger holds, and what was put aside as no evidence."""
    with Ledger(path) as ledger:
        total = _print(held(ledger))
        for row in ledger.ask("SELECT found, claim, cell, block, problem FROM aside"):
            day, claim, cell, block, problem = map(_plain, row)
            print(f"put aside {day[:10]}: block {block} of {claim} at {cell}: {problem}")
    print(f"{path}: {total}, {_mib(path.stat().st_size)}")


def prune_ledger(path: Path, folder: Path, before: str, *, yes: bool) -> None:
    """Take out what no claim of a folder needs, from before a date; without `yes`, say what it is.

    How many registrations a claim has had stays known: the count is what its error rate rests on.
    """
    needed = {
        (claim.id, registration(claim, tier))
        for claim in collected(folder, path)
        for tier in claim.cells
    }
    with Ledger(path) as ledger:
        found = [h for h in held(ledger) if h[:2] not in needed and h.used < before]
        total = _print(found)
        if yes:
            for one in found:
                sql = "DELETE FROM blocks WHERE claim = ? AND registration = ?"
                ledger.ask(sql, one[:2])
            ledger.ask("DELETE FROM aside WHERE found < ?", (before,))
            ledger.ask("VACUUM")
            ledger.ask("PRAGMA wal_checkpoint(TRUNCATE)")
    done = "removed" if yes else "--yes would remove"
    print(f"{path}: {done} {total}; the file has {_mib(path.stat().st_size)}")


def _print(found: Collection[Held]) -> str:
    """Print a line for each of these; how many they are, in words."""
    for one in found:
        claim, name, used = map(_plain, one[:3])
        size = _mib(one.size)
        print(f"{claim}  {name}  first used {used[:10] or '?'}  {one.blocks} blocks, {size}")
    return f"{sum(one.blocks for one in found)} blocks of {len(found)} registrations"


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"


def _plain(text: object) -> str:
    """A text of a ledger's, as one line without control characters."""
    return "".join(c if c.isprintable() else "?" for c in str(text))
