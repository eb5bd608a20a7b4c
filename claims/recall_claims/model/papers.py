"""Papers and their statements, read from TOML files."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from recall_reports.record import Figure, Name, Statement, Text, Work
from recall_reports.record.values import Provenance


@dataclass(frozen=True)
class Paper:
    """A paper, or a group of them, with its statements and its letters for cell parameters.

    Attributes:
        authors: the paper's authors; empty for a group of papers, each statement of which names its
            own work.
        identifier: the paper's address, such as "arXiv 2412.06538"; also empty for a group.
        read: what the authors of the claims have read of the paper, such as "abstracts and
            reviews".
        summary: text in plain words; paragraphs after the first have formulas, and are folded away.
        share: the paper's part of a run's error budget, in (0, 1].
        slots: number of claims among which the share is divided, fixed in advance.
        symbols: the paper's letters for cell parameters, by parameter.
        letters: meanings of other letters in formulas, by their LaTeX.
        names: meanings of names that the paper's claims predict, such as "A" for a noise term.
        figures: pictures for the top of a report, drawn if the report has claims that they show.
        file: the paper's file.
    """

    key: str
    title: str
    authors: str
    identifier: str
    read: str
    summary: str
    share: float
    slots: int
    statements: tuple[Statement, ...]
    symbols: Mapping[str, str]
    letters: Mapping[str, str]
    names: Mapping[str, str]
    figures: tuple[Figure, ...]
    file: Path = field(compare=False)


_added: dict[str, Paper] = {}


def add_paper(path: Path) -> None:
    """Make a paper known, so that claims can cite it; for the conftest.py next to these claims.

    Args:
        path: a TOML file with id, title, authors, identifier, share, slots and statements. The file
            of a group of papers has a table `works` instead of authors and identifier, and each
            statement names one of these works. `Paper` explains the other entries.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not TOML, an entry is missing or wrong, or another paper has its id.
            Earlier papers leave too small a share. Two statements share an id. A statement rests on
            itself or on an unknown statement, names an unknown work, or names none in a group.
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
    """Return all papers added, by id."""
    return dict(sorted(_added.items()))


def is_paper(path: Path) -> bool:
    """Whether `add_paper` can read this file."""
    try:
        _read(path)
    except (OSError, ValueError):
        return False
    return True


class _Work(Struct):
    """A citation; its title is empty if we are not certain of the title."""

    authors: list[str]
    identifier: str
    title: str = ""


class _Statement(Struct):
    id: Name
    text: Text
    provenance: Provenance
    rests_on: list[Name] = []
    setting: bool = False
    work: str = ""


class _File(Struct):
    id: Name
    title: Text
    statements: list[_Statement]
    share: Annotated[float, Meta(gt=0, le=1)]
    slots: Annotated[int, Meta(ge=1)]
    authors: list[str] = []
    identifier: str = ""
    read: str = ""
    summary: str = ""
    works: dict[str, _Work] = {}
    symbols: dict[str, str] = {}
    letters: dict[str, str] = {}
    names: dict[str, str] = {}
    figures: list[Figure] = []

    def __post_init__(self) -> None:
        if not self.works and not (self.authors and self.identifier):
            raise ValueError("Object missing `authors` and `identifier`, or a table `works`")


def _read(path: Path) -> Paper:
    try:
        data = msgspec.toml.decode(path.read_text(encoding="utf-8"), type=_File)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"{path}: {error}; a paper has id, title, authors, identifier, statements, its `share` "
            "of the error budget, such as 0.1, and the number of `slots` among which its claims "
            "divide it, such as 26"
        ) from None
    except msgspec.DecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    _refuse_unfounded(data, path)
    works = {
        name: Work(**asdict(one) | {"authors": ", ".join(one.authors)})
        for name, one in data.works.items()
    }
    return Paper(
        key=data.id,
        title=data.title,
        authors="" if works else ", ".join(data.authors),
        identifier="" if works else data.identifier,
        read=data.read,
        summary=data.summary,
        share=data.share,
        slots=data.slots,
        statements=tuple(
            Statement(**asdict(one) | {"work": works.get(one.work)}) for one in data.statements
        ),
        symbols=data.symbols,
        letters=data.letters,
        names=data.names,
        figures=tuple(data.figures),
        file=path,
    )


def _refuse_unfounded(data: _File, path: Path) -> None:
    """Refuse statements that share an id, that rest on unknown statements or on themselves, or that
    lack a work.
    """
    known = [statement.id for statement in data.statements]
    if len({*known}) < len(known):
        raise ValueError(f"{path}: two statements share an id ({', '.join(known)}); rename one")
    for statement in data.statements:
        unknown = [name for name in statement.rests_on if name not in known]
        if unknown:
            raise ValueError(
                f"{path}: statement {statement.id} rests on {', '.join(unknown)}, which the paper "
                f"does not have: name statements of this file ({', '.join(known)})"
            )
        if statement.work not in data.works and (data.works or statement.work):
            raise ValueError(
                f"{path}: statement {statement.id} cites the work {statement.work!r}, which the "
                f"file does not list: name one of its works ({', '.join(data.works)}) in `work`"
            )
    try:
        TopologicalSorter({s.id: s.rests_on for s in data.statements}).prepare()
    except CycleError as error:
        raise ValueError(
            f"{path}: statements rest on one another in a circle, "
            f"{' <- '.join(error.args[1])}: take one of these out of its rests_on"
        ) from None
