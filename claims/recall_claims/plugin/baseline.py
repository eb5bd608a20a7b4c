"""An earlier report: the cost of its claims, and the number of attempts that it counts for each."""

from pathlib import Path

from recall_claims.evidence.cost import Earlier
from recall_claims.model.cell import Cell
from recall_reports.record import ClaimRow
from recall_reports.record.errors import ReportError
from recall_reports.record.files import load


def drawn(entry: ClaimRow) -> dict[str, int]:
    """Replicates of each cell of a record, by the cell's id."""
    return {Cell(**cell.params).id: cell.replicates for cell in entry.cells}


class Baseline:
    """An earlier report, empty if there is no file.

    Attributes:
        commit: that it was made at; None if nothing says so.
        decided: the decided records by claim, of any tier.
        records: the same, if they are of the tier of the run.
        took: what its claims have taken.

    Args:
        path: its file.
        tier: of the run that asks.
        required: whether to refuse a file that is missing or cannot be read. Otherwise it counts
            as one that is not there.

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
