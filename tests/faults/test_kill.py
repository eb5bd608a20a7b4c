"""A run that is killed resumes from the ledger."""

import os
import signal
import subprocess
import time

import pytest

from tests.faults.conftest import HEAD, Suite, written

SERIAL = ("--executor", "serial")
PARALLEL = ("--executor", "processes:2")


@pytest.mark.parametrize(
    "executor", [SERIAL, pytest.param(PARALLEL, marks=pytest.mark.thorough)], ids=["one", "two"]
)
def test_killed_run_resumes_with_identical_figures(suite: Suite, executor: tuple[str, str]) -> None:
    suite.write("one", "two", pause=0.05)
    suite.run("--ledger", "whole.sqlite", "--report-dir", "whole")
    assert suite.report("whole")["suite"]["blocks"]["reused"] == 0

    process = subprocess.Popen(
        suite.command(*executor, "--ledger", "killed.sqlite"),
        cwd=suite.folder,
        env=suite.environment(),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    finished = _wait_for_blocks(suite, 4)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    _wait_until_alone(process.pid)

    suite.run(*executor, "--ledger", "killed.sqlite")
    assert suite.figures() == suite.figures("whole")
    blocks = suite.report()["suite"]["blocks"]
    assert finished <= blocks["reused"] < blocks["total"]

    suite.run("--ledger", "killed.sqlite", "--report-dir", "again")
    assert suite.figures("again") == suite.figures("whole")
    assert suite.report("again")["suite"]["blocks"]["reused"] == blocks["total"]


def test_a_block_that_dies_with_its_worker_is_taken_up_by_another(suite: Suite) -> None:
    safe = suite.folder / "safe"
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


def _wait_for_blocks(suite: Suite, wanted: int) -> int:
    deadline = time.monotonic() + 240  # workers of a busy machine take long to start
    while (found := suite.kept("killed.sqlite")) < wanted:
        assert time.monotonic() < deadline, "the run kept no blocks"
        time.sleep(0.02)
    return found


def _wait_until_alone(group: int) -> None:
    """No worker process outlives the run that was killed."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    raise AssertionError("worker processes outlive a run that was killed")
