"""Files of records and reports: read whole or refused, written whole or not at all."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from recall_reports.record import VERSION, Record
from recall_reports.record.text import clean, cleaned, line


class ReportError(Exception):
    """An unusable record or report file; names the file, the cause and a remedy."""


MARKS = {
    "report.json": b'"schema": "recall-claims/',
    "report.html": b"<title>recall-claims: ",
    "report.md": b"# recall-claims\n",
}
"""The files of a report, each with a text in its first 4 KiB."""


def load(path: Path) -> Record:
    """Read and validate the record at `path`.

    Raises:
        ReportError: the file is missing, unreadable, not JSON, of another version or invalid.
    """
    try:
        return validated(msgspec.json.decode(path.read_bytes()))
    except FileNotFoundError:
        raise ReportError(f"{path}: no such file; run `pytest claims/` to make a report") from None
    except OSError as error:
        raise ReportError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise ReportError(
            f"{path}: not a JSON record ({error}); the file is damaged or was not written by this "
            "program: run `pytest claims/` for a new one"
        ) from error
    except ReportError as error:
        raise ReportError(f"{path}: {error}") from None


def dump(record: Record, path: Path) -> Path:
    """Write a valid record to `path` in one step; return `path`.

    Raises:
        ReportError: the file cannot be written. An earlier record at `path` is then still whole.
    """
    return replace(path, msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")


def replace(path: Path, content: bytes) -> Path:
    """Write `content` to `path`, entirely or not at all, and return `path`.

    Raises:
        ReportError: the file cannot be written (disk full, no permission, ...).
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # only the owner can read mkstemp's files
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise ReportError(
            f"{path}: cannot be written ({error.strerror}); free space or name another "
            "directory. What was there before is unchanged"
        ) from error
    return path


def refuse_foreign(directory: Path) -> None:
    """Refuse a folder in which a report would replace a foreign file.

    Also refuse a folder with files, unless all are hidden or it has a report already.

    Raises:
        ReportError: names the file.
    """
    for name, mark in MARKS.items():
        path = directory / name
        try:
            with path.open("rb") as file:
                known = mark in file.read(4096)
        except OSError:  # no file, a folder, or a link to nothing
            known = not path.is_symlink() and not path.is_dir()
        if not known:
            raise ReportError(
                f"{path} was not written by this program, and a report would replace it; move it "
                "away, or name another folder for the report (--report-dir, --to)"
            )
    if not any((directory / name).exists() for name in MARKS) and directory.is_dir():
        others = sorted(path.name for path in directory.glob("[!.]*"))
        if others:
            raise ReportError(
                f"{directory} holds other things than a report, such as {clean(others[0])!r}; name "
                "a new or an empty folder for the report (--report-dir, --to)"
            )


def validated(found: object) -> Record:
    """Make a record with clean texts from plain JSON types, or from a record.

    Raises:
        ReportError: names the place in the record, the fault, and the remedy.
    """
    try:
        plain = cleaned(msgspec.to_builtins(found) if isinstance(found, Struct) else found)
    except RecursionError:
        raise ReportError(
            "no record is nested as deep as this: it was not written by this "
            "program; run `pytest claims/` for a new one"
        ) from None
    version = plain.get("schema") if isinstance(plain, Mapping) else None
    if version != VERSION:
        raise ReportError(
            f"the record has the format {version!r}, this program reads {VERSION!r}: run `pytest "
            "claims/` for a new record, or use the version of recall-claims that wrote this one"
        )
    try:
        record = msgspec.convert(plain, Record)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$.")
        raise _invalid(plain, path.rstrip("`"), problem) from None
    ids: set[str] = set()
    papers = {paper.key for paper in record.papers} & {*record.suite.error_budget.papers}
    for index, claim in enumerate(record.claims):
        paper = claim.source.paper
        if claim.id in ids:
            raise _invalid(plain, f"claims[{index}].id", "a second claim of this name")
        if paper not in papers:
            problem = f"{paper!r} is no paper with a share of this record's error budget"
            raise _invalid(plain, f"claims[{index}].source.paper", problem)
        ids.add(claim.id)
    return record


def _invalid(plain: Any, path: str, problem: str) -> ReportError:
    path = path or "the record"
    if path.startswith("claims["):
        claim = plain["claims"][int(path.removeprefix("claims[").partition("]")[0])]
        if isinstance(claim, Mapping) and "id" in claim:
            path += f" (claim {line(str(claim['id']))})"
    return ReportError(
        f"invalid record: {path}: {problem}. `python -m recall_reports schema` prints the "
        "format; correct the code that made this record, or run `pytest claims/` for a new one"
    )
