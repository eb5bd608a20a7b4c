"""The report of a run: gather claims' records as they arrive, and write them at the end."""

import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from recall_claims import recording
from recall_claims.declare.claim import Claim
from recall_claims.evidence.ledger import DAMAGED
from recall_claims.evidence.run import Settings
from recall_reports import phrases
from recall_reports.record import ClaimRow, Record
from recall_reports.record.files import ReportError, load
from recall_reports.record.text import cleaned

LIMIT = "time: "
"""First word of the reason why a time limit stops a claim."""


@dataclass(eq=False)
class RunReport:
    """The report of the run that begins now.

    Attributes:
        folder: folder of the report.
        root: a folder of the repository, for its commit.
        executor: value of --executor.
        beside: folder to use if the report in `folder` has claims that this run left out; None to
            replace that report.
        narrowed: whether files may have been collected in part. If not, and a file was collected
            without a claim of the earlier report, the claim no longer exists.
        kept: why the report in `folder` stays as it is; empty if it is replaced.
    """

    folder: Path
    root: Path
    settings: Settings
    executor: str
    beside: Path | None
    narrowed: bool
    kept: str = ""

    def __post_init__(self) -> None:
        self.by_id: dict[str, ClaimRow] = {}
        self.selected, self.write_error, self.no_commit = 0, "", ""
        self.written: dict[str, Path] = {}
        self.collected: list[Claim] = []
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._clock = time.monotonic()

    def take(self, record: ClaimRow) -> None:
        """Take a claim's record; if another plugin runs the claim again, the last record counts."""
        self.by_id[record.id] = msgspec.convert(cleaned(msgspec.to_builtins(record)), ClaimRow)

    @property
    def records(self) -> list[ClaimRow]:
        """The records taken so far."""
        return [*self.by_id.values()]

    @property
    def cut(self) -> bool:
        """Whether a time limit has cut a claim short."""
        return any(r.state == "NOT RUN" and r.reason.startswith(LIMIT) for r in self.records)

    def claims(self) -> list[Claim]:
        """Return the claims of the records, in the order of collection."""
        return [claim for claim in self.collected if claim.id in self.by_id]

    def write(self) -> bool:
        """Write the report; return whether this worked. If not, `write_error` says why."""
        from recall_reports.write import write  # slow to import

        if self.beside is not None and (left_out := self._left_out()):
            self.kept = (
                f"{self.folder} has {phrases.claims(left_out)} that this run left out, and stays "
                "as it is; --report-dir replaces it"
            )
            self.folder = self.beside
        try:
            write(self.whole(), self.folder, self.written)
        except ReportError as error:
            self.write_error = str(error)
        return not self.write_error

    def _left_out(self) -> int:
        """Count claims in the folder's report that still exist but did not run."""
        try:
            there = load(self.folder / "report.json").claims
        except ReportError:  # nothing to lose
            return 0
        ran, files = ({getattr(r, name) for r in self.records} for name in ("id", "file"))
        waiting = {claim.id for claim in self.collected} - ran  # left out by -k, -x or a key
        return sum(
            entry.id not in ran
            and (self.narrowed or entry.id in waiting or entry.file not in files)
            and (self.root / entry.file).is_file()
            for entry in there
        )

    def whole(self) -> Record:
        """Make the whole record, with claims ordered by paper, file and id."""
        name, self.no_commit = commit(self.root)
        first = {claim.source.paper: claim for claim in self.claims()}
        papers = {k: recording.paper(c, self.settings.budget) for k, c in first.items()}
        return recording.suite(
            self.settings,
            sorted(self.records, key=lambda r: (r.source.paper, r.file, r.id)),
            msgspec.convert(cleaned(msgspec.to_builtins(papers)), dict[str, recording.PaperEntry]),
            executor=self.executor,
            started=self._started,
            wall_seconds=time.monotonic() - self._clock,
            ahead=max(0, self.selected - len(self.records)),
            command=shlex.join(["pytest", *sys.argv[1:]]),
            commit=name,
        )


def commit(root: Path) -> tuple[str | None, str]:
    """Return the commit checked out, with a plus sign if tracked files differ from it.

    If git names no commit, return None and git's reason.
    """
    try:
        name = git(root, "rev-parse", "--short=10", "HEAD").strip()
        return name + "+" * bool(git(root, "status", "--porcelain", "--untracked-files=no")), ""
    except OSError as error:
        return None, str(error)
    except subprocess.CalledProcessError as error:
        return None, " ".join(error.stderr.split())


def git(root: Path, *arguments: str) -> str:
    """Return what a command of git prints in a folder; raises the errors of `subprocess`."""
    command = ["git", "--no-optional-locks", *arguments]
    return subprocess.check_output(
        command, cwd=root, stderr=subprocess.PIPE, encoding="utf-8-sig", errors="replace"
    )


def put_aside(record: Record) -> Iterator[str]:
    """Yield a sentence about each claim that had invalid blocks in the ledger."""
    for claim in record.claims:
        whys = claim.blocks.recomputed.items()
        count = sum(count for why, count in whys if why.startswith(DAMAGED))
        if count:
            yield (
                f"{claim.id}: {count} blocks of the ledger were no evidence; they were drawn "
                "again, and the report says why"
            )
