"""Print the plan of a run, without simulating anything: `pytest claims/ --dry-run`."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich import box
from rich.console import Console
from rich.table import Table

from recall_claims.declare.claim import Claim
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Prepared, Running, Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.judge.design import factor_to_decide, if_right
from recall_claims.model.errors import ClaimError, SimulationError
from recall_claims.model.region import Component, Interval, Region
from recall_claims.plugin.forecast import Forecast
from recall_reports import phrases

HEADERS = ("cells", "replicates", "in ledger", "to draw", "seconds", "needed")
SLIM = ("replicates", "to draw", "seconds", "needed")
"""Columns of a pilot's table on terminals narrower than WIDE."""
WIDE = 100
PILOT = 128
"""Least number of replicates of a pilot; with fewer, t intervals are too wide to extrapolate."""


def print_plan(
    claims: Sequence[Claim], forecast: Forecast, console: Console, *, pilot: bool = False
) -> None:
    """Print a table of the claims that have cells in the tier, and the cost of all together.

    Args:
        forecast: expected cost of the claims.
        pilot: whether to print how many replicates decide each claim, by the baseline or, for
            claims that it lacks, by simulating a first look.

    Raises:
        ClaimError: a claim is written wrongly, or its pilot cannot be simulated.
    """
    settings = forecast.settings
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("claim", overflow="fold")
    headers = HEADERS[:-1] if not pilot else HEADERS if console.width >= WIDE else SLIM
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True)
    ready = [claim for claim in claims if not claim.why_not_run(settings.tier, settings.device)]
    needs = [[_needed(claim, forecast)] if pilot else [] for claim in ready]  # also learns costs
    takes = [_expected(claim, forecast) for claim in ready]
    for claim, need, (there, lacks, seconds) in zip(ready, needs, takes, strict=True):
        first, last = claim.replicates[settings.tier]
        told = (
            str(len(claim.cells[settings.tier])),
            f"{first}-{last}" if first < last else str(first),
            str(there),
            str(lacks),
            "–" if seconds is None else f"{seconds:.0f}",
            *need,
        )
        named = dict(zip(HEADERS, told, strict=False))
        table.add_row(claim.id, *(named[header] for header in headers))
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


def _needed(claim: Claim, forecast: Forecast) -> str:
    """Estimate replicates per cell that decide a claim if its theory is right, and their seconds.

    The number is for the largest cell; cells that are decided early need fewer.
    """
    earlier = forecast.baseline.records.get(claim.id)
    if earlier is None:
        parts, count = _piloted(claim, forecast.settings)
    else:
        parts = [
            Component(  # with infinite ends, which a record holds as null
                entry.name,
                math.nan if entry.estimate is None else entry.estimate,
                Interval(*entry.interval.ends),
                Region(*entry.region.ends),
                earlier.rule.scale,
            )
            for entry in earlier.components
        ]
        count = max(cell.replicates for cell in earlier.cells)
    try:
        factor = factor_to_decide([*map(if_right, parts)])
    except ClaimError:
        return "–"
    needed = max(2, math.ceil(factor * count))
    blocks = math.ceil(needed / claim.block_size(forecast.settings.tier))
    cells = claim.cells[forecast.settings.tier]
    seconds = forecast.seconds(claim, {cell.id: blocks for cell in cells})
    return f"{needed}" if seconds is None else f"{needed} in {phrases.seconds(seconds)}"


def _piloted(claim: Claim, settings: Settings) -> tuple[Sequence[Component], int]:
    """Run a pilot on random numbers that no verdict uses; return components and replicates."""
    tier, block = settings.tier, claim.block_size(settings.tier)
    level = settings.alpha_of_look(claim)
    count = -(-max(PILOT, claim.replicates[tier][0]) // block) * block
    one = replace(claim, replicates={tier: (count, count)}, block={tier: block})
    try:
        with TemporaryDirectory() as folder, Ledger(Path(folder) / "pilot.sqlite") as ledger:
            here = SerialExecutor()
            found = run_claim(one, settings, ledger, here, registered="pilot", alpha=level)
    except SimulationError as error:
        raise ClaimError(str(error)) from error
    return found.decision.components, count
