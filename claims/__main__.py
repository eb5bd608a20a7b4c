"""`python -m claims new NAME`: a small working paper, with a theory, a simulation and a claim."""

import argparse
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import jinja2

TEMPLATES = ("paper.toml", "theory.py", "simulation.py", "test_claims.py", "conftest.py")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        folder = new(options.name, options.to)
    except (OSError, ValueError) as error:
        print(f"claims: {error}", file=sys.stderr)
        return 1
    print(f"{folder}: run it with `pytest {folder}`, then make it yours")
    return 0


def new(name: str, parent: Path) -> Path:
    """Write a small working paper to a new folder of this name, and return the folder.

    Raises:
        ValueError: the name is not one that Python can import, or means something already.
        OSError: the folder exists, or cannot be written.
    """
    if not name.isidentifier() or name in ("theory", "simulation", "claims", "reports"):
        raise ValueError(f"{name!r} cannot be the name of a paper: take letters, digits and _")
    folder = parent / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    for file in TEMPLATES:
        template = resources.files("claims") / "new_paper" / f"{file}.j2"
        text = jinja2.Template(template.read_text(encoding="utf-8"), keep_trailing_newline=True)
        (folder / file).write_text(text.render(name=name), encoding="utf-8")
    return folder


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m claims", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("new", help="write a small working paper to a new folder")
    command.add_argument("name", help="of the paper and its folder; a Python identifier")
    command.add_argument(
        "--to", type=Path, default=Path(), metavar="DIR", help="where the folder goes (default: .)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
