"""The verdict table at the end of the terminal output."""

from collections.abc import Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from recall_reports import figures, hunted, opening, phrases, summary
from recall_reports.record import ClaimRow, Record
from recall_reports.record.text import clean

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
WIDE = 112  # columns from which region and resolution have room
MANY = 8
"""Claims that were not run are named up to this number, else with -v only."""
PLAIN = str.maketrans(
    dict(zip("✓✕◆◇–…“”", '+x*o-.""', strict=True)) | {"≤": "<=", "≥": ">=", "∞": "inf"}
)


def print_verdicts(record: Record, console: Console, verbosity: int = 0) -> None:
    """Print the verdict table, the failures with their reasons, and the outcome in one sentence.

    On a console of ASCII all of it is ASCII.

    Args:
        record: of a run.
        console: where to print.
        verbosity: below 0 there is no table, and claims that were not run are left out; above 0
            the table has a line more for each claim, on what was spent and what it resolves.
    """
    width, unicode = console.width, not console.options.ascii_only
    parts: list[RenderableType] = []
    claims, exploratory = map(summary.tried, summary.split(record))
    verbose, quiet = verbosity > 0, verbosity < 0
    if claims and not quiet:
        parts += [_table(claims, width=width, unicode=unicode, verbose=verbose), Text()]
    if exploratory and not quiet:
        parts.append(Text("Beyond the theorems: exploratory, never fails a run", style="bold"))
        parts += [_table(exploratory, width=width, unicode=unicode, verbose=verbose), Text()]
    if not quiet and figures.starred(claim.head for claim in (*claims, *exploratory)):
        parts.append(_fit(Text(figures.STAR, style="dim"), unicode))
    for entry in summary.attention(record):
        if quiet and entry[0].state == "NOT RUN":
            continue
        claim = entry[0]
        style = STYLES[phrases.state(claim)]
        names = ", ".join(claim.id for claim in entry)
        if claim.state == "NOT RUN" and len(entry) > MANY and not verbose:
            names = f"{len(entry)} claims"
        head = Text(f"{phrases.label(claim)} {names}: ", style=style)
        parts.append(_fit(head + Text(phrases.reason(claim), style="default"), unicode))
        if claim.outcome == "failed":
            parts.append(_fit(Text(f"  replay: {claim.replay}", style="dim"), unicode))
    for claim in filter(phrases.divided, record.claims):
        parts.append(_fit(Text(f"{claim.id}: {phrases.divided(claim)}", style="dim"), unicode))
    parts += [_fit(Text(line), unicode) for line in hunted.lines(record)]
    budget = record.suite.error_budget
    spent = (
        f"Error budget of this run {figures.number(budget.probability)}, "
        f"{figures.number(budget.allocated, 2)} of it spent."
    )
    if not quiet:
        parts.append(_fit(Text(spent, style="dim"), unicode))
        parts += [_fit(Text(line), unicode) for line in opening.first_lines(record)]
    parts.append(_fit(Text(summary.sentence(record), style="bold"), unicode))
    console.print(Group(*parts))


def _table(claims: Sequence[ClaimRow], *, width: int, unicode: bool, verbose: bool) -> Table:
    wide = width >= WIDE
    rows = [
        [_fit(cell, unicode) for cell in _cells(claim, wide=wide, verbose=verbose)]
        for claim in claims
    ]
    table = Table(
        box=box.SIMPLE_HEAD if unicode else box.ASCII2, padding=0, expand=wide, show_edge=False
    )
    table.add_column("verdict", no_wrap=True)
    if wide:
        for header in ("claim", figures.FINDING, "region", "resolution"):
            table.add_column(header, overflow="fold")
    else:
        name, finding = _shares(rows, width)
        table.add_column("claim", overflow="fold", width=name)
        table.add_column(figures.FINDING, overflow="fold", width=finding)
    table.add_column("caught", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def _shares(rows: list[list[Text]], width: int) -> tuple[int, int]:
    """Widths of the names and of the findings, which fold if both together are too long."""
    longest = [
        max(cell.cell_len for line in column for cell in line.split())
        for column in zip(*rows, strict=True)
    ]
    verdict, name, finding, _, time = longest
    room = max(width - verdict - len("caught") - max(time, len("time")) - 4, 16)
    finding = max(finding, len("estimate"))
    name = min(name, max(room - finding, room // 2))
    return name, min(finding, room - name)


def _cells(claim: ClaimRow, *, wide: bool, verbose: bool) -> list[Text]:
    label = phrases.label(claim).replace(", as expected", ",\n  as expected")
    refuted, total = phrases.caught(claim)
    missed = claim.state == "DECIDED" and refuted < total
    finding = Text(figures.finding(claim.head))
    if verbose and claim.state == "DECIDED":
        effort = f"{phrases.rounds(claim.looks)}, {figures.number(claim.replicates)} replicates"
        finding.append(f"\n{effort}", style="dim")
        if not wide:
            finding.append(f"\n{phrases.resolution(claim)}", style="dim")
    cells = [
        Text(label, style=STYLES[phrases.state(claim)]),
        Text(f"{claim.id}\n{phrases.PILOT}" if claim.from_pilot else claim.id),
        finding,
        Text(figures.region(claim.head)),
        Text(phrases.resolution(claim)),
        Text(phrases.controls(claim), style="bold red" if missed else ""),
        Text(f"{claim.seconds:.0f} s"),
    ]
    return cells if wide else cells[:3] + cells[5:]


def _fit(text: Text, unicode: bool) -> Text:
    """The text without what would steer the terminal; without `unicode` in ASCII."""
    if clean(text.plain) != text.plain:
        text = Text(clean(text.plain), style=text.style)
    if unicode:
        return text
    plain = text.plain.translate(PLAIN).encode("ascii", "replace").decode("ascii")
    return Text(plain, style=text.style)
