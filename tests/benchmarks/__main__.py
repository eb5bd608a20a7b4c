"""Print benchmarks as one table; the exit status is 1 if a promise is broken."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch

from tests.benchmarks import hunts, speed
from tests.mutation.planted import PLANTED

PARTS: Mapping[str, Callable[[argparse.Namespace], Iterable[speed.Row | hunts.Hunt]]] = {
    "three-steps": lambda given: speed.steps(given.device),
    "recall": lambda given: speed.recall(given.device),
    "training": lambda given: speed.training(given.device),
    "language-model": lambda given: speed.language_model(given.device),
    "hunt": lambda given: hunts.rows(given.planted, given.true, given.minutes),
}
"""Parts of the benchmark, by name; without one, the first three are run."""
HEAD = "| case | ours | against | theirs | factor |\n|---|---|---|---|---|"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    add, errors = options.add_argument, [*PLANTED, "all"]
    add("names", nargs="*", metavar="NAME", help=f"some of {', '.join(PARTS)}")
    add("--device", default="cpu", help="cpu (default) or cuda")
    add("--minutes", type=float, default=5.0, help="of each hunt (default 5)")
    add("--planted", action="append", default=[], metavar="NAME", choices=errors)
    add("--true", type=int, default=0, metavar="N", help="for hunt: N of the right theory")
    given = options.parse_args(arguments)
    if unknown := [name for name in given.names if name not in PARTS]:
        options.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if speed.on_cuda(given.device) and not torch.cuda.is_available():
        options.error(f"no device {given.device}: torch finds no CUDA; use --device cpu")
    torch.set_num_threads(2)
    print(speed.machine(given.device), HEAD, sep="\n\n")
    kept = True
    for name in given.names or ("three-steps", "recall", "training"):
        for row in PARTS[name](given):
            print(row, flush=True)
            kept &= row.kept
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
