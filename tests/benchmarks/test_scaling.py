"""The benchmark of scaling, in small."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.apart import run_pytest
from tests.benchmarks import scaling


@pytest.mark.thorough
def test_a_run_is_replayed(tmp_path: Path) -> None:
    file, ledger = "claims/factual/test_task.py", tmp_path / "ledger"
    kept = ("--ledger", str(ledger), "--report-dir", str(tmp_path), "--executor", "serial")
    done = run_pytest(scaling.ROOT, ("-p", "no:cacheprovider", file, *kept), os.environ)
    assert done.status == 0, done.text
    wall, host, blocks, path = scaling.replayed(ledger, 4, 0.1, [file])
    assert 0 < path <= blocks
    assert wall > path
    assert host > 0
    with pytest.raises(SystemExit, match="no ledger"):
        scaling.section(tmp_path / "none", [4], 1.0, [file])
