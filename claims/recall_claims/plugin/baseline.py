"""An earlier report: what its claims took, and how many evidence sets it counts for each."""

from functools import cached_property
from pathlib import Path

from recall_claims.evidence.cost import Earlier
from recall_claims.model.cell import Cell
from recall_reports.record import ClaimRow, Record
from recall_reports.record.errors import ReportError
from recall_reports.record.files import load


def drawn(entry: ClaimRow) -> dict[str, int]:
    """Replicates of each cell of a record, by the cell's id."""
    return {Cell(**cell.params).id: cell.replicates for cell in entry.cells}


class Baseline:
    """An earlier report; nothing is known where there is no file.

    Args:
        path: its file.
        tier: of the run that asks.
        required: whether to refuse a file that is missing or cannot be read. Otherwise it counts
            as one that is not there.

    Raises:
        ValueError: the file is refused.
    """

    def __init__(self, path: Path, tier: str, *, required: bool) -> None:
        self.path, self._tier = path, tier
        if required:
            try:
                self._report = load(path)
            except ReportError as error:
                raise ValueError(f"--baseline: {error}") from error

    @cached_property
    def _report(self) -> Record | None:
        try:
            return load(self.path)
        except ReportError:
            return None

    @cached_property
    def decided(self) -> dict[str, ClaimRow]:
        """The decided records by claim, of whichever tier."""
        entries = self._report.claims if self._report else []
        return {entry.id: entry for entry in entries if entry.state == "DECIDED"}

    @cached_property
    def records(self) -> dict[str, ClaimRow]:
        """The decided records by claim, if they are of the tier of the run."""
        tier = self._report.suite.tier if self._report else None
        return self.decided if tier == self._tier else {}

    @cached_property
    def took(self) -> dict[str, Earlier]:
        """What its claims have taken."""
        return {
            name: Earlier(entry.seconds / entry.replicates, entry.looks)
            for name, entry in self.decided.items()
            if entry.replicates
        }
