"""The live line of a run on a terminal."""

import math
from collections.abc import Mapping, Sequence
from statistics import mean

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column


class ProgressLine:
    """One live line: claims done of all, the time left; the claim at work, its look and blocks.

    A claim counts as its seconds in an earlier run, or as the mean of those known. Evidence from
    the ledger says nothing about speed: it is taken off what is left to do.

    Args:
        console: a terminal.
        claims: ids of the claims that will be run.
        earlier: seconds of simulation in an earlier run, by id; it may know more or fewer.
    """

    def __init__(
        self, console: Console, claims: Sequence[str], earlier: Mapping[str, float]
    ) -> None:
        usual = mean([earlier[claim] for claim in claims if claim in earlier] or [1.0])
        self._seconds = {claim: earlier.get(claim, usual) for claim in claims}
        self._progress = Progress(
            BarColumn(bar_width=10),
            TextColumn(f"{{task.fields[done]}} of {len(claims)} claims, left"),
            TimeRemainingColumn(),
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            console=console,
            transient=True,
            speed_estimate_period=math.inf,
        )
        self._progress.add_task("", total=sum(self._seconds.values()), done=0)
        self._advance(0.0)  # the pace is measured from here

    def __call__(self, claim: str, look: int, looks: int, done: int, wanted: int) -> None:
        """Show that `done` of the look's `wanted` blocks are there."""
        text = f"{claim}, look {look} of {looks}, {done}/{wanted} blocks"
        self._progress.update(self._progress.task_ids[0], description=text)
        self._progress.start()

    def finish(self, claim: str, simulated: float) -> None:
        """Take note of a finished claim, and the line away, so that pytest can print.

        Args:
            claim: its id.
            simulated: share of its blocks that this run simulated, from 0 to 1.
        """
        self._progress.stop()
        [task] = self._progress.tasks
        seconds = self._seconds[claim]
        # Not by `update`, which would forget the pace.
        task.total = (task.total or 0.0) - (1 - simulated) * seconds
        task.fields["done"] += 1
        self._advance(simulated * seconds)

    def close(self) -> None:
        """The run is over."""
        self._progress.stop()
        self._progress.console.file.close()

    def _advance(self, seconds: float) -> None:
        self._progress.advance(self._progress.task_ids[0], seconds)
