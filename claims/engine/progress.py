"""The live line of a run on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class ProgressLine:
    """One live line: claim, look, blocks done. Only on a terminal."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None

    def __call__(self, claim: str, look: int, looks: int, done: int, wanted: int) -> None:
        """Show that `done` of the look's `wanted` blocks are there."""
        if self._task is None:
            self._progress.start()
            self._task = self._progress.add_task("", count="")
        self._progress.update(
            self._task,
            description=f"{claim}  look {look} of {looks}",
            completed=done,
            total=wanted,
            count=f"{done}/{wanted} blocks",
        )

    def clear(self) -> None:
        """Take the line away, so that pytest can print."""
        if self._task is not None:
            self._progress.stop()
            self._progress.remove_task(self._task)
            self._task = None
