"""The summary of a run as one small SVG, for a README."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recall_reports import phrases, summary
from recall_reports.html import environment
from recall_reports.record import Record

WIDTH, MARGIN, ROW = 760, 24, 66
BAR = WIDTH - 2 * MARGIN  # length of the bar of the paper with most claims


class Piece(NamedTuple):
    """A piece of a bar, in the colour of its state."""

    x: float
    width: float
    state: str


def render(record: Record) -> str:
    """The card of a valid record: outcome, verdicts by paper, and how the run was made."""
    papers = summary.overview(record)
    most = max((paper.claims for paper in papers), default=1)
    return (
        environment()
        .get_template("summary.svg.j2")
        .render(
            width=WIDTH,
            margin=MARGIN,
            step=ROW,
            headline=textwrap.wrap(summary.sentence(record), 62),
            kinds=[line for kind in summary.kinds(record) for line in _lines(kind.sentence)],
            papers=[(paper, _pieces(paper.counts, most)) for paper in papers],
            controls=summary.controls(record),
            run=_lines(", ".join(_run(record))),
        )
    )


def _lines(text: str) -> list[str]:
    return textwrap.wrap(text, 102)


def _run(record: Record) -> Sequence[str]:
    """How the run was made: tier, seed, device, budget, date, version, commit."""
    suite = record.suite
    parts = (
        f"{suite.tier} tier",
        f"seed {suite.seed}",
        suite.device,
        f"error budget {phrases.number(suite.error_budget.probability)}",
        suite.started.partition("T")[0],
        f"recall-claims {suite.versions.get('recall-claims', '')}".strip(),
        f"commit {suite.commit}" if suite.commit else "",
    )
    return [part for part in parts if part]


def _pieces(counts: Mapping[str, int], most: int) -> list[Piece]:
    """A bar from left to right."""
    pieces, left = [], 0.0
    for state, number in counts.items():
        width = BAR * number / most
        colour = "REFUTED" if state == summary.AS_DECLARED else state
        pieces.append(Piece(round(left, 1), round(width, 1), colour))
        left += width
    return pieces
