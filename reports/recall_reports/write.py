"""Write every form of a report into one directory."""

from pathlib import Path

from recall_reports import card, files, html, markdown
from recall_reports.files import validated
from recall_reports.record import Record


def write(record: Record, directory: Path) -> dict[str, Path]:
    """Write `report.json` and all that `render` makes of it; return their paths by kind.

    The record comes first: if a later file fails, the evidence is safe, and `python -m
    recall_reports render` makes the others from it. Each file is replaced whole or left as it was.

    Raises:
        ReportError: the record is invalid, or a file cannot be written.
    """
    return {"json": files.dump(record, directory / "report.json"), **render(record, directory)}


def render(record: Record, directory: Path) -> dict[str, Path]:
    """Write `report.html`, `report.md` and `summary.svg`; return their paths by kind.

    Raises:
        ReportError: the record is invalid, or a file cannot be written.
    """
    record = validated(record)
    return {
        "html": files.replace_text(directory / "report.html", html.render(record)),
        "md": files.replace_text(directory / "report.md", markdown.render(record)),
        "svg": files.replace_text(directory / "summary.svg", card.render(record)),
    }
