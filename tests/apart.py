"""Run pytest in another process, forked from a server that has loaded torch.

The server loads only packages of other projects. So a test may give the new process another copy of
the library, or edited files.
"""

import gc
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

LOADED = (
    *("torch", "scipy.optimize", "scipy.special", "scipy.stats", "msgspec", "pytest"),
    *("rich.console", "rich.progress", "jinja2", "latex2mathml.converter"),
)
SECONDS = 300.0
"""Time after which a pytest in another process is killed."""
_START = multiprocessing.get_context("forkserver")
_START.set_forkserver_preload(list(LOADED))


@cache
def _bytecode() -> tempfile.TemporaryDirectory[str]:
    """Make a folder in which processes share compiled files, even if Python itself writes none.

    Only the process that runs the tests makes the folder, and removes it at its end.
    """
    return tempfile.TemporaryDirectory(prefix="bytecode-")


class Result(NamedTuple):
    """Outcome of a run: its exit status and output."""

    status: int
    text: str


def run(folder: Path, *command: str, environment: Mapping[str, str] | None = None) -> Result:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return Result(done.returncode, done.stdout + done.stderr)


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder as the author "nobody"; return its output.

    Raises:
        subprocess.CalledProcessError: git failed.
    """
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    command = ["git", *identity, *arguments]
    return subprocess.check_output(
        command, cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
    ).strip()


def saved(folder: Path, files: Mapping[str, str]) -> str:
    """Write files into a folder, commit all that it has, and return the commit's hash.

    A folder without a git repository gets one.
    """
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch", "main")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "saved")
    return git(folder, "rev-parse", "HEAD")


def run_pytest(folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Result:
    """Run `python -m pytest` in a folder, with the variables of `environment` and no others.

    Raises:
        TimeoutError: the process was killed after SECONDS; the message is its output.
    """
    with tempfile.TemporaryDirectory() as scratch:
        printed = Path(scratch) / "printed"
        given = (str(folder), list(arguments), dict(environment), str(printed), _bytecode().name)
        process = _START.Process(target=_pytest, args=given)
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
            raise TimeoutError(printed.read_text(encoding="utf-8"))
        text = printed.read_text(encoding="utf-8", errors="replace")
        assert process.exitcode is not None
        return Result(process.exitcode, text)


def _pytest(
    folder: str, arguments: list[str], environment: dict[str, str], printed: str, bytecode: str
) -> None:
    gc.freeze()  # what the server has loaded is no garbage: pytest would look through it
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    installed = [path for path in sys.path if path.startswith((sys.prefix, sys.base_prefix))]
    sys.path[:] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path += installed
    sys.pycache_prefix, sys.dont_write_bytecode = bytecode, False
    sys.argv = ["pytest", *arguments]
    file = os.open(printed, os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(file, stream)
    sys.exit(pytest.console_main())
