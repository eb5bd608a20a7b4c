"""Write every form of a report into one directory."""

from pathlib import Path

from recall_reports import card, html, markdown, record


def write(report: record.Record, directory: Path) -> dict[str, Path]:
    """Write `report.json` and all that `render` makes of it; return their paths by kind.

    The record comes first: if a later file fails, the evidence is safe and `python -m recall_reports
    render` makes the others from it. Each file is replaced whole or left as it was.

    Raises:
        ReportError: the record is invalid, or a file cannot be written.
    """
    return {"json": record.dump(report, directory / "report.json"), **render(report, directory)}


def render(report: record.Record, directory: Path) -> dict[str, Path]:
    """Write `report.html`, `report.md` and `summary.svg`; return their paths by kind.

    Raises:
        ReportError: the record is invalid, or a file cannot be written.
    """
    record.validate(report)
    return {
        "html": record.replace_text(directory / "report.html", html.render(report)),
        "md": record.replace_text(directory / "report.md", markdown.render(report)),
        "svg": record.replace_text(directory / "summary.svg", card.render(report)),
    }
