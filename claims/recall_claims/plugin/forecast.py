"""How long claims will take on this machine: foretold, told when a run begins and as it goes on."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from recall_claims.declare.claim import Claim
from recall_claims.evidence.cost import Costs
from recall_claims.evidence.run import Settings
from recall_claims.evidence.simulate import find, versions
from recall_claims.plugin.baseline import Baseline, drawn
from recall_reports import phrases

if TYPE_CHECKING:
    from recall_claims.plugin.session import ClaimSession

ENOUGH = 15.0
"""Expected seconds of finished blocks after which a run is compared with what was expected."""
NOTED = 1.25
"""Factor from which the comparison is worth a line."""


class Forecast:
    """What claims will take in a tier; the baseline says how many replicates decided each."""

    def __init__(self, costs: Costs, settings: Settings, baseline: Baseline) -> None:
        self.costs, self.settings, self.baseline = costs, settings, baseline

    def seconds(self, claim: Claim, blocks: Mapping[str, int]) -> float | None:
        """Seconds of one core for so many blocks of each cell; None if nothing is known."""
        size = claim.block_size(self.settings.tier)
        return self.costs.total(claim.id, {cell: size * count for cell, count in blocks.items()})

    def blocks(self, claim: Claim) -> dict[str, int]:
        """Blocks of each cell that are expected until the verdict.

        As many replicates as the cell had in the baseline's verdict, in whichever tier, or as its
        cells had on the average; all that the looks allow, if the baseline has no verdict.
        """
        tier = self.settings.tier
        size, steps = claim.block_size(tier), claim.steps(tier)
        earlier = self.baseline.decided.get(claim.id)
        if earlier is None:
            return self.most(claim)
        known = drawn(earlier)
        usual = fmean(known.values())
        wanted = {cell.id: known.get(cell.id, usual) for cell in claim.cells[tier]}
        return {
            cell: next((n for n in steps if n * size >= count), steps[-1])
            for cell, count in wanted.items()
        }

    def whole(self, claim_id: str) -> float | None:
        """Seconds of one core for what the baseline's verdict in this tier took, if it has one."""
        earlier = self.baseline.records.get(claim_id)
        if earlier is None:
            return None
        return self.costs.total(claim_id, drawn(earlier)) if earlier.seconds else 0.0

    def ahead(self, claim_id: str) -> float | None:
        """The same without the blocks that the ledger has under the baseline's registration.

        Nothing is predicted for it: a declaration or code that changed since is not seen.
        """
        whole, earlier = self.whole(claim_id), self.baseline.records.get(claim_id)
        if whole is None or earlier is None or not earlier.blocks.total:
            return whole
        there = sum(self.at_hand(claim_id, earlier.registration or "").values())
        return whole * max(0.0, 1 - there / earlier.blocks.total)

    def at_hand(self, claim_id: str, registration: str, code: str | None = None) -> dict[str, int]:
        """Blocks of each cell that the ledger has for this run."""
        ledger, seed = self.costs.ledger(), str(self.settings.seed)
        if ledger is None:
            return {}
        sql = (
            "SELECT cell, count(*) FROM blocks WHERE claim = ? AND registration = ? AND seed = ? "
            "AND device = ? AND versions = ? AND code = coalesce(?, code) GROUP BY cell"
        )
        values = (claim_id, registration, seed, self.costs.device, versions(), code)
        return dict(ledger.ask(sql, values))

    def left(self, claim: Claim, registration: str, blocks: Mapping[str, int]) -> dict[str, int]:
        """Those of the blocks that the ledger lacks."""
        there = self.at_hand(claim.id, registration, find(claim.module, claim.id)[1])
        return {cell: max(0, count - there.get(cell, 0)) for cell, count in blocks.items()}

    def most(self, claim: Claim) -> dict[str, int]:
        """Blocks of each cell if all looks are taken."""
        tier = self.settings.tier
        return {cell.id: claim.steps(tier)[-1] for cell in claim.cells[tier]}

    def about(self, claim: Claim, *, grid: bool = True) -> str:
        """What a claim takes, to one digit: more is not known, and many claims share the words.

        Without its `grid`, which may take time to work out, what the baseline's verdict took.
        """
        try:
            seconds = self.seconds(claim, self.blocks(claim)) if grid else self.whole(claim.id)
        except Exception:  # of a formula: told when the claim runs
            seconds = None
        if seconds is None:
            return "an unknown time"
        if seconds < 60:
            return "less than a minute of one core"
        how = "more than" if self.costs.bounded(claim.id) else "about"
        unit, length = ("min", 60) if seconds < 3600 else ("h", 3600)
        return f"{how} {float(f'{seconds / length:.1g}'):g} {unit} of one core"


