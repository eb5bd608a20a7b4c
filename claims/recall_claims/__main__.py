"""Write a paper's first claim, ask a formula, certify claims, keep a ledger, audit evidence."""

import argparse
import importlib.util
import json
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
from recall_reports.text import clean

TEMPLATES = ("paper.toml", "theory.py", "simulation.py", "test_claims.py", "conftest.py")
LEDGER = Path(".recall-claims/ledger.sqlite")
CERTIFICATES = Path("reports/certificates.json")
EPILOG = (
    "exit status: 0 done; 1 a claim errs more often than its alpha says, or an audit found "
    "something; 2 wrong usage, a name that is taken, a place that cannot be written, a formula "
    "that is not there or has no value, or a ledger, bundle or report that cannot be used"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "new":
            folder = new(options.name, options.to)
            print(f"{folder}: judge it with `pytest {folder}`, then make it yours")
        elif options.command == "predict":
            _predict(options)
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
        print(f"recall_claims: {clean(str(error))}", file=sys.stderr)
        return 2
    return 0


def _predict(options: argparse.Namespace) -> None:
    from recall_claims import ask  # loads torch

    sys.path.insert(0, "")  # as `python -m` does: the theory is a package of this folder
    if options.prediction is None:
        print("\n".join(ask.known(options.theory)))
        return
    formula = ask.find(options.prediction, options.theory)
    found = list(ask.answers(formula, ask.values([*options.sizes, *options.table])))
    claims = ask.tested_by(formula, options.baseline)
    if options.json:
        print(json.dumps(ask.plain(formula, found, claims), indent=1))
    else:
        print("\n".join(ask.lines(formula, found, claims)))


def _look_after(options: argparse.Namespace) -> None:
    from recall_claims.evidence.merging import merge  # loads torch
    from recall_claims.plugin import housekeeping

    if options.do == "merge":
        count = merge(options.ledgers, options.out)
        print(f"{options.out}: {count} blocks of {len(options.ledgers)} ledgers")
        return
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
    command.add_argument("name", help="name of the paper and of its folder; a Python identifier")
    command.add_argument(
        "--to", type=Path, default=Path(), metavar="DIR", help="where the folder goes (default: .)"
    )
    certify = commands.add_parser(
        "certify", help="compute how often each claim's verdict errs, and how often it decides"
    )
    certify.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("claims"),
        help="folder of claims (%(default)s)",
    )
    certify.add_argument("--tier", default="standard", choices=("smoke", "standard", "full"))
    certify.add_argument("--seed", type=int, default=1001, help="of the evidence (%(default)s)")
    certify.add_argument(
        "--worlds",
        type=int,
        default=3,
        metavar="N",
        help="for each t rule, worlds of N seeds, from --seed on (%(default)s)",
    )
    certify.add_argument("-k", default="", metavar="TEXT", help="only claims with TEXT in their id")
    certify.add_argument(
        "--stale", action="store_true", help="only claims without a certificate that fits them"
    )
    ledgers = LEDGER.with_name("calibration.sqlite")
    certify.add_argument(
        "--ledger", type=Path, default=ledgers, metavar="FILE", help="evidence (%(default)s)"
    )
    certify.add_argument(
        "--json", type=Path, default=CERTIFICATES, metavar="FILE", help="output (%(default)s)"
    )
    auditing.add(commands, LEDGER)
    asked = commands.add_parser(
        "predict",
        help="what a formula says at given sizes, how well, and which claims test it",
        description="For example: predict capacity.critical_samples vocab_size=50257 length=1024 "
        "--table dim=256,512,1024",
    )
    asked.add_argument(
        "prediction", nargs="?", help="name, or module.name; without one, all are listed"
    )
    asked.add_argument("sizes", nargs="*", metavar="name=value", help="parameters of the formula")
    asked.add_argument(
        "--table", action="append", default=[], metavar="NAME=A,B,C", help="a row for each value"
    )
    asked.add_argument("--json", action="store_true", help="print JSON")
    asked.add_argument(
        "--theory", default="theory", metavar="PACKAGE", help="package of formulas (%(default)s)"
    )
    asked.add_argument(
        "--baseline",
        type=Path,
        default=Path("reports/baseline.json"),
        metavar="FILE",
        help="the report with the verdicts (default reports/baseline.json, if it is there)",
    )
    ledger = commands.add_parser("ledger", help="list, merge or prune ledgers")
    doing = ledger.add_subparsers(dest="do", required=True)
    listing = doing.add_parser("list", help="print its registrations, and what was put aside")
    prune = doing.add_parser(
        "prune",
        help="remove the blocks of registrations that no claim has any more and that were first "
        "used before a date; how many registrations a claim has had stays known",
    )
    prune.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("claims"),
        help="folder of all claims (%(default)s)",
    )
    prune.add_argument("--before", type=date.fromisoformat, required=True, metavar="YYYY-MM-DD")
    prune.add_argument("--yes", action="store_true", help="remove them; without it, only say which")
    merging = doing.add_parser("merge", help="put the evidence of several ledgers into one")
    merging.add_argument("ledgers", type=Path, nargs="+", metavar="LEDGER")
    merging.add_argument("-o", dest="out", type=Path, required=True, metavar="FILE")
    for each in (listing, prune):
        each.add_argument("--ledger", type=Path, default=LEDGER, metavar="FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
