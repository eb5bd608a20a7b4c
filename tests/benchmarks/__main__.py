"""Print benchmarks as one table; status 1 when a promise is not kept."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch

from tests.benchmarks import hunts, recall, three_steps
from tests.benchmarks.timing import Row, machine, on_cuda
from tests.mutation.planted import PLANTED

PARTS: Mapping[str, Callable[[argparse.Namespace], Iterable[Row | hunts.Hunt]]] = {
    "three-steps": lambda given: three_steps.rows(given.device),
    "recall": lambda given: recall.rows(given.device),
    "language-model": lambda given: recall.language_model(given.device),
    "hunt": lambda given: hunts.rows(given.planted, given.true, given.minutes),
}
"""By name; without one, the first two are run."""
HEAD = """| case | ours | against | theirs | factor |
|---|---|---|---|---|"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that are named."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(PARTS)}")
    options.add_argument("--threads", type=int, default=2, help="of torch (default 2)")
    options.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    options.add_argument("--minutes", type=float, default=5.0, help="of each hunt (default 5)")
    options.add_argument(
        "--planted",
        action="append",
        default=[],
        metavar="NAME",
        choices=[*PLANTED, "all"],
        help="for hunt: an error of tests/mutation/planted.py, or all",
    )
    options.add_argument(
        "--true", type=int, default=0, metavar="N", help="for hunt: N of the right theory"
    )
    given = options.parse_args(arguments)
    if unknown := [name for name in given.names if name not in PARTS]:
        options.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if on_cuda(given.device) and not torch.cuda.is_available():
        options.error(f"no device {given.device}: torch finds no CUDA; use --device cpu")
    torch.set_num_threads(given.threads)
    print(machine(given.device, given.threads), HEAD, sep="\n\n")
    kept = True
    for name in given.names or ("three-steps", "recall"):
        for row in PARTS[name](given):
            print(row, flush=True)
            kept &= row.kept
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
