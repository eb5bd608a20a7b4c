"""What a run would do, told without simulating: `pytest claims/ --dry-run`."""

import math
from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from recall_claims.declare.check import check
from recall_claims.declare.claim import Claim
from recall_claims.errors import ClaimError
from recall_claims.evidence.run import Settings
from recall_claims.judge.design import factor_to_decide
from recall_claims.judge.region import Component, Interval, Region
from recall_reports import phrases, record


def print_plan(
    claims: Sequence[Claim],
    settings: Settings,
    baseline: Mapping[str, record.Claim],
    console: Console,
) -> None:
    """A table of the claims with cells in the tier, and one sentence about the whole.

    Args:
        claims: those selected.
        settings: tier, seed, device and budget.
        baseline: earlier records of the same tier by claim id; time and resolution are theirs.
        console: where to print.

    Raises:
        ClaimError: a claim is written wrongly.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("claim", overflow="fold")
    for header in ("cells", "replicates", "needed", "looks", "seconds", "resolution"):
        table.add_column(header, justify="right", no_wrap=True)
    ready = [claim for claim in claims if not claim.why_not_run(settings.tier, settings.device)]
    known = 0.0
    for claim in ready:
        check(claim, [settings.tier])
        looks, first = claim.looks[settings.tier], claim.replicates[settings.tier]
        earlier = baseline.get(claim.id)
        known += earlier.seconds if earlier else 0.0
        table.add_row(
            claim.id,
            str(len(claim.cells[settings.tier])),
            f"{first}-{first * 2 ** (looks - 1)}" if looks > 1 else str(first),
            _needed(earlier),
            str(looks),
            f"{earlier.seconds:.0f}" if earlier else "–",
            _resolution(earlier),
        )
    console.print(table)
    unknown = sum(claim.id not in baseline for claim in ready)
    console.print(
        f"{len(ready)} of {len(claims)} claims run in tier {settings.tier} on {settings.device}. "
        "Replicates are of the largest cell, at the first and at the last look; those needed would "
        "give the baseline's estimates intervals that their regions, the resolution wanted, "
        "decide. Seconds of one core and the smallest error that was refuted are the baseline's, "
        f"{phrases.seconds(known)} in all"
        + (f"; it has no record of {unknown} of them." if unknown else "."),
        highlight=False,
    )


def _needed(earlier: record.Claim | None) -> str:
    """Replicates of a cell that decide the claim, if the baseline's estimates are right.

    Cells that were decided early have fewer: the number is that of the largest cell.
    """
    if earlier is None:
        return "–"
    try:
        factor = factor_to_decide([_component(entry, earlier.rule) for entry in earlier.components])
    except ClaimError:
        return "–"
    largest = max(cell.replicates for cell in earlier.cells)
    return f"{max(2, math.ceil(factor * largest))}"


def _component(entry: record.Component, rule: record.Rule) -> Component:
    """A component as it was before it became a record, where an open end is null."""

    def ends(pair: record.Range) -> tuple[float, float]:
        low = -math.inf if pair.low is None else pair.low
        return low, math.inf if pair.high is None else pair.high

    estimate = math.nan if entry.estimate is None else entry.estimate
    interval, region = Interval(*ends(entry.interval)), Region(*ends(entry.region))
    return Component(entry.name, estimate, interval, region, rule.scale)


def _resolution(earlier: record.Claim | None) -> str:
    if earlier is None or earlier.resolution is None:
        return "–"
    return f"{phrases.number(earlier.resolution, 2)} {earlier.rule.scale}"
