"""What a run would do, without simulating anything: `pytest claims/ --dry-run`."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich import box
from rich.console import Console
from rich.table import Table

from recall_claims.declare.claim import Claim
from recall_claims.errors import ClaimError, SimulationError
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Prepared, Running, Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.judge.design import factor_to_decide
from recall_claims.judge.region import Component, Interval, Region, Verdict
from recall_claims.plugin.forecast import Forecast
from recall_reports import phrases, record

HEADERS = ("cells", "replicates", "needed", "looks", "seconds", "left", "at most")
WIDE = 112
"""Columns from which the resolution has one of its own; else it stands below the claim's name."""

PILOT = 128
"""Replicates of a pilot, at least: of fewer, t intervals are far wider than their number says."""


@dataclass(frozen=True)
class Plan:
    """What one claim would take, in seconds of one core here; None if nobody knows.

    Attributes:
        seconds: until its verdict.
        left: of these, what the ledger does not have.
        most: if all looks are taken, less what the ledger has.
    """

    claim: Claim
    seconds: float | None
    left: float | None
    most: float | None


def _plan(one: Claim, forecast: Forecast) -> Plan:
    """What a claim would take.

    Raises:
        ClaimError: it is written wrongly.
    """
    ready = Prepared.of(one, forecast.settings.tier, checked=True)
    claim, named = ready.claim, ready.registration
    blocks, most = forecast.blocks(claim), forecast.most(claim)
    ways = (blocks, forecast.left(claim, named, blocks), forecast.left(claim, named, most))
    entry = Plan(claim, *(forecast.seconds(claim, way) for way in ways))
    took = _took(ready, forecast) if entry.left else None
    return entry if took is None else replace(entry, seconds=took, left=0.0)


def _took(ready: Prepared, forecast: Forecast) -> float | None:
    """Seconds that the verdict took, if the ledger has all blocks that it needs."""
    ledger, settings = forecast.costs.ledger(), forecast.settings
    if ledger is None or not forecast.at_hand(ready.claim.id, ready.registration):
        return None
    try:
        outcome = Running(ready, settings, ledger).outcome()
    except SimulationError:  # blocks of the first look are missing
        return None
    ended = outcome.looks == len(ready.claim.steps(settings.tier))
    decided = outcome.decision.verdict is not Verdict.INCONCLUSIVE
    return outcome.seconds if ended or decided else None


def print_plan(
    claims: Sequence[Claim], forecast: Forecast, console: Console, *, pilot: bool = False
) -> None:
    """Print a table of those claims with cells in the tier, and some sentences about the whole.

    Args:
        forecast: says what the claims take.
        pilot: whether to simulate the first look of claims that have no earlier record.

    Raises:
        ClaimError: a claim is written wrongly, or its pilot cannot be simulated.
    """
    settings, baseline = forecast.settings, forecast.baseline.records
    forecast.costs.compare([claim.id for claim in claims])
    wide = console.width >= WIDE
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("claim", overflow="fold")
    for header in (*HEADERS, "resolution") if wide else HEADERS:
        table.add_column(header, justify="right", no_wrap=True)
    ready = [claim for claim in claims if not claim.why_not_run(settings.tier, settings.device)]
    plans = [_plan(claim, forecast) for claim in ready]
    for entry in plans:
        claim = entry.claim
        first, last = claim.replicates[settings.tier]
        earlier = baseline.get(claim.id)
        resolved = _resolution(earlier)
        table.add_row(
            claim.id if wide else f"{claim.id}\n  {resolved}",
            str(len(claim.cells[settings.tier])),
            f"{first}-{last}" if first < last else str(first),
            _needed(earlier) if earlier or not pilot else _needed_by_pilot(claim, settings),
            str(len(claim.steps(settings.tier))),
            *("–" if s is None else f"{s:.0f}" for s in (entry.seconds, entry.left, entry.most)),
            *[resolved] * wide,
        )
    if plans:
        console.print(table)
    console.print(" ".join(_sentences(plans, len(claims), forecast)), highlight=False)


def _sentences(plans: Sequence[Plan], selected: int, forecast: Forecast) -> Iterator[str]:
    settings, name = forecast.settings, forecast.baseline.path.name
    yield (
        f"{len(plans)} of {phrases.claims(selected)} would run in tier {settings.tier} on "
        f"{settings.device}."
    )
    if not plans:
        return
    yield (
        "`replicates`: of the largest cell, at the first and at the last look. `needed`: so many "
        f"decide the claim if the estimates of {name}, or of a pilot, are right. `resolution`: the "
        f"smallest error that {name} would have noticed."
    )
    known = [entry for entry in plans if entry.seconds is not None]
    total, left, most = (
        phrases.seconds(math.fsum(getattr(entry, what) or 0.0 for entry in known))
        for what in ("seconds", "left", "most")
    )
    yield (
        f"`seconds`: expected on one core of this machine, {total} in all. `left`: what the ledger "
        f"does not have, {left} in all. `at most`: if every look is taken, {most} in all."
    )
    if len(known) < len(plans):
        yield f"The time of {phrases.claims(len(plans) - len(known))} is unknown."
    longer = [entry.claim.id for entry in plans if forecast.costs.bounded(entry.claim.id)]
    if longer:
        yield f"Blocks of {', '.join(longer)} were given up at a time limit: they may take longer."
    pace = forecast.costs.machine
    if pace is not None:
        yield f"A second of {name} is {pace:.2g} s here, to judge by the claims in the ledger."
    yield "The time of a cell that was never run is extrapolated from the claim's other cells."


def _needed(earlier: record.ClaimRow | None) -> str:
    """Replicates of a cell that decide the claim, if the baseline's estimates are right.

    Cells that were decided early have fewer: the number is that of the largest cell.
    """
    if earlier is None:
        return "–"
    parts = [_component(entry, earlier.rule) for entry in earlier.components]
    return _times(parts, max(cell.replicates for cell in earlier.cells))


def _needed_by_pilot(claim: Claim, settings: Settings) -> str:
    """The same by a pilot, on draws that no verdict ever reads."""
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
    return _times(found.decision.components, count)


def _times(pilot: Sequence[Component], replicates: int) -> str:
    try:
        return f"{max(2, math.ceil(factor_to_decide(pilot) * replicates))}"
    except ClaimError:
        return "–"


def _component(entry: record.ComponentRow, rule: record.RuleRow) -> Component:
    """A component as it was before it became a record, where an open end is null."""
    estimate = math.nan if entry.estimate is None else entry.estimate
    interval, region = Interval(*entry.interval.ends), Region(*entry.region.ends)
    return Component(entry.name, estimate, interval, region, rule.scale)


def _resolution(earlier: record.ClaimRow | None) -> str:
    if earlier is None or earlier.resolution is None:
        return "–"
    return f"{phrases.number(earlier.resolution, 2)} {earlier.rule.scale}"
