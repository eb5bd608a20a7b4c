"""The report as Markdown, short enough for the summary page of a CI run."""

from collections.abc import Iterable

from recall_reports import phrases, summary
from recall_reports.record import Claim, Record


def render(record: Record) -> str:
    """Verdict table, then what failed or is undecided and why."""
    suite = record.suite
    budget = suite.error_budget
    claims, beyond = map(summary.tried, summary.split(record))
    lines = [
        "# recall-claims",
        "",
        f"**{summary.sentence(record)}**",
        "",
        *(f"- {kind.sentence}" for kind in summary.kinds(record)),
        "",
        f"Tier `{suite.tier}`, seed `{suite.seed}`, device `{suite.device}`, "
        f"{phrases.seconds(suite.seconds)} of simulation. Error budget of this run: "
        f"{phrases.number(budget.probability)}, of which {phrases.number(budget.allocated, 2)} "
        "is allocated.",
        "",
        *([phrases.EXPLORED, ""] if summary.explored(record) else []),
        *_overview(record),
        *_table(claims),
    ]
    if beyond:
        lines += ["", "## Beyond the theorems: exploratory, fails no run", "", *_table(beyond)]
    lines += _attention(record)
    return "\n".join(lines) + "\n"


def _overview(record: Record) -> list[str]:
    """Verdict counts by paper."""
    states = summary.count(record.claims)
    lines = [f"| paper | {' | '.join(states)} |", f"|---|{'--:|' * len(states)}"]
    for row in summary.overview(record):
        counts = (str(row.counts.get(state, "–")) for state in states)
        lines.append(f"| {row.paper.key}: {escaped(row.paper.title)} | {' | '.join(counts)} |")
    return [*lines, ""]


def _table(claims: Iterable[Claim]) -> list[str]:
    return [
        "| verdict | claim | estimate [interval] | region | resolution | controls | time |",
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
            f"  - control `{control.id}` was not refuted: {control.verdict}"
            for control in claim.controls
            if claim.state == "DECIDED" and control.verdict != "REFUTED"
        ]
        lines.append(f"  - replay: `{claim.replay}`")
    return lines


def escaped(text: str) -> str:
    """Text that cannot break out of a table cell or turn into markup."""
    flat = " ".join(text.split())
    for character in "\\|<>*_`[]":
        flat = flat.replace(character, f"\\{character}")
    return flat
