"""The evidence sets that a ledger has ever drawn, in a chain in which an edit shows.

Each seed, each version of the code and each registration gives a claim another evidence set. Each
set may wrongly refute the claim with probability alpha; to draw T sets and show one has up to T
times that. Sets that a baseline tells of and this ledger has not drawn count as well, so that a new
ledger starts from what was published. Each link of the chain is a hash of the one before and of its
own fields, as in a version control system: editing or removing one changes all that follow. Links
removed at the end show only if the chain was written down elsewhere, as in a bundle.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

TABLE = """
CREATE TABLE IF NOT EXISTS draws (
    number INTEGER PRIMARY KEY, claim TEXT NOT NULL, tier TEXT NOT NULL, registration TEXT NOT NULL,
    seed TEXT NOT NULL, code TEXT NOT NULL, first_used TEXT NOT NULL, link TEXT NOT NULL,
    UNIQUE (claim, tier, registration, seed, code)
) STRICT
"""


class EvidenceSet(NamedTuple):
    """What makes evidence of a claim fresh."""

    claim: str
    tier: str
    registration: str
    seed: str
    code: str


class Link(NamedTuple):
    """A set, when it was first drawn (ISO 8601), and the hash that the chain has up to it."""

    drawn: EvidenceSet
    first_used: str
    link: str


class Place(NamedTuple):
    """How many sets of a claim and tier a chain has, and which of them is meant, from 1."""

    sets: int
    shown: int


def linked(before: str, drawn: EvidenceSet, first_used: str) -> Link:
    """The link that follows the hash `before`."""
    text = json.dumps([before, *drawn, first_used])
    return Link(drawn, first_used, hashlib.sha256(text.encode()).hexdigest())


class Chain:
    """Links in their order, each held against the one before.

    >>> chain, drawn = Chain(), EvidenceSet("A.claim", "smoke", "f00", "0", "c0de")
    >>> chain.extend([linked("", drawn, "2026-01-01")])
    >>> chain.place(drawn)
    Place(sets=1, shown=1)
    """

    def __init__(self, links: Iterable[Link] = ()) -> None:
        self.links: list[Link] = []
        self._sets: dict[tuple[str, str], dict[EvidenceSet, int]] = {}
        self.extend(links)

    def extend(self, links: Iterable[Link]) -> None:
        """Take the links that follow.

        Raises:
            ValueError: one does not follow from those before it.
        """
        for link in links:
            if link != linked(self.head, link.drawn, link.first_used):
                raise ValueError(f"its chain of draws was edited at number {len(self.links) + 1}")
            self.links.append(link)
            sets = self._sets.setdefault((link.drawn.claim, link.drawn.tier), {})
            sets.setdefault(link.drawn, len(sets) + 1)

    @property
    def head(self) -> str:
        """The hash of the whole chain; "" of an empty one."""
        return self.links[-1].link if self.links else ""

    def others(self, drawn: EvidenceSet) -> int:
        """How many sets of its claim and tier there are besides a set."""
        return len(self._sets.get((drawn.claim, drawn.tier), {}).keys() - {drawn})

    def place(self, drawn: EvidenceSet) -> Place | None:
        """Where a set stands among those of its claim and tier; None if the chain lacks it."""
        sets = self._sets.get((drawn.claim, drawn.tier), {})
        return Place(len(sets), sets[drawn]) if drawn in sets else None


def append(database: sqlite3.Connection, drawn: EvidenceSet, first_used: str) -> None:
    """Add a link to the table, within a transaction; none for a set that it has."""
    last = database.execute("SELECT link FROM draws ORDER BY number DESC LIMIT 1").fetchone()
    new = linked(last[0] if last else "", drawn, first_used)
    row = (*drawn, new.first_used, new.link)
    database.execute(f"INSERT OR IGNORE INTO draws VALUES (NULL{', ?' * len(row)})", row)
