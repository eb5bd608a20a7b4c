"""The live line of a run on a terminal."""

from collections.abc import Callable
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column


class ProgressLine:
    """One live line: claims done of all, the time left, and the block that has come in last.

    Args:
        console: a terminal.
        claims: how many will be run.
        left: seconds until the end, or None if nobody knows.
    """

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
