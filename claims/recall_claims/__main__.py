"""Write a first claim, ask a formula, write data, certify claims, check a record, merge ledgers."""

from __future__ import annotations

import argparse
import importlib.util
import keyword
import re
import sys
from collections.abc import Collection, Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from time import time
from typing import Any

import jinja2

from recall_claims import parse
from recall_claims.model.errors import LedgerError, SimulationError
from recall_claims.model.papers import papers
from recall_reports.record.files import ReportError
from recall_reports.record.spelling import CommandLine, meant, meant_in
from recall_reports.record.text import clean

WORKFLOW = ".github/workflows/claims.yml"
SHORT = {
    ".gitignore": "__pycache__/\n.recall-claims/\nreports/*/\n",
    "pytest.ini": "[pytest]\naddopts = -p recall_claims.plugin\n",
    "conftest.py": (
        "from pathlib import Path\n\n"
        "from recall_claims import add_paper\n"
        "from recall_claims.hook import pytest_addoption  "
        "# noqa: F401  (makes pytest collect claims)\n\n"
        'add_paper(Path(__file__).with_name("paper.toml"))\n'
    ),
}
"""Files of fixed text."""
TEMPLATES = ("paper.toml", "theory.py", "simulation.py", "test_claims.py", "conftest.py")
LEDGER = Path(".recall-claims/ledger.sqlite")
CERTIFICATES = Path("reports/certificates.json")
BASELINE = Path("reports/baseline.json")
EPILOG = (
    "Exit status 0: done. Exit status 1: a claim errs more often than its alpha says, or a check "
    "found something. Exit status 2: wrong usage, a name that is taken, a place that cannot be "
    "written, a formula without a value, or a ledger or record that cannot be used."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except (OSError, ValueError, LedgerError, ReportError, SimulationError) as error:
        print(f"recall_claims: {clean(str(error))}", file=sys.stderr)
        return 2
    return status


# Each command imports what it needs: most of them load torch.
def _new(options: argparse.Namespace) -> int:
    written = new(options.name, options.to)
    folder = written[0]
    print(f"{', '.join(map(str, written))}: judge it with `pytest {folder}`, then make it yours")
    return 0


def _predict(options: argparse.Namespace) -> int:
    from recall_claims import ask

    sys.path.insert(0, "")  # as `python -m` does: the theory is a package of this folder
    if options.prediction is None:
        print("\n".join(ask.listed(options.theory)))
        return 0
    formula = ask.find(options.prediction, options.theory)
    found = list(ask.answers(formula, ask.values(options.sizes)))
    if options.baseline and not options.baseline.is_file():
        raise ValueError(f"--baseline {options.baseline}: no such file; name a report.json")
    claims = ask.tested_by(formula, options.baseline or BASELINE)
    print("\n".join(ask.lines(formula, found, claims)))
    return 0


def _merge(options: argparse.Namespace) -> int:
    from recall_claims.evidence.ledger import merge

    count = merge(options.ledgers, options.out)
    print(f"{options.out}: {count} blocks of {len(options.ledgers)} ledgers")
    return 0


def _certify(options: argparse.Namespace) -> int:
    from recall_claims.certify import command
    from recall_claims.plugin.item import collected

    claims = collected(options.folder)
    _refuse_nobody(options.k, [claim.id for claim in claims], options.folder)
    return command.main(options, claims)


def _data(options: argparse.Namespace) -> int:
    from recall_claims import ask, data
    from recall_claims.evidence.run import Settings
    from recall_claims.model.cell import Cell
    from recall_claims.plugin.item import collected

    claims = {claim.id: claim for claim in collected(options.claims)}
    if options.claim not in claims:
        hint = meant(options.claim, claims, 3)
        raise ValueError(f"{options.claims} has no claim {options.claim!r}{hint}")
    claim, settings = claims[options.claim], Settings(options.tier, parse.seed(options.seed))
    out = options.out or Path(f"{claim.id}.csv")
    if options.cell:
        given = ask.values(options.cell.split(","))
        cell = Cell(**{name: value for name, [value] in given.items()})
        samples = [data.looked_at(claim, settings, cell)]
        outside = claim.regime and claim.regime.why_outside(cell)
        print(f"{cell.id}: exploratory, no verdict reads it" + (f"; {outside}" if outside else ""))
    else:
        samples = [*data.observed(claim, settings, options.ledger)]
    count = data.write(samples, out)
    print(f"{out}: {count} replicates of {len(samples)} cell{'s' * (len(samples) > 1)}")
    return 0


def _check(options: argparse.Namespace) -> int:
    """Check a record against its ledger; return 1 if a fault is found, else 0."""
    from recall_claims.check.drawing import draw_again
    from recall_claims.check.judging import Check
    from recall_claims.evidence import executors
    from recall_claims.evidence.ledger import Ledger
    from recall_claims.plugin.item import collected
    from recall_claims.plugin.report import commit
    from recall_reports.phrases import claims as counted
    from recall_reports.record import files
    from recall_reports.record.certificates import load

    until = time() + parse.duration(options.time_limit, "--time-limit")
    seed = parse.seed(options.seed)
    if options.record.is_file() and options.record.stat().st_size > LARGEST_RECORD:
        raise ReportError(f"{options.record}: larger than any record ({LARGEST_RECORD} bytes)")
    record = files.load(options.record)
    claims = {claim.id: claim for claim in collected(options.claims)}
    _refuse_nobody(options.k, claims, options.claims)
    with Ledger(options.ledger, read_only=True) as ledger:
        certificates, here = load(CERTIFICATES), commit(Path.cwd())[0]
        check = Check(record, claims, ledger, certificates, here, options.k)
        try:
            device = parse.device(record.suite.device, local=True)
        except ValueError:  # this machine lacks the device
            device = "cpu"
        with executors.make(executors.resolve("auto", device)) as workers:
            made_on = record.suite.hardware.get("instructions", "unknown")
            drawn = draw_again(check.evidence, workers, device, seed, until, made_on)
    found = [*check.found, *drawn.wrong]
    lines = [f"{counted(check.judged)} judged again on the blocks of {options.ledger}"]
    lines += [*drawn.lines(), *(f"FOUND {where}: {what}" for where, what in found)]
    print("\n".join(" ".join(clean(line).split()) for line in lines))
    return int(bool(found))


def _refuse_nobody(text: str, names: Collection[str], folder: Path) -> None:
    """Refuse a text that is part of no claim's id."""
    if not any(text in name for name in names):
        hint = meant_in(text, names)
        raise ValueError(f"{folder} has no claim with {text!r} in its id{hint}")


def new(name: str, parent: Path) -> list[Path]:
    """Write an example paper, whose claims run, to a new folder, and some files next to the folder.

    With the files next to the folder, Git ignores ledger and reports, `pytest` judges claims, and a
    workflow of GitHub judges each change. Files that exist there stay as they are.

    Returns:
        the paths written, the folder first.

    Raises:
        ValueError: the name is taken, is a keyword, does not begin with a Latin letter, or has
            other characters than Latin letters, digits and _.
        OSError: the folder exists, or cannot be written.
    """
    from recall_claims.evidence.fingerprints import CONFIGURATION

    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise ValueError(
            f"{name!r} cannot be the name of a paper: take Latin letters, digits and _"
        )
    folder = parent / name
    if folder.exists():
        raise FileExistsError(f"{folder} exists; choose another name, or remove it")
    if name in ("theory", *papers()) or importlib.util.find_spec(name) is not None:
        raise ValueError(f"{name!r} names a paper or a Python module already; choose another name")
    around = [parent / file for file in (".gitignore", WORKFLOW) if not (parent / file).exists()]
    if not any((parent / file).exists() for file in CONFIGURATION):
        around.append(parent / "pytest.ini")
    installed = f"recall-claims=={version('recall-claims')} # or where you have it from"
    for path in (*(folder / file for file in TEMPLATES), *around):
        path.parent.mkdir(parents=True, exist_ok=True)
        text = SHORT.get(path.name) or template(
            path.name, name=name, folder=name, install=installed
        )
        path.write_text(text, "utf-8")
    (folder / "__init__.py").touch()
    return [folder, *around]


def template(file: str, **values: str) -> str:
    """Fill these values into the text of a new paper's file."""
    text = (resources.files("recall_claims") / "new_paper" / f"{file}.j2").read_text("utf-8")
    return str(jinja2.Template(text, keep_trailing_newline=True).render(values))


LARGEST_RECORD = 2**28
FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}
FOLDER: dict[str, Any] = {"type": Path, "default": Path("claims")}
DEFAULT = "(%(default)s)"


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine(prog="python -m recall_claims", description=__doc__, epilog=EPILOG)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    new = commands.add_parser(
        "new", help="write a paper to a new folder, and what pytest, Git and GitHub need around it"
    )
    new.add_argument("name", help="name of the paper and of its folder; a Python identifier")
    new.set_defaults(run=_new)
    where = "where the folder goes (default: .)"
    new.add_argument("--to", type=Path, default=Path(), metavar="DIR", help=where)

    data = commands.add_parser(
        "data", help="write the observations behind a claim's verdict to a CSV or NPZ file"
    )
    data.set_defaults(run=_data)
    data.add_argument("claim", metavar="CLAIM")
    data.add_argument("-o", dest="out", help="CSV or NPZ (default CLAIM.csv)", **FILE)
    looked = "simulate this cell instead, such as dim=128,samples=4096; no verdict reads it"
    data.add_argument("--cell", default="", metavar="NAME=VALUE,...", help=looked)
    data.add_argument("--tier", default="standard", choices=("smoke", "standard", "full"))
    data.add_argument("--seed", default="0", help=f"of the run {DEFAULT}")
    data.add_argument("--ledger", default=LEDGER, help=f"evidence {DEFAULT}", **FILE)
    data.add_argument("--claims", metavar="DIR", help=f"folder of claims {DEFAULT}", **FOLDER)

    certify = commands.add_parser(
        "certify", help="compute how often the verdicts of claims by Student's t err"
    )
    certify.set_defaults(run=_certify)
    certify.add_argument("folder", nargs="?", help=f"folder of claims {DEFAULT}", **FOLDER)
    certify.add_argument("--tier", default="standard", choices=("smoke", "standard", "full"))
    certify.add_argument("-k", default="", metavar="TEXT", help="only claims with TEXT in their id")
    stale = "only claims without a certificate that fits them"
    certify.add_argument("--stale", action="store_true", help=stale)
    evidence = LEDGER.with_name("calibration.sqlite")
    certify.add_argument("--ledger", default=evidence, help=f"evidence {DEFAULT}", **FILE)
    certify.add_argument("--json", default=CERTIFICATES, help=f"output {DEFAULT}", **FILE)

    check = commands.add_parser(
        "check",
        help="judge every claim of a record again from the ledger of its run, and draw a random "
        "sample of the blocks again",
    )
    check.set_defaults(run=_check)
    check.add_argument("ledger", type=Path, metavar="LEDGER")
    check.add_argument("record", type=Path, metavar="RECORD", help="report.json of the run")
    much = f"time after which no block is begun {DEFAULT}"
    check.add_argument("--time-limit", default="5m", metavar="TIME", help=much)
    check.add_argument("--seed", default="fresh", help=f"order of the sample {DEFAULT}")
    check.add_argument("-k", default="", metavar="TEXT", help="only claims with TEXT in their id")
    check.add_argument("--claims", metavar="DIR", help=f"folder of claims {DEFAULT}", **FOLDER)

    predict = commands.add_parser(
        "predict",
        help="what a formula says at given sizes, how well, and which claims test it",
        description="For example: predict capacity.critical_samples vocab_size=160 dim=128 "
        "length=8,192,256",
    )
    predict.set_defaults(run=_predict)
    named = "name, or module.name; without one, all are listed"
    predict.add_argument("prediction", nargs="?", help=named)
    sizes = "parameters of the formula; several values, as in dim=8,768, give an answer each"
    predict.add_argument("sizes", nargs="*", metavar="name=value", help=sizes)
    package = f"package of formulas {DEFAULT}"
    predict.add_argument("--theory", default="theory", metavar="PACKAGE", help=package)
    baseline = f"the report with the verdicts (default {BASELINE}, if it is there)"
    predict.add_argument("--baseline", help=baseline, **FILE)

    doing = commands.add_parser("ledger", help="merge ledgers")
    do = doing.add_subparsers(required=True, metavar="COMMAND")
    merging = do.add_parser("merge", help="put the evidence of several ledgers into one")
    merging.set_defaults(run=_merge)
    merging.add_argument("ledgers", type=Path, nargs="+", metavar="LEDGER")
    merging.add_argument("-o", dest="out", required=True, **FILE)
    return parser


if __name__ == "__main__":
    sys.exit(main())
