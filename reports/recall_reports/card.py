"""The summary of a run as one small SVG, for a README."""

import textwrap

from recall_reports import html, phrases, summary
from recall_reports.record import Record

WIDTH, MARGIN = 760, 24


def render(record: Record) -> str:
    """The card of a valid record: outcome, verdicts by paper, and how the run was made."""
    suite = record.suite
    run = (
        f"{suite.tier} tier",
        f"seed {suite.seed}",
        suite.device,
        f"error budget {phrases.number(suite.error_budget.probability)}",
        suite.started.partition("T")[0],
        f"recall-claims {suite.versions.get('recall-claims', '')}".strip(),
        f"commit {suite.commit}" if suite.commit else "",
    )
    papers = summary.overview(record)
    return html.page(
        "summary.svg.j2",
        width=WIDTH,
        margin=MARGIN,
        headline=textwrap.wrap(summary.sentence(record), 62),
        kinds=[line for kind in summary.kinds(record) for line in textwrap.wrap(kind, 102)],
        papers=papers,
        most=max((sum(counts.values()) for _, counts in papers), default=1),
        controls=summary.controls(record),
        run=textwrap.wrap(", ".join(filter(None, run)), 102),
    )
