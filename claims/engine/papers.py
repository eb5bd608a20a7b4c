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


_added: dict[str, Paper] = {}


def add_paper(path: Path) -> None:
    """Make a paper known whose claims live outside this repository; for its conftest.py.

    Args:
        path: a file like those in claims/papers.

    Raises:
        OSError, ValueError, KeyError: it cannot be read, is not TOML, or lacks an entry.
    """
    paper = _read(path)
    _added[paper.key] = paper


def papers() -> dict[str, Paper]:
    """All papers by key: those of claims/papers, and those added."""
    return {**_bundled(), **_added}


@cache
def _bundled() -> dict[str, Paper]:
    return {paper.key: paper for paper in map(_read, sorted(FOLDER.glob("*.toml")))}


def _read(path: Path) -> Paper:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    authors = data["authors"]
    return Paper(
        key=data["id"],
        title=data["title"],
        authors=authors if isinstance(authors, str) else ", ".join(authors),
        identifier=data["identifier"],
        statements=tuple(
            Statement(entry["id"], entry["text"], entry["provenance"])
            for entry in data["statements"]
        ),
    )
