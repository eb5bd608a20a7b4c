"""The record of a run: the one versioned JSON document that every report is made from.

`schema.json` describes it. A record is validated when it is written and when it is read, so the
code that renders reports never meets a malformed one.
"""

import json
import math
import os
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from recall_reports import graph
from recall_reports.errors import ReportError

VERSION = "recall-claims/1"

Record = dict[str, Any]


def validate(report: Record) -> None:
    """Check a record against the schema; return nothing.

    Raises:
        ReportError: naming the path inside the record, what is wrong there, and the remedy.
    """
    version = report.get("schema") if isinstance(report, dict) else None
    if version != VERSION:
        raise ReportError(
            f"the record has the format {version!r}, this program reads {VERSION!r}: use the "
            "version of recall-claims that wrote it, or run `pytest claims/` for a new record"
        )
    problem = _schema_problem(report) or _meaning_problem(report)
    if problem:
        raise ReportError(
            f"invalid record: {problem}. The format is described in reports/schema.json; correct "
            "the code that made this record, or run `pytest claims/` for a new one"
        )


def load(path: Path) -> Record:
    """Read and validate the record at `path`.

    Raises:
        ReportError: the file is missing, unreadable, not JSON, of another version or invalid.
    """
    try:
        report: Record = json.loads(path.read_text(encoding="utf-8"))
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
        validate(report)
    except ReportError as error:
        raise ReportError(f"{path}: {error}") from None
    return report


def dump(report: Record, path: Path) -> Path:
    """Validate a record and write it to `path` in one step; return `path`.

    Raises:
        ReportError: the record is invalid, or the file cannot be written. A record that was at
            `path` before is then still there, whole.
    """
    validate(report)
    return replace_text(path, json.dumps(report, indent=1, allow_nan=False) + "\n")


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


@cache
def _validator() -> Draft202012Validator:
    text = resources.files("recall_reports").joinpath("schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def _schema_problem(report: Record) -> str | None:
    error = best_match(_validator().iter_errors(report))
    if error is None:
        return None
    message = error.message if len(error.message) <= 200 else f"{error.message[:200]} ..."
    return f"{_place(report, list(error.absolute_path))}: {message}"


def _meaning_problem(report: Record) -> str | None:
    """What a schema cannot say: finite numbers, ordered ranges, unique ids, known references."""
    ids = [claim["id"] for claim in report["claims"]]
    for index, name in enumerate(ids):
        if name in ids[:index]:
            return f"{_place(report, ['claims', index, 'id'])}: a second claim of this name"
    return (
        _reference_problem(report, "statements")
        or _reference_problem(report, "derivations")
        or _number_problem(report, report, [])
    )


def _reference_problem(report: Record, kind: str) -> str | None:
    """Claims that are not there, and what rests on unknown entries or, in a circle, on itself."""
    claims = {claim["id"] for claim in report["claims"]}
    entries = {entry["id"]: entry.get("rests_on", []) for entry in report.get(kind, [])}
    for index, entry in enumerate(report.get(kind, [])):
        for name in entry["claims"]:
            if name not in claims:
                return f"{kind}[{index}].claims: {name!r} is not a claim of this record"
        for name in entries[entry["id"]]:
            if name not in entries:
                return f"{kind}[{index}].rests_on: {name!r} is not among the {kind}"
    circle = graph.cycle(entries)
    return f"{kind}: {' <- '.join(circle)} rest on one another in a circle" if circle else None


def _number_problem(report: Record, value: Any, path: list[str | int]) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{_place(report, path)}: {value} is not JSON; write null for an infinite bound"
    if path and path[-1] in ("interval", "region") and value and None not in value:
        low, high = value
        if low > high:
            return f"{_place(report, path)}: the lower bound {low} exceeds the upper bound {high}"
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        problem = _number_problem(report, child, [*path, key])
        if problem:
            return problem
    return None


def _place(report: Record, path: list[str | int]) -> str:
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")
    if len(path) > 1 and path[0] == "claims" and isinstance(path[1], int):
        claim = report["claims"][path[1]]
        if isinstance(claim, dict) and "id" in claim:
            text += f" (claim {claim['id']})"
    return text or "the record"
