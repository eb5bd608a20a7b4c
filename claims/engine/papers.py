"""The papers' statements, kept as data in claims/papers/*.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "papers"


@dataclass(frozen=True)
class Statement:
    """One statement of a paper, with how it is known."""

    id: str
    text: str
    provenance: str


@dataclass(frozen=True)
class Paper:
    """A paper and its statements."""

    key: str
    title: str
    authors: str
    identifier: str
    statements: tuple[Statement, ...]


@cache
def papers() -> dict[str, Paper]:
    """All papers of the suite by key, read from claims/papers."""
    found = {}
    for path in sorted(FOLDER.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        authors = data["authors"]
        found[path.stem] = Paper(
            key=path.stem,
            title=data["title"],
            authors=authors if isinstance(authors, str) else ", ".join(authors),
            identifier=data["identifier"],
            statements=tuple(
                Statement(entry["id"], entry["text"], entry["provenance"])
                for entry in data["statements"]
            ),
        )
    return found
