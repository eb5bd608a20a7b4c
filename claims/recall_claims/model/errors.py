"""Errors that name a cause and a remedy."""

import sysconfig
import traceback
from pathlib import Path

NOT_AUTHORS = (
    Path(__file__).parent.resolve(),
    *(Path(sysconfig.get_paths()[name]).resolve() for name in ("stdlib", "purelib", "platlib")),
)


def told(error: BaseException) -> str:
    """Return the text of an error in an author's code, and the line of that code where it arose.

    >>> told(ValueError("no such size"))
    'ValueError: no such size'
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [(Path(frame.filename), frame) for frame in frames if not frame.filename.startswith("<")]
    own = [each for each in own if not any(map(each[0].resolve().is_relative_to, NOT_AUTHORS))]
    says = error.args[0] if isinstance(error, KeyError) and error.args else error
    said = f"{type(error).__name__}: {says}".removesuffix(": ")
    if not own:
        return said
    file, frame = own[-1]
    name = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return f"{said} ({name}, line {frame.lineno}, in {frame.name}: {frame.line})"


class ClaimError(ValueError):
    """A claim is written wrongly: found at collection, before anything runs."""


class SimulationError(RuntimeError):
    """A simulation returned something that cannot be evidence, such as NaN."""


class OutOfTime(RuntimeError):
    """Blocks are left that are not expected to end within the run's time limit."""


class LedgerError(RuntimeError):
    """The ledger cannot be read or written; nothing in it was changed."""


class CheckError(ValueError):
    """A record and its ledger cannot be checked with the code of this checkout."""


class ExecutorError(ValueError):
    """The --executor option names no executor, or one that cannot be had."""
