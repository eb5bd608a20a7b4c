"""What a simulation reads that is no part of its code: the environment, and files of data.

Evidence drawn under another environment, or from a file that was changed, would be taken for the
same. So the first block of a claim is watched while it is simulated. A file counts as code where
the code names it (`fingerprints.data_files`), and may be read then. What is read when a module is
imported is not seen here.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from recall_claims.evidence.fingerprints import NOTEBOOK, data_files, folders, source

CODE = (".py", ".pyc", ".so")
_watching = threading.local()


@contextmanager
def watched(module: str) -> Iterator[list[str]]:
    """What a claim file's simulations read meanwhile, in words; empty if nothing of that kind."""
    _hook()
    here = source(module) is not None  # a notebook has no file
    _watching.allowed = {path.resolve() for path in data_files(module).values()} if here else ()
    _watching.repository = folders(module)[-1:]
    _watching.found = found = list[str]()
    try:
        yield found
    finally:
        del _watching.found


@cache
def _hook() -> None:
    """Watch from now on: Python has no way to take such a hook back."""
    sys.addaudithook(_opens)
    environment = type(os.environ)
    plain = environment.__getitem__

    def read(self: Any, key: Any) -> Any:
        if hasattr(_watching, "found") and _asked_here():
            _tell(f"it reads the environment variable {key!r}; make it a parameter of the cell")
        return plain(self, key)

    environment.__getitem__ = read  # type: ignore[method-assign]


def _tell(words: str) -> None:
    if words not in _watching.found:
        _watching.found.append(words)


def _asked_here() -> bool:
    """Whether code developed here asks, and no library for itself."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__") in ("os", "collections.abc"):
        frame = frame.f_back
    name = frame.f_globals.get("__name__", "")
    return name == NOTEBOOK or source(name) is not None


def _opens(event: str, args: tuple[Any, ...]) -> None:
    if event != "open" or not hasattr(_watching, "found"):
        return
    path, mode, flags = args
    writes = not set(mode or "").isdisjoint("wax") or flags & (os.O_WRONLY | os.O_RDWR)
    if isinstance(path, int) or writes:
        return
    file = Path(os.fsdecode(path)).resolve()
    own = any(map(file.is_relative_to, _watching.repository))
    given = any(map(file.is_relative_to, (*_installed(), *(() if own else ELSEWHERE))))
    if file.suffix not in CODE and file not in _watching.allowed and not given:
        _tell(
            f"it reads {file.name}, which does not count as its code: keep it beside the module "
            f"that reads it, and name it there, as in Path(__file__).with_name({file.name!r})"
        )


ELSEWHERE = tuple(
    Path(folder).resolve()
    for folder in (tempfile.gettempdir(), Path.home() / ".cache", "/proc", "/sys", "/dev", "/etc")
)
"""Folders whose files are the machine's, unless a repository lies there."""


@cache
def _installed() -> tuple[Path, ...]:
    folders = (*sysconfig.get_paths().values(), *site.getsitepackages(), sys.base_prefix)
    return tuple({Path(folder).resolve() for folder in folders})
