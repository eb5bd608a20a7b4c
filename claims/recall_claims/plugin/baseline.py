"""An earlier report, and the records that a run may take from it.

A claim's record is taken over where a run would give the same verdict: the claim has the same
registration, seed and alpha, the device is of the same kind, the libraries have the same versions,
and nothing that the claim depends on differs from the revision that --changed-since names, nor from
the commit at which the baseline was recorded. Any other claim runs. A baseline is a file that
anybody may have written, so its commit is a hash of this branch's history, or the baseline is
refused.
"""

import math
import platform
from functools import cached_property
from itertools import starmap
from pathlib import Path

from msgspec.structs import replace

from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import Claim
from recall_claims.declare.papers import papers
from recall_claims.declare.registration import registration
from recall_claims.evidence.cost import Spent, Total
from recall_claims.evidence.run import Settings
from recall_claims.loaded import installed
from recall_claims.plugin.changes import Changes, ancestor
from recall_reports.errors import ReportError
from recall_reports.files import load
from recall_reports.record import Claim as ClaimRecord
from recall_reports.record import Kept, Record

DEFAULT = "reports/baseline.json"
LIBRARIES = ("numpy", "scipy", "torch")


def file(named: str | None, root: Path) -> Path:
    """The file of the baseline: the one that was named, or the default of the repository at `root`.

    Raises:
        ValueError: the one that was named is not there. The default need not be.
    """
    path = root / (named or DEFAULT)
    if named is not None and not path.is_file():
        raise ValueError(
            f"--baseline {named}: no such file; name the report.json of an earlier run, or leave "
            f"the option out for {DEFAULT}"
        )
    return path


def drawn(entry: ClaimRecord) -> dict[str, int]:
    """Replicates of each cell of a record, by the cell's id."""
    return {Cell(**cell.params).id: cell.replicates for cell in entry.cells}


class Baseline:
    """An earlier report, as far as it is of the tier that this run will be.

    Args:
        path: its file; one that is not there has no records.
        changes: what changed since the revision that --changed-since names.
    """

    def __init__(self, path: Path, settings: Settings, changes: Changes | None, root: Path) -> None:
        self.path, self.settings, self.changes, self.root = path, settings, changes, root
        self._inherited: dict[str, ClaimRecord | None] = {}
        self._touched: dict[tuple[str, Path], bool] = {}

    @cached_property
    def _report(self) -> Record | None:
        if not self.path.exists():
            return None
        try:
            return load(self.path)
        except ReportError as error:
            raise ValueError(f"--baseline: {error}") from error

    def require(self) -> None:
        """Refuse a file that cannot be read, or is of nobody knows what code.

        Raises:
            ValueError: it is one.
        """
        self._report, self.since  # noqa: B018  (reading them refuses)

    @cached_property
    def records(self) -> dict[str, ClaimRecord]:
        """The decided records of the run's tier by claim; none of a file that cannot be read."""
        tier = self._report.suite.tier if self.decided and self._report else None
        return self.decided if tier == self.settings.tier else {}

    @cached_property
    def decided(self) -> dict[str, ClaimRecord]:
        """The decided records by claim, of whichever tier; none of a file that cannot be read."""
        try:
            entries = self._report.claims if self._report else []
        except ValueError:
            return {}
        return {entry.id: entry for entry in entries if entry.state == "DECIDED"}

    @cached_property
    def totals(self) -> dict[str, Total]:
        """What its claims have taken."""
        return {
            name: Total(entry.seconds, tuple(starmap(Spent, drawn(entry).items())), entry.looks)
            for name, entry in self.decided.items()
        }

    @cached_property
    def since(self) -> Changes | None:
        """What changed since the baseline was recorded; None without one to inherit from.

        Raises:
            ValueError: nobody can know, because it was recorded from uncommitted changes, outside a
                repository, or at a commit that is not in the history of the one checked out.
        """
        if self.changes is None or self._report is None:
            return None
        recorded = self._report.suite.commit
        remedy = (
            "record one from a clean checkout (`pytest claims/`, and copy its report.json to "
            f"{self.path.name}), or run all claims, without --changed-since"
        )
        if recorded is None or recorded.endswith("+"):
            how = "at no commit" if recorded is None else f"with uncommitted changes ({recorded!r})"
            raise ValueError(
                f"--changed-since: {self.path} was recorded {how}, so nobody knows for which code "
                f"it holds; {remedy}"
            )
        try:
            return Changes.since(ancestor(recorded, self.root), self.root)
        except ValueError as error:
            raise ValueError(
                f"--changed-since: {self.path} was recorded at commit {recorded!r}, {error}; "
                f"{remedy}"
            ) from error

    def untouched(self, claim: Claim) -> ClaimRecord | None:
        """The earlier record, if nothing that the claim depends on differs; predicts nothing."""
        if self.changes is None or self.since is None or not self._same_machinery:
            return None
        key = claim.module, papers()[claim.source.paper].file
        if key not in self._touched:
            both = (self.changes, self.since)
            self._touched[key] = any(changes.touched(*key) for changes in both)
        return None if self._touched[key] else self.records.get(claim.id)

    def inherited_record(self, claim: Claim) -> ClaimRecord | None:
        """The record of a claim that need not run, or None; worked out once."""
        if claim.id not in self._inherited:
            self._inherited[claim.id] = self._record_of(claim)
        return self._inherited[claim.id]

    def _record_of(self, claim: Claim) -> ClaimRecord | None:
        earlier, settings = self.untouched(claim), self.settings
        if self.changes is None or earlier is None:
            return None
        registered = registration(claim, settings.tier)
        if (earlier.seed, earlier.registration) != (settings.seed, registered):
            return None
        if not math.isclose(earlier.alpha or 0.0, settings.alpha_of_look(claim), rel_tol=1e-9):
            return None
        kept = Kept(file=self.path.name, revision=self.changes.revision)
        blocks = replace(earlier.blocks, kept=kept)
        return replace(earlier, blocks=blocks, statement=claim.statement)  # which may be reworded

    @cached_property
    def _same_machinery(self) -> bool:
        """Whether the baseline comes from a device of this kind, and from these libraries."""
        assert self._report is not None
        suite = self._report.suite
        here = {"python": platform.python_version(), **{n: installed(n) for n in LIBRARIES}}
        same_device = suite.device.partition(":")[0] == self.settings.device.partition(":")[0]
        return same_device and here.items() <= suite.versions.items()
