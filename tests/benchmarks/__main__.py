"""Print benchmarks as one table; the exit status is 1 if a promise is broken."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch

from tests.benchmarks import speed

PARTS: Mapping[str, Callable[[argparse.Namespace], Iterable[speed.Row]]] = {
    "three-steps": lambda given: speed.steps(given.device),
    "recall": lambda given: speed.recall(given.device),
    "training": lambda given: speed.training(given.device),
    "language-model": lambda given: speed.language_model(given.device),
}
"""Parts of the benchmark, by name; without one, the first three are run."""
HEAD = "| case | ours | against | theirs | factor |\n|---|---|---|---|---|"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    add = options.add_argument
    add("names", nargs="*", metavar="NAME", help=f"some of {', '.join(PARTS)}")
    add("--device", default="cpu", help="cpu (default) or cuda")
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
