"""Write a small working paper: a theory, a simulation, and a claim with a control."""

import argparse
import importlib.util
import keyword
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import jinja2

from recall_claims.declare.papers import papers

TEMPLATES = ("paper.toml", "theory.py", "simulation.py", "test_claims.py", "conftest.py")
EPILOG = (
    "exit status: 0 done; 2 wrong usage, a name that is taken, or a folder that cannot be written"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        folder = new(options.name, options.to)
    except (OSError, ValueError) as error:
        print(f"recall_claims: {error}", file=sys.stderr)
        return 2
    print(f"{folder}: judge it with `pytest {folder}`, then make it yours")
    return 0


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
    return parser


if __name__ == "__main__":
    sys.exit(main())
