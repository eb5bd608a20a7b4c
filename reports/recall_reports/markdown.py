"""The report as Markdown, short enough for the summary page of a CI run."""

from typing import Any

from recall_reports import summary, words
from recall_reports.record import Record


def render(report: Record) -> str:
    """Verdict table, then what failed or is undecided and why."""
    suite = report["suite"]
    budget = suite["error_budget"]
    lines = [
        "# recall-claims",
        "",
        f"**{summary.sentence(report)}**",
        "",
        f"Tier `{suite['tier']}`, seed `{suite['seed']}`, device `{suite['device']}`, "
        f"{words.seconds(suite['seconds'])} of simulation. Error budget of the suite: "
        f"{words.number(budget['probability'])}, of which {words.number(budget['allocated'], 2)} "
        "is allocated.",
        "",
    ]
    lines += _overview(report)
    claims, beyond = map(summary.tried, summary.split(report))
    lines += _table(claims)
    if beyond:
        lines += ["", "## Beyond the theorems: exploratory, fails no run", "", *_table(beyond)]
    lines += _attention(report)
    return "\n".join(lines) + "\n"


def _overview(report: Record) -> list[str]:
    """Verdict counts by paper."""
    states = summary.count(report["claims"])
    lines = [
        f"| paper | {' | '.join(summary.PHRASES[state] for state in states)} |",
        f"|---|{'--:|' * len(states)}",
    ]
    for row in summary.overview(report):
        counts = (str(row["counts"].get(state, "–")) for state in states)
        lines.append(f"| {row['paper']}: {escaped(row['title'])} | {' | '.join(counts)} |")
    return [*lines, ""]


def _table(claims: list[dict[str, Any]]) -> list[str]:
    return [
        "| verdict | claim | estimate [interval] | region | resolution | controls | time |",
        "|---|---|---|---|---|---|--:|",
        *map(_row, claims),
    ]


def _row(claim: dict[str, Any]) -> str:
    cells = (
        f"**{words.label(claim)}**",
        f"{escaped(claim['title'])} (`{claim['id']}`)",
        words.finding(claim["estimate"], claim["interval"]),
        words.region(claim["region"]),
        escaped(words.resolution(claim)),
        words.controls(claim),
        words.seconds(claim["seconds"]),
    )
    return f"| {' | '.join(cells)} |"


def _attention(report: Record) -> list[str]:
    lines: list[str] = []
    for entry in summary.attention(report):
        claim = entry[0]
        if not lines:
            lines += ["", "## Failed or undecided", ""]
        names = ", ".join(f"`{claim['id']}`" for claim in entry)
        lines.append(f"- **{words.label(claim)}** {names}: {escaped(words.reason(claim))}")
        if claim["state"] == "NOT RUN":
            continue
        lines += [
            f"  - control `{control['id']}` was not refuted: {control['verdict'] or 'not tried'}"
            for control in claim["controls"]
            if claim["state"] == "DECIDED" and control["verdict"] != "REFUTED"
        ]
        lines.append(f"  - replay: `{claim['replay']}`")
    return lines


def escaped(text: str) -> str:
    """Text that cannot break out of a table cell or turn into markup."""
    flat = " ".join(text.split())
    for character in "\\|<>*_`[]":
        flat = flat.replace(character, f"\\{character}")
    return flat
