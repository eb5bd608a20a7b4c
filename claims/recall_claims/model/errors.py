"""Errors that name a cause and a remedy."""

import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOT_AUTHORS = (
    Path(__file__).parents[1].resolve(),
    *(Path(sysconfig.get_paths()[name]).resolve() for name in ("stdlib", "purelib", "platlib")),
)


def told(error: BaseException) -> str:
    """Return an error's type and text.

    The traceback's last line in a claim author's code follows, if any.

    >>> told(ValueError("no such size"))
    'ValueError: no such size'
    """
    own = _authors(error)
    says = error.args[0] if isinstance(error, KeyError) and error.args else error
    said = f"{type(error).__name__}: {says}".removesuffix(": ")
    if not own:
        return said
    frame = own[-1]
    file = Path(frame.filename)
    name = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return f"{said} ({name}, line {frame.lineno}, in {frame.name}: {frame.line})"


def _authors(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the traceback's lines in authors' code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [(Path(frame.filename), frame) for frame in frames if not frame.filename.startswith("<")]
    return [f for file, f in own if not any(map(file.resolve().is_relative_to, NOT_AUTHORS))]


@contextmanager
def about(claim: str) -> Iterator[None]:
    """Name the claim in errors of the claim, its rule or its theory.

    Raises:
        ClaimError: a rule refused the claim, or its author's code failed.
        Exception: an error of this library, with a note that names the claim.
    """
    try:
        yield
    except ClaimError as error:
        if str(error).startswith(f"claim {claim}"):
            raise
        raise ClaimError(f"claim {claim}: {error}") from error
    except Exception as error:
        if not _authors(error):  # this library's mistake needs its traceback
            error.add_note(f"in claim {claim}")
            raise
        raise ClaimError(f"claim {claim}: {told(error)}") from error


class ClaimError(ValueError):
    """A claim is written wrongly; raised as soon as this shows, mostly before anything runs."""


class SimulationError(RuntimeError):
    """There is no evidence: a simulation failed, or returned unusable numbers, such as NaN.

    Also raised if the ledger lacks a claim's blocks, or a worker has other code than the run.
    """


class OutOfTime(RuntimeError):
    """The remaining blocks would exceed the run's time limit."""


class LedgerError(RuntimeError):
    """A ledger cannot be read, written or merged; nothing in it was changed."""


class CheckError(ValueError):
    """A record cannot be checked with its settings, its ledger, or the code of this checkout."""


class ExecutorError(ValueError):
    """The --executor option names no executor, or one that is unavailable or takes no block."""
