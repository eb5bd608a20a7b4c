"""The report as Markdown, short enough for the summary page of a CI run."""

import re

from recall_reports import summary, templating
from recall_reports.analyses import Analyses
from recall_reports.record import Record

MARKUP = re.compile(r"[\\|<>*_`\[\]~$&]")
LIVE = re.compile(r"[@#]|GH(?=-)|\w(?=://)|www(?=\.)", re.IGNORECASE)
"""Pattern of plain text that GitHub turns into links: people, issues, addresses."""
APART = "&#8203;"
"""A zero-width space."""


def render(record: Record, analyses: Analyses | None = None) -> str:
    """Write the verdict table, then failed and undecided claims with reasons."""
    claims, exploratory = map(summary.tried, summary.split(record))
    values = {"record": record, "claims": claims, "exploratory": exploratory}
    values |= {"analyses": analyses or Analyses(record.claims, record.usual)}
    return templating.page("report.md.j2", escaped=escaped, code=code, **values)


def escaped(text: str) -> str:
    """Put a text on one line, without markup, links, mentions or ends of a table's cell."""
    flat = MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
    return LIVE.sub(f"\\g<0>{APART}", flat)


def code(text: str) -> str:
    """Set a text as code on one line, in a fence longer than any fence in the text."""
    flat = " ".join(text.split()) or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", flat)), default=0))
    return f"{fence} {flat} {fence}" if len(fence) > 1 else f"{fence}{flat}{fence}"
