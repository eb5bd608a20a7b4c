"""The evidence sets that a ledger has ever drawn, in a chain in which an edit shows.

A claim's evidence is another set under another seed, other code or another registration. Each set
of a claim and tier may refute wrongly with the claim's alpha, so who draws T of them and shows one
has T times that. Each link of the chain is a hash of the one before and of its own fields, as in a
version control system: to edit or take out one changes all that follow. Links taken off the end
are missed where the chain was written down elsewhere, as a bundle does.
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


# Ledgers of earlier formats kept registrations alone; their blocks tell of seeds and code.
_EARLIER = """
SELECT DISTINCT r.claim, r.tier, r.registration, coalesce(b.seed, ''), coalesce(b.code, ''),
    r.first_used FROM registrations AS r LEFT JOIN blocks AS b
    ON b.claim = r.claim AND b.registration = r.registration ORDER BY r.first_used, 1, 2, 3, 4, 5
"""


class EvidenceSet(NamedTuple):
    """What makes evidence of a claim fresh; seed and code are "" where an old ledger lacks them."""

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


def upgrade(database: sqlite3.Connection) -> None:
    """Make the chain of a ledger that has none, within a transaction."""
    if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'registrations'").fetchone():
        for *fields, first_used in database.execute(_EARLIER).fetchall():
            append(database, EvidenceSet(*fields), first_used)
        database.execute("DROP TABLE registrations")
