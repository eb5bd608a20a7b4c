"""The papers' statements, kept as data in files of their own."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from recall_reports.record import Statement, Work


@dataclass(frozen=True)
class Paper:
    """A paper, or a group of them, with its statements and its letters for cell parameters.

    Attributes:
        authors: empty, like `identifier`, for a group, whose statements name their own works.
        share: part of a run's error budget that belongs to the paper, in (0, 1].
        slots: number of claims among which the share is divided, fixed in advance.
        file: where this is written.
    """

    key: str
    title: str
    authors: str
    identifier: str
    share: float
    slots: int
    statements: tuple[Statement, ...]
    symbols: Mapping[str, str]
    file: Path = field(compare=False)


_added: dict[str, Paper] = {}


def add_paper(path: Path) -> None:
    """Make a paper known; for the conftest.py beside its claims.

    Args:
        path: a TOML file with id, title, authors, identifier, share, slots and statements. The file
            of a group of papers has a table `works` in place of authors and identifier, and each
            of its statements names one of them.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not TOML, lacks an entry, has the id of another paper, a senseless share
            or number of slots, a share that the papers added before do not leave, or statements
            that rest on unknown ones or on themselves, or cite an unknown work.
    """
    paper = _read(path)
    if papers().get(paper.key, paper) != paper:
        raise ValueError(f"{path}: another paper has the id {paper.key!r}; choose a new one")
    shares = {**{key: other.share for key, other in papers().items()}, paper.key: paper.share}
    if math.fsum(shares.values()) > 1 + 1e-9:
        raise ValueError(
            f"{path}: the papers' shares of the error budget add up to more than 1 "
            f"({', '.join(f'{key} {share:g}' for key, share in shares.items())}); make `share` "
            "of this file, or of another paper's, smaller"
        )
    _added[paper.key] = paper


def papers() -> dict[str, Paper]:
    """All papers that were added, by key."""
    return dict(sorted(_added.items()))


def is_paper(path: Path) -> bool:
    """Whether this file is one that `add_paper` takes."""
    try:
        _read(path)
    except (OSError, TypeError, AttributeError, ValueError):
        return False
    return True


def _read(path: Path) -> Paper:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        share, slots = _budgeted(data, path)
        works = {name: _work(entry) for name, entry in data.get("works", {}).items()}
        own = Work() if works else _work(data)
        needed = ("id", "text", "provenance")
        statements = tuple(
            Statement(
                **{name: e[name] for name in needed},
                rests_on=[*e.get("rests_on", ())],
                work=_cited(e, works, path),
            )
            for e in data["statements"]
        )
        return Paper(
            key=data["id"],
            title=data["title"],
            authors=own.authors,
            identifier=own.identifier,
            share=share,
            slots=slots,
            statements=_checked(statements, path),
            symbols=data.get("symbols", {}),
            file=path,
        )
    except KeyError as error:
        raise ValueError(f"{path} has no entry {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None


def _work(entry: Mapping[str, Any]) -> Work:
    """Read a citation; a title that is not known for certain is left out."""
    authors = entry["authors"]
    return Work(
        authors=authors if isinstance(authors, str) else ", ".join(authors),
        title=entry.get("title", ""),
        identifier=entry["identifier"],
    )


def _cited(entry: Mapping[str, Any], works: Mapping[str, Work], path: Path) -> Work | None:
    """Find the work of a statement; a group's statement must name one of the group's works."""
    if not works and "work" not in entry:
        return None
    name = entry.get("work", "")
    if name not in works:
        known = ", ".join(works) or "none"
        raise ValueError(
            f"{path}: statement {entry['id']} cites the work {name!r}, which the file does not "
            f"list: name one of its works ({known}) in `work`"
        )
    return works[name]


def _budgeted(data: Mapping[str, object], path: Path) -> tuple[float, int]:
    """A paper's share of the error budget and its slots, refused if they make no sense."""
    share, slots = data.get("share"), data.get("slots")
    missing = [name for name in ("share", "slots") if name not in data]
    if missing:
        raise ValueError(
            f"{path} has no entry {' and '.join(missing)}: say which part of the error budget the "
            "paper's claims may spend, and among how many claims it is divided, such as "
            "`share = 0.1` and `slots = 26`"
        )
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise ValueError(f"{path}: share is a part of the error budget in (0, 1], not {share!r}")
    if isinstance(slots, bool) or not isinstance(slots, int) or slots < 1:
        raise ValueError(f"{path}: slots is a number of claims, at least 1, not {slots!r}")
    return float(share), slots


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
