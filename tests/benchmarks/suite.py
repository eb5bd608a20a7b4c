"""Wall time of the whole suite, by tier, from the records of its runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.table import Row, Section, factor

ROOT = Path(__file__).parents[2]
BASELINE = ROOT / "reports" / "baseline.json"

NOTE = (
    "from the records of whole runs, not measured again here: wall time against the seconds that "
    "its blocks took on one core each. `--suite` runs the smoke tier anew, without earlier "
    "evidence; `--record FILE` adds the record of another run."
)


def section(records: Sequence[Path], run: bool) -> Section:
    """A row per record.

    Args:
        records: paths of `report.json` files, besides the baseline's.
        run: whether to run the smoke tier now.
    """
    found = [json.loads(path.read_text()) for path in (BASELINE, *records)]
    if run:
        found.append(smoke())
    return Section("suite", tuple(row(record) for record in found), NOTE)


def row(record: dict[str, Any]) -> Row:
    """The times of one run."""
    suite = record["suite"]
    claims = sum(claim["state"] == "DECIDED" for claim in record["claims"])
    return Row(
        f"{suite['tier']} tier, {claims} claims, {suite['executor']}, "
        f"{suite['hardware']['cores']} cores",
        f"{suite['wall_seconds']:.0f} s",
        "one core",
        f"{suite['seconds']:.0f} s",
        factor(suite["seconds"], suite["wall_seconds"]),
    )


def smoke() -> dict[str, Any]:
    """The record of a fresh run of the smoke tier.

    Raises:
        RuntimeError: it wrote no record; the message ends with what pytest said.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "claims/", "--tier", "smoke", "-q"]
        command += ["-p", "no:cacheprovider", "--report-dir", folder]
        command += ["--ledger", str(Path(folder) / "ledger.sqlite")]
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
        )
        report = Path(folder) / "report.json"
        if not report.exists():
            raise RuntimeError(f"the smoke tier wrote no record:\n{done.stdout[-2000:]}")
        record: dict[str, Any] = json.loads(report.read_text())
        return record
