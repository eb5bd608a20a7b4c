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
        OSError: it cannot be read.
        ValueError: it is not TOML, lacks an entry, or has the id of another paper.
    """
    paper = _read(path)
    if papers().get(paper.key, paper) != paper:
        raise ValueError(f"{path}: another paper has the id {paper.key!r}; choose a new one")
    _added[paper.key] = paper


def papers() -> dict[str, Paper]:
    """All papers by key: those of claims/papers, and those added."""
    return {**_bundled(), **_added}


@cache
def _bundled() -> dict[str, Paper]:
    return {paper.key: paper for paper in map(_read, sorted(FOLDER.glob("*.toml")))}


def _read(path: Path) -> Paper:
    try:
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
    except KeyError as error:
        raise ValueError(f"{path} has no entry {error}; compare claims/papers/A.toml") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
