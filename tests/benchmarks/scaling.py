"""How well a run uses its workers: the blocks of a finished run, replayed by workers that sleep."""

import json
import os
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from recall_claims.evidence.ledger import BlockResult, Ledger
from recall_claims.evidence.simulate import Task
from tests.apart import run
from tests.benchmarks.table import Row, Section

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
        return super().submit(_slept, [self._found(task) for task in tasks], self._pace)

    def _found(self, task: Task) -> BlockResult:
        found = self._source.get(task.key)
        if found is None:
            raise LookupError(f"the ledger to be replayed has no {task.key}")
        return found


def _slept(blocks: Sequence[BlockResult], pace: float) -> Sequence[BlockResult]:
    time.sleep(sum(block.seconds for block in blocks) / pace)
    return blocks


def section(ledger: Path, workers: Sequence[int], pace: float, selected: Sequence[str]) -> Section:
    """A row for each number of workers.

    Args:
        ledger: of a finished run of the standard tier at seed 0.
        workers: how many, one run each.
        pace: seconds of a block for each second of sleep.
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
        rows.append(
            Row(
                f"{count} workers, longest path {path:.0f} s, host {host:.0f} s",
                f"{wall:.0f} s",
                "blocks / workers",
                f"{blocks / count:.0f} s",
                f"{efficiency:.2f}",
            )
        )
    return Section("scaling", tuple(rows), NOTE, kept)


def replayed(
    ledger: Path, workers: int, pace: float, selected: Sequence[str]
) -> tuple[float, float, float, float]:
    """Wall seconds, the host's, those of all blocks, and of the longest path, at that pace.

    Raises:
        RuntimeError: pytest broke off; the message ends with what it printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", *selected, "-q", "-p", "no:cacheprovider"]
        command += ["--ledger", f"{folder}/ledger", "--report-dir", folder]
        command += ["--executor", f"{__name__}:Replay"]
        told = json.dumps([workers, pace, str(ledger.resolve())])
        environment = {**os.environ, VARIABLE: told, "PYTHONPATH": str(ROOT)}
        before, begin = _host(), time.monotonic()
        done = run(ROOT, *command, environment=environment)
        wall, host = time.monotonic() - begin, _host() - before
        if done.status:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.text[-4000:]}")
        with Ledger(Path(folder) / "ledger") as made:
            rows = made.ask("SELECT claim, block, seconds FROM blocks")
    longest = defaultdict[str, dict[int, float]](dict)
    for claim, block, seconds in rows:
        look = block.bit_length()  # blocks double, or nearly so, from look to look
        longest[claim][look] = max(longest[claim].get(look, 0.0), seconds)
    total = sum(seconds for *_, seconds in rows)
    path = max(sum(looks.values()) for looks in longest.values())
    return wall, host, total / pace, path / pace


def _host() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
