"""The papers' statements, kept as data in files of their own."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


@dataclass(frozen=True)
class Statement:
    """One statement of a paper, with how it is known and which others it rests on."""

    id: str
    text: str
    provenance: str
    rests_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper and its statements, with the letters that it uses for cell parameters."""

    key: str
    title: str
    authors: str
    identifier: str
    statements: tuple[Statement, ...]
    symbols: Mapping[str, str]


_added: dict[str, Paper] = {}


def add_paper(path: Path) -> None:
    """Make a paper known; for the conftest.py beside its claims.

    Args:
        path: a TOML file with id, title, authors, identifier and statements.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not TOML, lacks an entry, has the id of another paper, or statements that
            rest on unknown ones or on themselves.
    """
    paper = _read(path)
    if papers().get(paper.key, paper) != paper:
        raise ValueError(f"{path}: another paper has the id {paper.key!r}; choose a new one")
    _added[paper.key] = paper


def papers() -> dict[str, Paper]:
    """All papers that were added, by key."""
    return dict(sorted(_added.items()))


def _read(path: Path) -> Paper:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        authors = data["authors"]
        statements = tuple(
            Statement(e["id"], e["text"], e["provenance"], tuple(e.get("rests_on", ())))
            for e in data["statements"]
        )
        return Paper(
            key=data["id"],
            title=data["title"],
            authors=authors if isinstance(authors, str) else ", ".join(authors),
            identifier=data["identifier"],
            statements=_checked(statements, path),
            symbols=data.get("symbols", {}),
        )
    except KeyError as error:
        raise ValueError(f"{path} has no entry {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None


def _checked(statements: tuple[Statement, ...], path: Path) -> tuple[Statement, ...]:
    """Refuse statements that rest on unknown ones, or in a circle on themselves."""
    known = [statement.id for statement in statements]
    for statement in statements:
        unknown = [name for name in statement.rests_on if name not in known]
        if unknown:
            raise ValueError(
                f"{path}: statement {statement.id} rests on {', '.join(unknown)}, which the paper "
                f"does not have: name statements of this file ({', '.join(known)})"
            )
    try:
        TopologicalSorter({s.id: s.rests_on for s in statements}).prepare()
    except CycleError as error:
        raise ValueError(
            f"{path}: statements rest on one another in a circle, "
            f"{' <- '.join(error.args[1])}: take one of these out of its rests_on"
        ) from None
    return statements
