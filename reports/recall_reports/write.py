"""Write every form of a report into one directory."""

from contextlib import suppress
from pathlib import Path

from recall_reports import html, markdown
from recall_reports.analyses import Analyses
from recall_reports.record import Record, files
from recall_reports.record.files import ReportError

Paths = dict[str, Path]


def write(record: Record, directory: Path, written: Paths | None = None) -> Paths:
    """Write `report.json` and the files that `render` makes; return their paths by kind.

    The record comes first: if a later file fails, the evidence is safe, and `python -m
    recall_reports render` makes the others from it. Each file is replaced whole or left as it was.

    Args:
        record: record of a run.
        directory: folder to write to.
        written: mapping to fill with each path once its file is written, even if others fail.

    Raises:
        ReportError: the record is invalid, a file would replace a foreign file, or files cannot be
            written: the message says which, and why.
    """
    files.refuse_foreign(directory)
    written = {} if written is None else written
    record = files.validated(record)
    with suppress(Exception):  # the evidence comes first; the page reports the error
        from recall_reports import usual  # slower to import than a page is to make

        record.usual = usual.analysed(record)
    written["json"] = files.dump(record, directory / "report.json")
    return render(record, directory, written)


def render(record: Record, directory: Path, written: Paths | None = None) -> Paths:
    """Write `report.html` and `report.md` of a valid record; return the paths, as `write` does.

    Raises:
        ReportError: a file would replace a foreign file, or cannot be written.
    """
    files.refuse_foreign(directory)
    written = {} if written is None else written
    problems = []
    analyses = Analyses(record.claims, record.usual)
    for kind, form in (("html", html.render), ("md", markdown.render)):
        path = directory / f"report.{kind}"
        try:
            written[kind] = files.replace(path, form(record, analyses).encode())
        except ReportError as error:
            problems.append(str(error))
        except Exception as error:  # other forms are still written
            problems.append(f"{path}: cannot be made ({type(error).__name__}: {error})")
    if problems:
        raise ReportError("; ".join(problems))
    return written
