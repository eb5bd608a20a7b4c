"""Many records as one page: each claim's verdict, estimate and cost, from commit to commit.

A claim that drifts is seen before it fails: its estimate has left the interval that an earlier
record gave, or its bounds come nearer to an edge of the region with every record.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from recall_reports import files, html
from recall_reports.compare.diff import ROUNDED
from recall_reports.errors import ReportError
from recall_reports.plots.bars import Bar, bars, overshoot
from recall_reports.record import Claim, Record, Suite

STEADY = 5
"""Records in a row, each nearer to an edge: by chance alone, one claim in 120 has them."""


class Entry(NamedTuple):
    """A claim in one record; `room` is what is left to the region's edge, in half widths of it."""

    suite: Suite
    claim: Claim
    bar: Bar | None
    room: float | None


class Course(NamedTuple):
    """A claim in all records that have it, the oldest first; `note` says what has changed."""

    claim: str
    entries: list[Entry]
    note: str


def found(folder: Path) -> tuple[list[Record], list[str]]:
    """The records in a folder and those below it, the oldest first; and what could not be read.

    Raises:
        ReportError: there is none.
    """
    records, problems = [], []
    for path in sorted(folder.rglob("*.json")):
        try:
            if files.MARKS["report.json"] in path.read_bytes()[:4096]:
                records.append(files.load(path))
        except (ReportError, OSError) as error:
            problems.append(str(error))
    if not records:
        raise ReportError(f"{folder}: no record in it that can be read; name a folder with reports")
    return sorted(records, key=lambda record: record.suite.started), problems


def courses(records: Sequence[Record]) -> list[Course]:
    """Each claim over these records, those first of which there is something to say."""
    names = dict.fromkeys(claim.id for record in records for claim in record.claims)
    all_of_them = [_course(name, records) for name in sorted(names)]
    return sorted(all_of_them, key=lambda course: not course.note)


def page(records: Sequence[Record]) -> str:
    """The history as one HTML file."""
    return html.page("history.html.j2", records=records, courses=courses(records))


def _course(name: str, records: Sequence[Record]) -> Course:
    found = [(r.suite, claim) for r in records for claim in r.claims if claim.id == name]
    heads = [claim.head for _, claim in found if claim.head is not None]
    drawn = iter(bars(heads, log=found[-1][1].rule.scale == "error"))
    entries = [
        Entry(suite, claim, next(drawn), -overshoot(claim.head))
        if claim.head is not None
        else Entry(suite, claim, None, None)
        for suite, claim in found
    ]
    return Course(name, entries, _note([entry for entry in entries if entry.claim.head]))


def _note(entries: Sequence[Entry]) -> str:
    """What has changed since the first of these, in words."""
    verdicts = list(dict.fromkeys(str(entry.claim.verdict) for entry in entries))
    if len(verdicts) > 1:
        return f"verdict changed: {', '.join(verdicts)}"
    if len(entries) < 2:
        return ""
    first, last = (entries[at].claim.components[entries[at].claim.headline] for at in (0, -1))
    if first.region.ends != last.region.ends:
        return "region changed"
    low, high = first.interval.ends
    if last.estimate is not None and not low <= last.estimate <= high:
        return "drifts: the estimate has left its first interval"
    rooms = [entry.room or 0.0 for entry in entries]
    falls = [b < a - ROUNDED * abs(a) for a, b in pairwise(rooms)]
    if len(falls) >= STEADY - 1 and all(falls[1 - STEADY :]):
        return f"drifts: nearer to the region's edge in each of the last {STEADY} records"
    return ""
