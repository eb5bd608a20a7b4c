"""Print every benchmark in one table; status 1 when a promise is not kept."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from rich.console import Console

from tests.benchmarks import growth, hunts, recall, scaling, three_steps
from tests.benchmarks.table import Section, as_markdown, notes
from tests.benchmarks.timing import available, machine
from tests.mutation.planted import PLANTED

PARTS: Mapping[str, Callable[[argparse.Namespace], Section]] = {
    "three-steps": lambda given: three_steps.section(given.device),
    "recall": lambda given: recall.section(given.device),
    "language-model": lambda given: recall.language_model(given.device),
    "growth": lambda given: growth.section(given.only),
    "scaling": lambda given: scaling.section(
        given.ledger, given.pace, [n for n in scaling.WORKERS if given.only in ("", str(n))]
    ),
    "hunt": lambda given: hunts.section(given.planted, given.true, given.minutes),
}
ONLY_BY_NAME = ("language-model", "growth", "scaling", "hunt")
"""The first is meant for a GPU, the next two for a quiet machine and take a quarter of an hour and
more; the last takes as long as it is given."""

HEAD = """# Benchmarks

    python -m tests.benchmarks

prints the first table. Others have to be named: `language-model`, which is meant for a GPU,
`growth` and `scaling` (`-k warm`, `-k 16`: some of their rows), and `hunt`, whose table is
HUNTS.md. A factor above 1 is in favour of ours.

{machine}.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that are named."""
    options = parser()
    given = options.parse_args(arguments)
    if unknown := [name for name in given.names if name not in PARTS]:
        options.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if wrong := [name for name in hunts.named(given.planted) if name not in PLANTED]:
        options.error(f"no planted error {', '.join(wrong)}; there are {', '.join(PLANTED)}")
    if not available(given.device):
        options.error(f"no device {given.device}: torch finds no CUDA; use --device cpu")
    torch.set_num_threads(given.threads)
    err = Console(stderr=True)
    sections = []
    for name in given.names or (part for part in PARTS if part not in ONLY_BY_NAME):
        with err.status(f"benchmark: {name}"):
            sections.append(PARTS[name](given))
    if not all(section.rows for section in sections):
        options.error(f"-k {given.only}: no row of {', '.join(given.names)} is named so")
    print(HEAD.format(machine=machine(given.device, given.threads)))
    print(as_markdown(sections), notes(sections), sep="\n\n")
    return int(not all(section.kept for section in sections))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    result.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"some of {', '.join(PARTS)}; if none is named, all but {', '.join(ONLY_BY_NAME)}",
    )
    result.add_argument("--threads", type=int, default=2, help="of torch (default 2)")
    result.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    result.add_argument(
        "-k", dest="only", default="", metavar="ROW", help="of growth and scaling: warm, 16"
    )
    result.add_argument(
        "--ledger", type=Path, default=scaling.LEDGER, help="of the run that scaling replays"
    )
    result.add_argument(
        "--pace", type=float, default=1.0, help="for scaling, how many times as fast"
    )
    result.add_argument(
        "--minutes", type=float, help="for hunt, each (5 of an error, 1 of the right theory)"
    )
    result.add_argument(
        "--planted",
        action="append",
        default=[],
        metavar="NAME",
        help="for hunt: an error of tests/mutation/planted.py, or tuning, or held-out",
    )
    result.add_argument(
        "--true", type=int, default=0, metavar="N", help="for hunt: N of the right theory"
    )
    return result


if __name__ == "__main__":
    sys.exit(main())
