"""`python -m reports`: look at the report of a run, or render it anew."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from reports import record
from reports.errors import ReportError
from reports.terminal import print_verdicts
from reports.write import render

LATEST = Path("reports/latest/report.json")
EPILOG = """exit status: 0 done, whatever the verdicts; 1 the report cannot be read or written;
2 wrong usage"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        report = record.load(options.file)
        if options.command == "show":
            print_verdicts(report, Console())
        else:
            for path in render(report, options.to).values():
                print(path)
    except ReportError as error:
        print(f"reports: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reports", description=__doc__, epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="print the verdict table")
    show.add_argument("file", type=Path, nargs="?", default=LATEST, help=f"default: {LATEST}")
    again = commands.add_parser("render", help="write report.html, report.md and junit.xml")
    again.add_argument("file", type=Path, nargs="?", default=LATEST, help=f"default: {LATEST}")
    again.add_argument("--to", type=Path, required=True, metavar="DIR", help="where to write")
    return parser


if __name__ == "__main__":
    sys.exit(main())
