"""On a terminal, a run shows where it stands, although pytest captures what claims print."""

import gc
import os
import re
import subprocess
import sys

import pytest

from recall_claims.plugin.item import ClaimItem
from tests.faults.conftest import Suite, environment


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_line_is_seen_on_a_terminal(suite: Suite) -> None:
    import pty

    suite.write("one", "two", pause=0.02)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        suite.command("--executor", "serial"),
        cwd=suite.folder,
        env=environment(TERM="xterm"),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        printed = b""
        try:
            while part := os.read(ours, 65536):
                printed += part
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(ours)
    text = printed.decode()
    assert process.returncode == 0, text
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert re.search(r"0 of 2 claims, left -:--:-- tiny.one, look ", shown)
    assert re.search(r"1 of 2 claims, left -:--:-- tiny.two, look ", shown)
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") > 0  # the cursor is back


def test_what_lives_as_long_as_the_run_is_not_taken_for_garbage(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write("one")
    before, during, run = gc.get_threshold(), list[tuple[int, int]](), ClaimItem.runtest

    def noted(item: ClaimItem) -> None:
        during.append((gc.get_freeze_count(), gc.get_threshold()[2]))
        run(item)

    monkeypatch.setattr(ClaimItem, "runtest", noted)
    suite.run()
    [(frozen, rarely)] = during
    assert frozen > 10_000
    assert rarely == 100 * before[2]
    assert (gc.get_freeze_count(), gc.get_threshold()) == (0, before)
