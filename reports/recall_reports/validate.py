"""Whether a document is a record, and says nothing that contradicts itself."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from recall_reports import graph
from recall_reports.errors import ReportError
from recall_reports.record import VERSION, Record


class Place(NamedTuple):
    """Where in a record, and what is wrong there."""

    path: str
    problem: str


def validated(found: object) -> Record:
    """The record that plain JSON types or a record hold.

    Raises:
        ReportError: naming the path inside the record, what is wrong there, and the remedy.
    """
    plain = msgspec.to_builtins(found) if isinstance(found, Struct) else found
    version = plain.get("schema") if isinstance(plain, Mapping) else None
    if version != VERSION:
        raise ReportError(
            f"the record has the format {version!r}, this program reads {VERSION!r}: run `pytest "
            "claims/` for a new record, or use the version of recall-claims that wrote this one"
        )
    try:
        record = msgspec.convert(plain, Record)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$.")
        raise _invalid(plain, Place(path.rstrip("`"), problem)) from None
    wrong = _inconsistency(record)
    if wrong is not None:
        raise _invalid(plain, wrong)
    return record


def _invalid(plain: Any, place: Place) -> ReportError:
    path = place.path or "the record"
    if path.startswith("claims["):
        claim = plain["claims"][int(path.removeprefix("claims[").partition("]")[0])]
        if isinstance(claim, Mapping) and "id" in claim:
            path += f" (claim {claim['id']})"
    return ReportError(
        f"invalid record: {path}: {place.problem}. `python -m recall_reports schema` prints the "
        "format; correct the code that made this record, or run `pytest claims/` for a new one"
    )


def _inconsistency(record: Record) -> Place | None:
    """What types cannot say: unique ids, and references to what is there."""
    ids = [claim.id for claim in record.claims]
    papers = [paper.key for paper in record.papers]
    for index, claim in enumerate(record.claims):
        if claim.id in ids[:index]:
            return Place(f"claims[{index}].id", "a second claim of this name")
        if claim.source.paper not in papers:
            problem = f"{claim.source.paper!r} is not a paper of this record"
            return Place(f"claims[{index}].source.paper", problem)
        if claim.source.paper not in record.suite.error_budget.papers:
            problem = f"{claim.source.paper!r} has no share of the error budget"
            return Place(f"claims[{index}].source.paper", problem)
    graphs = {
        f"papers[{index}].statements": {entry.id: entry.rests_on for entry in paper.statements}
        for index, paper in enumerate(record.papers)
    }
    graphs["derivations"] = {entry.module: entry.rests_on for entry in record.derivations}
    for place, rests_on in graphs.items():
        for index, bases in enumerate(rests_on.values()):
            for name in bases:
                if name not in rests_on:
                    return Place(f"{place}[{index}].rests_on", f"{name!r} is not among them")
        circle = graph.cycle(rests_on)
        if circle:
            return Place(place, f"{' <- '.join(circle)} rest on one another in a circle")
    return None
