"""Processor time until a claim begins: whole processes, from start to end."""

import os
import sys
import tempfile
from pathlib import Path

from tests.apart import run
from tests.benchmarks.table import Section, compared

ROOT = Path(__file__).parents[2]
FILE = "claims/attention/test_signal.py"
BARE = ("-c", "import torch, scipy.stats, pytest")
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
BEYOND = 3.0
"""Seconds that collecting all claims may take beyond the bare imports."""
TIMES = 2.0
"""How much longer a file may take that is judged from evidence at hand."""

NOTE = (
    "processor time of whole processes, least of {runs} after one that counts for nothing, with "
    "bytecode at hand. Theirs is what any such process pays, `import torch, scipy.stats, pytest`. "
    f"Promised: collection takes at most {BEYOND:g} s beyond it, and `{FILE}`, with every block in "
    f"the ledger, at most {TIMES:g} times as long, report included."
)


def section(runs: int = 3) -> Section:
    """Bare imports against collection, and against one file judged from the ledger.

    Args:
        runs: of each, of which the least counts.
    """
    with tempfile.TemporaryDirectory() as folder:
        kept = ("--executor", "serial", "--ledger", f"{folder}/ledger", "--report-dir", folder)
        commands = {
            "bare": BARE,
            "collection": (*PYTEST, "claims/", "--collect-only"),
            "file": (*PYTEST, FILE, *kept),
        }
        for command in commands.values():
            seconds(command, folder)
        taken = {
            name: min(seconds(command, folder) for _ in range(runs))
            for name, command in commands.items()
        }
    bare, collection, file = (taken[name] for name in commands)
    cases = {
        "all claims: `pytest claims/ --collect-only`": (collection, f"+ {BEYOND:g} s"),
        f"one file, from the ledger: `pytest {FILE}`": (file, f"{TIMES:g} times"),
    }
    rows = tuple(
        compared(case, ours, f"bare imports (promised: {promised})", bare, "s")
        for case, (ours, promised) in cases.items()
    )
    kept_promises = collection <= bare + BEYOND and file <= TIMES * bare
    return Section("collection", rows, NOTE.format(runs=runs), kept_promises)


def seconds(arguments: tuple[str, ...], bytecode: str) -> float:
    """Processor time of a Python process and of its children, in seconds.

    Args:
        arguments: of Python.
        bytecode: the folder that keeps it.

    Raises:
        RuntimeError: the process failed; the message ends with what it printed.
    """
    left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
    inherited = {name: value for name, value in os.environ.items() if name not in left_out}
    before = os.times()
    environment = {**inherited, "OMP_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": bytecode}
    done = run(ROOT, sys.executable, *arguments, environment=environment)
    after = os.times()
    if done.status:
        raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.text[-4000:]}")
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system
