"""Print the plan of a run, without simulating anything: `pytest claims/ --dry-run`."""

import math
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from recall_claims.declare.claim import Claim
from recall_claims.evidence.run import Prepared, Running
from recall_claims.plugin.forecast import Forecast
from recall_reports import phrases


def print_plan(claims: Sequence[Claim], forecast: Forecast, console: Console) -> None:
    """Print a table of the claims that can run by the settings, and the cost of all together.

    Raises:
        ClaimError: a claim is written wrongly.
    """
    settings = forecast.settings
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("claim", overflow="fold")
    for header in ("cells", "replicates", "in ledger", "to draw", "seconds"):
        table.add_column(header, justify="right", no_wrap=True)
    ready = [claim for claim in claims if not claim.why_not_run(settings.tier, settings.device)]
    takes = [_expected(claim, forecast) for claim in ready]
    for claim, (there, lacks, seconds) in zip(ready, takes, strict=True):
        first, last = claim.replicates[settings.tier]
        table.add_row(
            claim.id,
            str(len(claim.cells[settings.tier])),
            f"{first}-{last}" if first < last else str(first),
            str(there),
            str(lacks),
            "–" if seconds is None else f"{seconds:.0f}",
        )
    if ready:
        console.print(table)
    known = [seconds for _, _, seconds in takes if seconds is not None]
    unknown = len(ready) - len(known)
    console.print(
        f"{len(ready)} of {phrases.claims(len(claims))} would run in tier {settings.tier} on "
        f"{settings.device}, and take {phrases.seconds(math.fsum(known))} of one core"
        + (f", plus {phrases.claims(unknown)} whose time is unknown." if unknown else "."),
        highlight=False,
    )


def _expected(one: Claim, forecast: Forecast) -> tuple[int, int, float | None]:
    """Return a claim's blocks in the ledger, the blocks to draw, and their seconds.

    Raises:
        ClaimError: the claim is written wrongly.
    """
    ready = Prepared.of(one, forecast.settings.tier, checked=True)
    claim, ledger = ready.claim, forecast.costs.ledger()
    there = forecast.at_hand(claim, ready.registration)
    if there and ledger is not None and not Running(ready, forecast.settings, ledger).round.missing:
        return sum(there.values()), 0, 0.0  # decided with these blocks
    lacks = {cell: max(0, n - there.get(cell, 0)) for cell, n in forecast.blocks(claim).items()}
    return sum(there.values()), sum(lacks.values()), forecast.seconds(claim, lacks)
