"""A full disk: one clear error, finished blocks are kept, and a run after it resumes."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import Suite


@pytest.fixture
def small_disk(suite: Suite) -> Iterator[Path]:
    """A file system of 256 KiB."""
    disk = suite.folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"only root may mount a small file system ({mounted.stderr.strip()})")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_too_small_for_the_ledger(suite: Suite, small_disk: Path) -> None:
    suite.write("one", "two", "three", "four")
    suite.run("--ledger", "whole.sqlite", "--report-dir", "whole")

    full = suite.run("--ledger", "disk/ledger.sqlite", status=1)
    assert "free some disk space and run again; finished blocks are kept" in full.text
    assert "Traceback" not in full.text
    assert "ERROR" in {claim["state"] for claim in suite.report()["claims"]}

    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    suite.run("--ledger", "disk/ledger.sqlite")
    assert suite.figures() == suite.figures("whole")
    blocks = suite.report()["suite"]["blocks"]
    assert 0 < blocks["reused"] < blocks["total"]
