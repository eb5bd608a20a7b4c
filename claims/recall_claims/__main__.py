"""Write a small working paper with a claim, certify claims, look after a ledger, audit evidence."""

import argparse
import importlib.util
import keyword
import sys
from collections.abc import Sequence
from datetime import date
from importlib import resources
from pathlib import Path

import jinja2

from recall_claims.audit import command as auditing
from recall_claims.declare.papers import papers
from recall_claims.errors import LedgerError, SimulationError
from recall_reports.errors import ReportError

TEMPLATES = ("paper.toml", "theory.py", "simulation.py", "test_claims.py", "conftest.py")
LEDGER = Path(".recall-claims/ledger.sqlite")
CERTIFICATES = Path("reports/certificates.json")
EPILOG = (
    "exit status: 0 done; 1 a claim errs more often than its alpha says, or an audit found "
    "something; 2 wrong usage, a name that is taken, a place that cannot be written, or a ledger "
    "or bundle that cannot be used"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "new":
            folder = new(options.name, options.to)
            print(f"{folder}: judge it with `pytest {folder}`, then make it yours")
        elif options.command == "certify":
            from recall_claims.certify import command  # loads torch

            return command.main(options)
        elif options.command == "bundle":
            return auditing.bundle(options)
        elif options.command == "audit":
            return auditing.audit(options)
        else:
            _look_after(options)
    except (OSError, ValueError, LedgerError, ReportError, SimulationError) as error:
        print(f"recall_claims: {error}", file=sys.stderr)
        return 2
    return 0


def _look_after(options: argparse.Namespace) -> None:
    from recall_claims.plugin import housekeeping  # loads torch

    path = options.ledger.absolute()
    if not path.exists():
        raise FileNotFoundError(f"{options.ledger}: no such file; name a ledger with --ledger")
    if options.do == "list":
        housekeeping.list_ledger(path)
    else:
        before = options.before.isoformat()
        housekeeping.prune_ledger(path, options.folder, before, yes=options.yes)


def new(name: str, parent: Path) -> Path:
    """Write a small working paper to a new folder of this name, and return the folder.

    Raises:
        ValueError: the name is not one that Python can import, or means something already.
        OSError: the folder exists, or cannot be written.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} cannot be the name of a paper: take letters, digits and _")
    folder = parent / name
    if folder.exists():
        raise FileExistsError(f"{folder} exists; choose another name, or remove it")
    if name in papers() or importlib.util.find_spec(name) is not None:
        raise ValueError(f"{name!r} names a paper or a Python module already; choose another name")
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    for file in TEMPLATES:
        template = resources.files("recall_claims") / "new_paper" / f"{file}.j2"
        text = jinja2.Template(template.read_text(encoding="utf-8"), keep_trailing_newline=True)
        (folder / file).write_text(text.render(name=name), encoding="utf-8")
    return folder


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m recall_claims", description=__doc__, epilog=EPILOG
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("new", help="write a paper to a new folder")
    command.add_argument("name", help="of the paper and its folder; a Python identifier")
    command.add_argument(
        "--to", type=Path, default=Path(), metavar="DIR", help="where the folder goes (default: .)"
    )
    certify = commands.add_parser("certify", help="how often each claim's verdict errs and decides")
    certify.add_argument("folder", type=Path, nargs="?", default=Path("claims"), help="of claims")
    certify.add_argument("--tier", default="standard", choices=("smoke", "standard", "full"))
    certify.add_argument("--seed", type=int, default=1001, help="of the evidence (1001)")
    certify.add_argument(
        "--worlds", type=int, default=3, help="for each t rule: this seed's, the next one's... (3)"
    )
    certify.add_argument("-k", default="", metavar="TEXT", help="only those whose name holds it")
    certify.add_argument("--stale", action="store_true", help="only those whose certificate is")
    ledgers = LEDGER.with_name("calibration.sqlite")
    certify.add_argument("--ledger", type=Path, default=ledgers, metavar="FILE")
    certify.add_argument("--json", type=Path, default=CERTIFICATES, metavar="FILE")
    auditing.add(commands, LEDGER)
    ledger = commands.add_parser("ledger", help="list what a ledger holds, or take out old blocks")
    doing = ledger.add_subparsers(dest="do", required=True)
    listing = doing.add_parser("list", help="print its registrations, and what was put aside")
    prune = doing.add_parser(
        "prune",
        help="remove the blocks of registrations that no claim has, which were first used before a "
        "date; how many registrations a claim has had stays known",
    )
    prune.add_argument(
        "folder", type=Path, nargs="?", default=Path("claims"), help="of all claims (claims)"
    )
    prune.add_argument("--before", type=date.fromisoformat, required=True, metavar="YYYY-MM-DD")
    prune.add_argument("--yes", action="store_true", help="do it; else it only says what it would")
    for each in (listing, prune):
        each.add_argument("--ledger", type=Path, default=LEDGER, metavar="FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
