"""Records and reports as files: read whole or refused, written whole or not at all."""

import os
import tempfile
from pathlib import Path

import msgspec

from recall_reports.errors import ReportError
from recall_reports.record import Record
from recall_reports.validate import validated


def load(path: Path) -> Record:
    """Read and validate the record at `path`.

    Raises:
        ReportError: the file is missing, unreadable, not JSON, of another version or invalid.
    """
    try:
        found = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        raise ReportError(f"{path}: no such file; run `pytest claims/` to make a report") from None
    except OSError as error:
        raise ReportError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ReportError(
            f"{path}: not a JSON record ({error}); the file is damaged or was not written by this "
            "program: run `pytest claims/` for a new one"
        ) from error
    try:
        return validated(found)
    except ReportError as error:
        raise ReportError(f"{path}: {error}") from None


def dump(record: Record, path: Path) -> Path:
    """Validate a record and write it to `path` in one step; return `path`.

    Raises:
        ReportError: the record is invalid, or the file cannot be written. A record that was at
            `path` before is then still there, whole.
    """
    text = msgspec.json.format(msgspec.json.encode(validated(record)), indent=1)
    return replace_text(path, f"{text.decode()}\n")


def replace_text(path: Path, text: str) -> Path:
    """Make `text` the content of `path`, entirely or not at all, and return `path`.

    Raises:
        ReportError: the file cannot be written (disk full, no permission, ...).
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # mkstemp makes files that only their owner can read
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise ReportError(
            f"{path}: cannot be written ({error.strerror}); free space or name another "
            "directory. What was there before is unchanged"
        ) from error
    return path
