"""A run that is killed, or whose disk is full, resumes from the ledger."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import HEAD, WAYS, Suite, environment, until, written


@pytest.mark.parametrize("way", ["serial", pytest.param("processes", marks=pytest.mark.thorough)])
def test_killed_run_resumes_with_identical_figures(suite: Suite, way: str) -> None:
    executor = WAYS[way]
    suite.write("one", "two", pause=0.05)
    suite.run("--ledger", "whole.sqlite", "--report-dir", "whole")
    assert suite.report("whole")["suite"]["blocks"]["reused"] == 0

    process = subprocess.Popen(
        suite.command(*executor, "--ledger", "killed.sqlite"),
        cwd=suite.folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert until(lambda: suite.kept("killed.sqlite") >= 4)
    finished = suite.kept("killed.sqlite")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    if not until(lambda: _alone(process.pid), 30):
        os.killpg(process.pid, signal.SIGKILL)
        pytest.fail("worker processes outlive a run that was killed")

    suite.run(*executor, "--ledger", "killed.sqlite")
    assert suite.figures() == suite.figures("whole")
    blocks = suite.report()["suite"]["blocks"]
    assert finished <= blocks["reused"] < blocks["total"]

    suite.run("--ledger", "killed.sqlite", "--report-dir", "again")
    assert suite.figures("again") == suite.figures("whole")
    assert suite.report("again")["suite"]["blocks"]["reused"] == blocks["total"]


def test_a_block_that_dies_with_its_worker_is_taken_up_by_another(suite: Suite) -> None:
    safe = suite.folder / ".safe"  # what is beside a claim counts as its code, but for hidden files
    trap = f"""
    if cell["scale"] == 5.0 and not os.path.exists({str(safe)!r}):
        open({str(safe)!r}, "x").close()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep"""
    one = written("one", ("\n    time.sleep", trap))
    suite.write_text("import os\nimport signal\n" + HEAD + one + written("two"))
    broken = suite.run("--executor", "processes:2", "--ledger", "killed.sqlite")
    assert "Traceback" not in broken.text
    suite.run("--ledger", "whole.sqlite", "--report-dir", "whole")
    assert suite.figures() == suite.figures("whole")


def _alone(group: int) -> bool:
    """Whether no process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


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
