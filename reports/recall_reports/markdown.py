"""The report as Markdown, short enough for the summary page of a CI run."""

import re
from collections.abc import Iterable

from recall_reports import phrases, summary
from recall_reports.record import Claim, Record

MARKUP = re.compile(r"[\\|<>*_`\[\]~$&]")
LIVE = re.compile(r"[@#]|GH(?=-)|\w(?=://)|www(?=\.)", re.IGNORECASE)
"""Where GitHub makes links of plain text: people, issues, addresses."""
APART = "&#8203;"
"""A space of no width."""


def render(record: Record) -> str:
    """Verdict table, then what failed or is undecided and why."""
    suite = record.suite
    budget = suite.error_budget
    claims, exploratory = map(summary.tried, summary.split(record))
    lines = [
        "# recall-claims",
        "",
        f"**{summary.sentence(record)}**",
        "",
        *(f"- {kind.sentence}" for kind in summary.kinds(record)),
        "",
        f"Tier {code(suite.tier)}, seed `{suite.seed}`, device {code(suite.device)}, "
        f"{phrases.seconds(suite.seconds)} of simulation. Error budget of this run: "
        f"{phrases.number(budget.probability)}, of which {phrases.number(budget.allocated, 2)} "
        "is allocated.",
        "",
        *([phrases.EXPLORED, ""] if summary.explored(record) else []),
        *_overview(record),
        *_table(claims),
    ]
    if exploratory:
        lines += [
            "",
            "## Beyond the theorems: exploratory, never fails a run",
            "",
            *_table(exploratory),
        ]
    lines += _attention(record)
    return "\n".join(lines) + "\n"


def _overview(record: Record) -> list[str]:
    """Verdict counts by paper."""
    states = summary.count(record.claims)
    lines = [f"| paper | {' | '.join(states)} |", f"|---|{'--:|' * len(states)}"]
    for row in summary.overview(record):
        counts = (str(row.counts.get(state, "–")) for state in states)
        title = escaped(f"{row.paper.key}: {row.paper.title}")
        lines.append(f"| {title} | {' | '.join(counts)} |")
    return [*lines, ""]


def _table(claims: Iterable[Claim]) -> list[str]:
    return [
        f"| verdict | claim | {phrases.FINDING} | region | resolution | controls | time |",
        "|---|---|---|---|---|---|--:|",
        *map(_row, claims),
    ]


def _row(claim: Claim) -> str:
    cells = (
        f"**{phrases.label(claim)}**",
        f"{escaped(phrases.title(claim))} (`{claim.id}`)",
        phrases.finding(claim.head),
        phrases.region(claim.head),
        escaped(phrases.resolution(claim)),
        phrases.controls(claim),
        phrases.seconds(claim.seconds),
    )
    return f"| {' | '.join(cells)} |"


def _attention(record: Record) -> list[str]:
    lines: list[str] = []
    for entry in summary.attention(record):
        claim = entry[0]
        if not lines:
            lines += ["", "## Failed or undecided", ""]
        names = ", ".join(f"`{claim.id}`" for claim in entry)
        lines.append(f"- **{phrases.label(claim)}** {names}: {escaped(phrases.reason(claim))}")
        if claim.state in summary.LEFT:
            continue
        lines += [
            f"  - control {code(control.id)} was not refuted: {control.verdict}"
            for control in claim.controls
            if claim.state == "DECIDED" and control.verdict != "REFUTED"
        ]
        lines.append(f"  - replay: {code(claim.replay)}")
    return lines


def escaped(text: str) -> str:
    """Text on one line that no reader takes for markup, a link, a mention or another cell."""
    flat = MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
    return LIVE.sub(f"\\g<0>{APART}", flat)


def code(text: str) -> str:
    """Text as code on one line, in a fence that it cannot end; a table's cell ends at a bar."""
    flat = " ".join(text.split()) or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", flat)), default=0))
    return f"{fence} {flat} {fence}" if len(fence) > 1 else f"{fence}{flat}{fence}"
