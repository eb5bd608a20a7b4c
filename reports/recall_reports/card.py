"""The summary of a run as one small SVG, for a README."""

import textwrap
from typing import Any

from recall_reports import summary, words
from recall_reports.html import environment
from recall_reports.record import Record

WIDTH, MARGIN, ROW = 760, 24, 66
BAR = WIDTH - 2 * MARGIN  # length of the bar of the paper with most claims


def render(report: Record) -> str:
    """The card of a valid record: outcome, verdicts by paper, and how the run was made."""
    papers = summary.overview(report)
    most = max((paper["claims"] for paper in papers), default=1)
    return (
        environment()
        .get_template("summary.svg.j2")
        .render(
            width=WIDTH,
            margin=MARGIN,
            row=ROW,
            headline=textwrap.wrap(summary.sentence(report), 62),
            papers=[{**paper, "parts": _parts(paper["counts"], most)} for paper in papers],
            controls=summary.controls(report),
            run=textwrap.wrap(run_line(report), 102),
        )
    )


def run_line(report: Record) -> str:
    """How the run was made, in one line: tier, seed, device, budget, date, version, commit."""
    suite = report["suite"]
    parts = [
        f"{suite['tier']} tier",
        f"seed {suite['seed']}",
        suite["device"],
        f"error budget {words.number(suite['error_budget']['probability'])}",
        suite.get("started", "").partition("T")[0],
        f"recall-claims {suite['versions'].get('recall-claims', '')}".strip(),
        f"commit {suite['commit']}" if suite.get("commit") else "",
    ]
    return ", ".join(filter(None, parts))


def _parts(counts: dict[str, int], most: int) -> list[dict[str, Any]]:
    """Pieces of a bar from left to right, in the colour of their state."""
    parts, left = [], 0.0
    for state, number in counts.items():
        wide = BAR * number / most
        tone = "refuted" if state == "as declared" else state.lower().replace(" ", "-")
        parts.append({"x": round(left, 1), "width": round(wide, 1), "tone": tone})
        left += wide
    return parts
