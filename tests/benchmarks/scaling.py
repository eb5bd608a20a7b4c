"""How well a run uses its workers: the blocks of a finished run, replayed by workers that sleep."""

import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from recall_claims.evidence.block import BlockResult
from recall_claims.evidence.ledger import Ledger
from tests.benchmarks.table import Row, Section
from tests.benchmarks.timing import python

ROOT = Path(__file__).parents[2]
WORKERS = (1, 2, 4, 16, 64)
LEDGER = ROOT / ".recall-claims" / "ledger.sqlite"
VARIABLE = "RECALL_REPLAY"

NOTE = (
    "`pytest claims/` from start to end on an empty ledger, with workers that simulate nothing: "
    "each sleeps for the seconds that a block took in the run whose ledger is named, divided by "
    "`--pace`, and returns it. Theirs is the sum of the blocks' seconds over the workers. The "
    "longest path is that of a claim's looks, each as long as its longest block; host is the "
    "processor time of the one process that judges. Promised: an efficiency (sum of the blocks "
    "over workers times wall) of 0.95 with 2 workers and of 0.85 with 16; with 64 a wall of at "
    "most 1.3 times the longest path and the host's seconds."
)


class Replay(ThreadPoolExecutor):
    """Workers that sleep; the environment says how many, on which ledger, at what pace."""

    def __init__(self) -> None:
        workers, self._pace, ledger = json.loads(os.environ[VARIABLE])
        super().__init__(workers)
        self._source = Ledger(Path(ledger))

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Find the blocks of a task now, and have a worker bring them after their time."""
        [tasks] = args
        blocks = [self._source.get(task.key) for task in tasks]
        if None in blocks:
            raise LookupError(f"the ledger to be replayed lacks a block of {tasks[0].key.claim}")
        return super().submit(_slept, [block for block in blocks if block], self._pace)


def _slept(blocks: Sequence[BlockResult], pace: float) -> Sequence[BlockResult]:
    time.sleep(sum(block.seconds for block in blocks) / pace)
    return blocks


def section(
    ledger: Path, pace: float, workers: Iterable[int], selected: Sequence[str] = ("claims/",)
) -> Section:
    """A row for each number of workers.

    Args:
        ledger: of a finished run of the standard tier at seed 0.
        pace: seconds of a block for each second of sleep.
        workers: how many, one run each.
        selected: what pytest is given.
    """
    if not ledger.exists():
        raise SystemExit(f"no ledger {ledger}: run `pytest claims/`, or name one with --ledger")
    rows, kept = [], True
    for count in workers:
        wall, host, blocks, path = replayed(ledger, count, pace, selected)
        efficiency = blocks / (count * wall)
        promised = {2: efficiency >= 0.95, 16: efficiency >= 0.85, 64: wall <= 1.3 * path + host}
        kept = kept and promised.get(count, True)
        case = f"{count} workers, longest path {path:.0f} s, host {host:.0f} s"
        ideal = f"{blocks / count:.0f} s"
        rows.append(Row(case, f"{wall:.0f} s", "blocks / workers", ideal, f"{efficiency:.2f}"))
    return Section("scaling", tuple(rows), NOTE, kept)


def replayed(
    ledger: Path, workers: int, pace: float, selected: Sequence[str]
) -> tuple[float, float, float, float]:
    """Wall seconds, the host's, those of all blocks, and of the longest path, at that pace."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "pytest", *selected, "-p", "no:cacheprovider", "--report-dir", folder]
        command += ["--ledger", f"{folder}/ledger", "--executor", f"{__name__}:Replay"]
        told = json.dumps([workers, pace, str(ledger.resolve())])
        timing, _ = python(ROOT, *command, **{VARIABLE: told, "PYTHONPATH": str(ROOT)})
        with Ledger(Path(folder) / "ledger") as made:
            rows = made.ask("SELECT claim, block, seconds FROM blocks")
    longest = defaultdict[str, dict[int, float]](dict)
    for claim, block, seconds in rows:
        look = block.bit_length()  # blocks double, or nearly so, from look to look
        longest[claim][look] = max(longest[claim].get(look, 0.0), seconds)
    path = max(sum(looks.values()) for looks in longest.values())
    blocks = sum(seconds for *_, seconds in rows)
    return timing.wall, timing.processor, blocks / pace, path / pace
