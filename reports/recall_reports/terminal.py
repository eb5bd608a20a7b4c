"""The verdict table at the end of the terminal output."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from recall_reports import figures, hunted, opening, phrases, summary
from recall_reports.analyses import Analyses
from recall_reports.record import ClaimRow, Record
from recall_reports.record.text import clean, line

STYLES = {
    "SUPPORTED": "green",
    phrases.AS_EXPECTED: "cyan",
    "REFUTED": "bold red",
    "INCONCLUSIVE": "bold yellow",
    "SURVIVES": "blue",
    "BREAKS": "magenta",
    "NOT RUN": "dim",
    "ERROR": "bold magenta",
}
WIDE = 112  # least width at which region and resolution have room
SLIM = 43  # least width that other columns need next to the longest name
NOTICES = "notices: the smallest error in the theory that the data would have refuted"
MANY = 8
"""Longest list of claims that were not run; -v lists all."""
PLAIN = str.maketrans(
    dict(zip("✓✕◆◇–…“”", '+x*o-.""', strict=True)) | {"≤": "<=", "≥": ">=", "∞": "inf"}
)


def print_verdicts(record: Record, console: Console, verbosity: int = 0) -> None:
    """Print the verdict table, the failures with their reasons, and the outcome in one sentence.

    A console of ASCII gets only ASCII.

    Args:
        record: record of a run.
        console: console to print to.
        verbosity: below 0 there are no tables, budget, `opening.first_lines` or claims that were
            not run. Above 0 a decided claim has two more lines: evidence and usual analysis.
    """
    analyses = Analyses(record.claims, record.usual)
    width, unicode = console.width, not console.options.ascii_only
    parts: list[RenderableType] = []

    def say(text: str | Text, style: str = "") -> None:
        parts.append(_fit(Text(text, style) if isinstance(text, str) else text, unicode))

    claims, exploratory = map(summary.tried, summary.split(record))
    verbose, quiet = verbosity > 0, verbosity < 0
    table = partial(_table, analyses=analyses, width=width, unicode=unicode, verbose=verbose)
    if claims and not quiet:
        parts += [table(claims), Text()]
    if exploratory and not quiet:
        say("Beyond the theorems: exploratory, never fails a run", "bold")
        parts += [table(exploratory), Text()]
    if not quiet and figures.starred(claim.head for claim in (*claims, *exploratory)):
        say(figures.STAR, "dim")
    if width < WIDE and (claims or exploratory) and not quiet:
        say(NOTICES, "dim")
    for entry in summary.attention(record):
        claim, names = entry[0], ", ".join(claim.id for claim in entry)
        if claim.state == "NOT RUN" and quiet:
            continue
        if claim.state == "NOT RUN" and len(entry) > MANY and not verbose:
            names = f"{len(entry)} claims"
        head = Text(f"{phrases.label(claim)} {names}: ", STYLES[phrases.state(claim)])
        say(head + Text(line(phrases.reason(claim)), "default"))
        if claim.outcome == "failed":
            say(f"  replay: {claim.replay}", "dim")
    for found in analyses.disagreeing:
        say(f"{found.claim.id}: {found.disagreement}", "yellow")
    for claim in filter(phrases.divided, record.claims):
        say(f"{claim.id}: {phrases.divided(claim)}", "dim")
    for told in hunted.lines(record):
        say(told)
    if not quiet:
        budget = record.suite.error_budget
        spent = figures.number(budget.allocated, 2)
        whole = figures.number(budget.probability)
        say(f"Error budget of this run {whole}, {spent} of it used.", "dim")
        for told in opening.first_lines(record):
            say(told)
    say(summary.sentence(record), "bold")
    console.print(Group(*parts))


def _table(
    claims: Sequence[ClaimRow], analyses: Analyses, *, width: int, unicode: bool, verbose: bool
) -> Table:
    """Make a row per claim. Findings wrap; a name wraps only if it is wider than the console."""
    wide, headers = width >= WIDE, ["verdict", "claim", figures.FINDING]
    slim = width < SLIM + max(len(claim.id) for claim in claims)
    if slim:  # the finding is under the name, and the name under the verdict if both are long
        headers = [", ".join(headers)]
    else:
        headers += ["region", "resolution", "controls", "time"] if wide else ["notices", "controls"]
    table = Table(
        box=box.SIMPLE_HEAD if unicode else box.ASCII2, padding=0, expand=wide, show_edge=False
    )
    for header in headers:
        if slim or header in (figures.FINDING, "region", "resolution"):
            table.add_column(header, overflow="fold")
        else:
            figure = header in ("notices", "controls", "time")
            table.add_column(header, justify="right" if figure else "left", no_wrap=True)
    for claim in claims:
        cells = _cells(claim, analyses, wide=wide, verbose=verbose)
        row = [_fit(cell, unicode) for cell in cells]
        table.add_row(*([Text("\n").join((Text(" ").join(row[:2]), row[2]))] if slim else row))
    return table


def _cells(claim: ClaimRow, analyses: Analyses, *, wide: bool, verbose: bool) -> list[Text]:
    label = phrases.label(claim).replace(", as expected", ",\n  as expected")
    refuted, total = phrases.caught(claim)
    missed = claim.state == "DECIDED" and refuted < total
    finding = Text(figures.finding(claim.head))
    if verbose and claim.state == "DECIDED":
        effort = f"{phrases.rounds(claim.looks)}, {figures.number(claim.replicates)} replicates"
        usual = f"{phrases.USUAL}: {analyses.headline(claim)}"
        finding.append(f"\n{effort}\n{usual}", style="dim")
    return [
        Text(label, style=STYLES[phrases.state(claim)]),
        Text(f"{claim.id}\n{phrases.PILOT}" if claim.from_pilot else claim.id),
        finding,
        *([Text(figures.region(claim.head)), Text(phrases.resolution(claim))] if wide else ()),
        *(() if wide else [Text(phrases.noticed(claim).rpartition(" ")[2])]),
        Text(phrases.controls(claim), style="bold red" if missed else ""),
        *([Text(f"{claim.seconds:.0f} s")] if wide else ()),
    ]


def _fit(text: Text, unicode: bool) -> Text:
    """Escape characters that control the terminal; without `unicode`, write ASCII."""
    if clean(text.plain) != text.plain:
        text = Text(clean(text.plain), style=text.style)
    if unicode:
        return text
    plain = text.plain.translate(PLAIN).encode("ascii", "replace").decode("ascii")
    return Text(plain, style=text.style)
