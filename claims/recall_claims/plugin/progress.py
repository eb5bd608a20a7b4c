"""The live line of a run on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.table import Column
from rich.text import Text

from recall_claims.plugin.forecast import Forecast
from recall_reports import phrases


class ProgressLine:
    """One live line: claims done of all, the time left; the claim at work, its look and blocks.

    Args:
        console: a terminal.
        forecast: of the claims that will be run.
        clock: seconds since any fixed time.
    """

    def __init__(
        self, console: Console, forecast: Forecast, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._forecast = forecast
        self._clock = clock
        self._start = clock()
        self._progress = Progress(
            BarColumn(bar_width=20),
            _Standing(self),
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._start

    @property
    def standing(self) -> str:
        """Claims done of all, and the time left: `17 of 167 claims, 4 min 10 s left`."""
        left = self._forecast.left(self.elapsed)
        count = f"{self._forecast.done} of {self._forecast.total} claims"
        return count if left is None else f"{count}, {phrases.seconds(round(left))} left"

    def __call__(self, claim: str, look: int, looks: int, done: int, wanted: int) -> None:
        """Show that `done` of the look's `wanted` blocks are there."""
        if self._task is None:
            self._progress.start()
            self._task = self._progress.add_task("", total=self._forecast.total)
        self._progress.update(
            self._task,
            description=f"{claim}, look {look} of {looks}, {done}/{wanted} blocks",
            completed=self._forecast.done,
        )

    def finish(self, claim: str, seconds: float, simulated: float) -> None:
        """Take note of a finished claim; arguments as of `Forecast.finish`."""
        self._forecast.finish(claim, seconds=seconds, simulated=simulated, elapsed=self.elapsed)

    def clear(self) -> None:
        """Take the line away, so that pytest can print."""
        if self._task is not None:
            self._progress.stop()
            self._progress.remove_task(self._task)
            self._task = None

    def close(self) -> None:
        """The run is over."""
        self.clear()
        self._progress.console.file.close()


class _Standing(ProgressColumn):
    """Counts down between blocks."""

    max_refresh = 0.5

    def __init__(self, line: ProgressLine) -> None:
        super().__init__(Column(no_wrap=True))
        self._line = line

    def render(self, task: Task) -> Text:
        return Text(self._line.standing)
