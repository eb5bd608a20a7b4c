"""An earlier report, the expected cost of claims on this machine, the plan that a dry run prints,
and the live line of a run."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rich import box
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from recall_claims.declare.claim import Claim
from recall_claims.evidence.cost import Costs, Earlier
from recall_claims.evidence.run import Prepared, Running, Settings
from recall_claims.evidence.simulate import find, versions
from recall_claims.model.cell import Cell
from recall_reports import phrases
from recall_reports.record import ClaimRow
from recall_reports.record.files import ReportError, load

MINUTE = 60.0
"""Seconds between two lines about the progress, without a terminal."""


def drawn(entry: ClaimRow) -> dict[str, int]:
    """Return the number of replicates of each cell of a record, by the cell's id."""
    return {Cell(**cell.params).id: cell.replicates for cell in entry.cells}


class Baseline:
    """An earlier report, empty if there is no file.

    Attributes:
        commit: the report's commit; None if unknown.
        decided: records of decided claims, by id, of any tier.
        records: equal to `decided` if the report has the run's tier, else empty.
        took: cost of each decided claim, by id.

    Args:
        path: the report's file.
        tier: tier of the present run.
        required: whether to refuse a file that is missing or cannot be read. Otherwise such a file
            counts as missing.

    Raises:
        ValueError: the file is refused.
    """

    def __init__(self, path: Path, tier: str, *, required: bool) -> None:
        try:
            report = load(path)
        except ReportError as error:
            if required:
                raise ValueError(f"--baseline: {error}") from error
            report = None
        entries = report.claims if report else []
        self.commit = report.suite.commit if report else None
        self.decided = {entry.id: entry for entry in entries if entry.state == "DECIDED"}
        self.records = self.decided if report and report.suite.tier == tier else {}
        self.took = {
            name: Earlier(entry.seconds / entry.replicates, entry.looks)
            for name, entry in self.decided.items()
            if entry.replicates
        }


class Forecast:
    """Expected cost of claims in a tier, from the replicates that decided them in the baseline."""

    def __init__(self, costs: Costs, settings: Settings, baseline: Baseline) -> None:
        self.costs, self.settings, self.baseline = costs, settings, baseline

    def blocks(self, claim: Claim) -> dict[str, int]:
        """Estimate the number of blocks of each cell until the verdict.

        A cell gets as many replicates as it had in the baseline, in any tier; a new cell gets the
        average over the claim's cells. Without a verdict in the baseline, cells get the most that
        the looks allow.
        """
        tier, earlier = self.settings.tier, self.baseline.decided.get(claim.id)
        size, steps = claim.block_size(tier), claim.steps(tier)
        known = {} if earlier is None else drawn(earlier)
        usual = fmean(known.values()) if known else math.inf
        wanted = {cell.id: known.get(cell.id, usual) for cell in claim.cells[tier]}
        return {
            cell: next((n for n in (0, *steps) if n * size >= count), steps[-1])
            for cell, count in wanted.items()
        }

    def seconds(self, claim: Claim, blocks: Mapping[str, int]) -> float | None:
        """Estimate the seconds of one core for these blocks; None if a cell's cost is unknown."""
        size = claim.block_size(self.settings.tier)
        return self._total(claim.id, {cell: size * count for cell, count in blocks.items()})

    def at_hand(self, claim: Claim, registration: str) -> dict[str, int]:
        """Count the blocks in the ledger that this run can use, by cell."""
        ledger, seed = self.costs.ledger(), self.settings.seed
        if ledger is None:
            return {}
        code = find(claim.module, claim.id)[1]
        return ledger.counts(claim.id, registration, seed, self.costs.device, versions(), code)

    def ahead(self, claims: Iterable[Claim]) -> dict[str, float]:
        """Estimate the seconds of one core for each claim, as if unchanged since the baseline.

        Claims of unknown cost are left out. The ledger's blocks are looked up under the baseline's
        registration, so no prediction is made.
        """
        found = {}
        for claim in claims:
            name = claim.id
            earlier = self.baseline.records.get(name)
            seconds = None if earlier is None else self._total(name, drawn(earlier))
            if earlier is not None and seconds is not None:
                there = sum(self.at_hand(claim, earlier.registration or "").values())
                found[name] = seconds * max(0.0, 1 - there / max(1, earlier.blocks.total))
        return found

    def _total(self, claim: str, replicates: Mapping[str, int]) -> float | None:
        each = [self.costs.seconds(claim, cell, count) for cell, count in replicates.items()]
        known = [seconds for seconds in each if seconds is not None]
        return math.fsum(known) if len(known) == len(each) else None


def print_plan(claims: Sequence[Claim], forecast: Forecast, console: Console) -> None:
    """Print a table of the claims that these settings let run, and their total cost.

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
    """Count a claim's blocks in the ledger and the blocks to draw; estimate seconds to draw them.

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


def folded(text: str, width: int) -> list[str]:
    """Break a text into lines of at most this width, except for longer words."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def write(reporter: Any, text: str, **style: bool) -> None:
    """Print a text by pytest's reporter, folded to the terminal's width."""
    for line in folded(text, reporter._tw.fullwidth):
        reporter.write_line(line, **style)


class ProgressLine:
    """Progress of a run: claims decided, claims that fail, and the time left.

    A terminal shows one live line, with the last finished block. Elsewhere, such as in a log, a
    line is printed every minute.

    Args:
        claims: number of claims.
        ahead: expected seconds of one core, by claim, if known.
        workers: number of workers that share these seconds.
        names: whether this line, not pytest, prints claims with their verdicts as they are found.
    """

    def __init__(
        self,
        console: Console,
        claims: int,
        ahead: Mapping[str, float],
        workers: int,
        *,
        names: bool = False,
    ) -> None:
        self.names = names
        self._ahead, self._workers, self._known = dict(ahead), workers, bool(ahead)
        self._claims, self._done, self._failing = claims, set[str](), set[str]()
        self._console, self._next = console, time.monotonic() + MINUTE
        self._line = Status("", console=console)

    def __call__(self, claim: str, look: int, done: int, wanted: int) -> None:
        """Show that `done` blocks are finished, of `wanted` blocks that a look needs."""
        if self._console.is_terminal:
            self._line.update(f"{self.sentence} {claim}, round {look}, {done}/{wanted} blocks")
            self._line.start()
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + MINUTE
            print(f"\n{self.sentence}", file=self._console.file, flush=True)

    @property
    def sentence(self) -> str:
        """Put the run's progress in a sentence."""
        fail = f"{len(self._failing) or 'none'} fail{'s' * (len(self._failing) < 2)}"
        told = f"{len(self._done)} of {self._claims} claims decided, {fail}"
        if not self._known:
            return told
        left = sum(self._ahead.values()) / self._workers
        return f"{told}; about {f'{left / 60:.0f} min' if left > 90 else f'{left:.0f} s'} left"

    def decided(self, claim: str, told: str = "", *, passes: bool) -> None:
        """Count a decided claim; print `told`, its verdict, if the run lists claims."""
        if self.names:
            self._console.print(Text(told), soft_wrap=True)
        self._count(claim)
        if not passes:
            self._failing.add(claim)

    def finish(self, claim: str) -> None:
        """Remove the line, so that pytest can print the outcome of a claim."""
        self._count(claim)
        self._line.stop()

    def _count(self, claim: str) -> None:
        self._done.add(claim)
        self._ahead.pop(claim, None)

    def close(self) -> None:
        """Remove the line at the end of the run."""
        self._line.stop()
        self._console.file.close()
