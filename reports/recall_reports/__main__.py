"""Show the report of a run, render it again, or compare two reports."""

import argparse
import gc
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from recall_reports import diff
from recall_reports.markdown import escaped
from recall_reports.record import schema
from recall_reports.record.files import ReportError, load
from recall_reports.record.spelling import CommandLine
from recall_reports.record.text import line
from recall_reports.terminal import print_verdicts
from recall_reports.write import render

LATEST = Path("reports/latest/report.json")
BASELINE = Path("reports/baseline.json")
EPILOG = """exit status: 0 done; 1 `diff` found that a verdict was lost or a claim is gone; 2 wrong
usage, or a report that cannot be read or written"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    if options.command == "schema":
        print(json.dumps(schema(), indent=1))
        return 0
    try:
        report = load(options.file)
        if options.command == "show":
            print_verdicts(report, Console(), options.verbose - options.quiet)
        elif options.command == "diff":
            names = options.files.read_text(encoding="utf-8", errors="replace").split("\0")
            found = diff.changes(load(options.old), report, map(line, filter(None, names)))
            if options.markdown:
                print(diff.markdown(found), end="")
            else:
                diff.print_changes(found, Console())
            return int(diff.lost(found))
        else:
            for path in render(report, options.to).values():
                print(path)
    except (ReportError, OSError) as error:
        print(f"recall_reports: {line(str(error))}", file=sys.stderr)
        if getattr(options, "markdown", False):
            print(f"**Nothing could be compared.** {escaped(str(error))}")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine(prog="python -m recall_reports", description=__doc__, epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", required=True)

    def a_file(to: argparse.ArgumentParser, name: str, default: Path) -> None:
        to.add_argument(name, type=Path, nargs="?", default=default, help=f"default: {default}")

    show = commands.add_parser("show", help="print the verdict table")
    a_file(show, "file", LATEST)
    for short, name, told in (
        ("-v", "--verbose", "with looks, replicates and a usual analysis"),
        ("-q", "--quiet", "only what is not as expected"),
    ):
        show.add_argument(short, name, action="count", default=0, help=told)
    again = commands.add_parser("render", help="write page and Markdown")
    a_file(again, "file", LATEST)
    again.add_argument("--to", type=Path, required=True, metavar="DIR", help="where to write")
    compare = commands.add_parser("diff", help="say what changed between two reports")
    a_file(compare, "old", BASELINE)
    a_file(compare, "file", LATEST)
    compare.add_argument("--markdown", action="store_true", help="as Markdown, for a comment")
    names = "file with the output of `git diff --name-only -z`: other changed files"
    compare.add_argument("--files", type=Path, default=os.devnull, help=names)
    commands.add_parser("schema", help="print the JSON schema of the record")
    return parser


if __name__ == "__main__":
    gc.disable()  # saves a tenth of the time that a page takes; the process ends soon
    sys.exit(main())