def folded(text: str, width: int) -> list[str]:
    """The text in lines of at most this width, but for words that are longer."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def write(reporter: Any, text: str, **style: bool) -> None:
    """Have pytest's reporter write a text, folded to the terminal's width."""
    for line in folded(text, reporter._tw.fullwidth):
        reporter.write_line(line, **style)


class Outlook:
    """Speaks in the process that has the terminal; the work of the claims may be elsewhere."""

    def __init__(self, session: ClaimSession, config: pytest.Config) -> None:
        self._session, self._config = session, config
        self._compared = self._begun = False

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        """The line when this process has collected what it will run."""
        claims: list[Claim] = [item.claim for item in items if hasattr(item, "claim")]
        line = self._begin([claim.id for claim in claims])
        width = self._config.get_terminal_writer().fullwidth
        return folded(line, width) if line and self._config.get_verbosity() >= 0 else []

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """The line when pytest-xdist's first worker has collected what all of them will run."""
        line = self._begin([name.rpartition("::")[2] for name in ids])
        if line:
            self._write(line)

    def pytest_runtest_logreport(self) -> None:
        """Compare the blocks that have run with what was expected of them, once."""
        costs, left = self._session.costs, self._session.seconds_left()
        if self._compared or left is None or costs.measured < ENOUGH:
            return
        self._compared = True
        factor = costs.factor
        if left * self._session.workers > ENOUGH * factor and not 1 / NOTED < factor < NOTED:
            self._write(
                f"the blocks so far took {factor:.2g} times as long as expected: about "
                f"{phrases.seconds(left)} left"
            )

    def _begin(self, names: Iterable[str]) -> str | None:
        if self._begun or self._config.option.collectonly or self._session.dry_run:
            return None
        self._begun = True
        forecast, names = self._session.forecast, list(names)
        self._session.costs.compare(names)
        found = {name: forecast.ahead(name) for name in names}
        expected = {name: left for name, left in found.items() if left is not None}
        if not expected:
            return None
        self._session.costs.expect(expected)
        left, workers = sum(expected.values()), self._session.workers
        unknown, pace = len(found) - len(expected), self._session.costs.machine
        line = f"simulation is expected to take about {phrases.seconds(left / workers)} here"
        if workers > 1:
            line += f", {phrases.seconds(left)} of one core"
        if unknown:
            line += f", plus {unknown} of {len(found)} claims whose time is unknown"
        by_ledger = "" if pace is None else f", 1 s there being {pace:.2g} s here by the ledger"
        return f"{line} (by {forecast.baseline.path.name}{by_ledger})"

    def _write(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and reporter.verbosity >= 0:
            reporter.ensure_newline()
            write(reporter, line)


class ProgressLine:
    """One live line: claims done of all, the seconds left, and the block that has come in last."""

    def __init__(self, console: Console, claims: int, left: Callable[[], float | None]) -> None:
        self._left = left
        self._progress = Progress(
            BarColumn(bar_width=10),
            TextColumn(f"{{task.completed:.0f}} of {claims} claims, left {{task.fields[left]}}"),
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("", total=claims, left="")

    def __call__(self, claim: str, look: int, looks: int, done: int, wanted: int) -> None:
        """Show that `done` of the look's `wanted` blocks are there."""
        text = f"{claim}, look {look} of {looks}, {done}/{wanted} blocks"
        seconds = self._left()
        left = "-:--:--" if seconds is None else str(timedelta(seconds=round(seconds)))
        self._progress.update(self._task, description=text, left=left)
        self._progress.start()

    def finish(self) -> None:
        """Count a finished claim, and take the line away, so that pytest can print."""
        self._progress.stop()
        self._progress.advance(self._task)

    def close(self) -> None:
        """The run is over."""
        self._progress.stop()
        self._progress.console.file.close()
