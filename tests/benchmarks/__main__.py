"""Measure speed and, with `--device cuda`, everything else that a GPU should show, in ten minutes.

Each row is printed as soon as it is measured. After an interruption, run the command again with the
names of the parts that are left.
The exit status is 1 if a promise is broken.
"""

import argparse
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import torch

from recall_claims import Claim
from recall_claims.evidence import replay
from recall_claims.evidence.simulate import full_precision
from tests.benchmarks import device as budgets
from tests.benchmarks import speed
from tests.benchmarks.speed import Row, on_cuda
from tests.every_claim import imported, lowest, simulated

QUICK = 100
"""Number of kernels below which a block is simulated on both devices."""
HEAD = "| case | found | promised | kept |\n|---|---|---|---|"


def quick() -> Iterator[Claim]:
    """Yield claims with few kernels, to run on both devices."""
    for name, (kernels, _) in budgets.recorded().items():
        if 0 < kernels < QUICK:
            yield imported()[name]


def block(claim: Claim, place: str) -> replay.Figures:
    """Return the figures of two replicates of a claim's first cell in its lowest tier."""
    return simulated(claim, lowest(claim)[0], (0, 1), place)


def same_figures(place: str) -> Iterator[Row]:
    """Compare the figures of both devices."""
    full_precision()
    claims = list(quick())
    other = [c.id for c in claims if replay.differing(c, block(c, "cpu"), (0, 1), block(c, place))]
    found = ", ".join(other) or "the same"
    yield Row(f"figures of {len(claims)} claims on {place} and cpu", found, "the same", not other)


def waiting(place: str) -> Iterator[Row]:
    """Compare the copies and waits that CUDA reports with the counts of the pretended GPU."""
    more = []
    claims = list(quick()) if on_cuda(place) else []
    for claim in claims:
        expected = budgets.counted(claim).once
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            block(claim, place)
            torch.cuda.set_sync_debug_mode("default")
        seen = sum("synchroniz" in str(warning.message) for warning in caught)
        if seen > expected.uploads + expected.synchronisations:
            more.append(f"{claim.id} ({seen})")
    found = ", ".join(more) or "no more"
    yield Row(f"waits of {len(claims)} claims", found, "no more than on a pretended GPU", not more)


def tier(place: str) -> Iterator[Row]:
    """Run a slice of the standard tier."""
    options = ("--tier", "standard", "--device", place, "--time-limit", "3m", "-q")
    status = subprocess.run([sys.executable, "-m", "pytest", "claims/", *options]).returncode
    case = "three minutes of the standard tier"
    yield Row(case, f"exit status {status}", "0, or 2 when cut off", status in (0, 2))


PARTS: Mapping[str, Callable[[str], Iterable[Row]]] = {
    "waits": waiting,
    "figures": same_figures,
    "draws": speed.drawing,
    "three-steps": speed.steps,
    "recall": speed.recall,
    "training": speed.training,
    "language-model": speed.language_model,
    "tier": tier,
}
ON_CPU = ("three-steps", "recall", "training")
"""Parts that are measured on a CPU if none is named; on CUDA all are."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the rows of the named parts; return 1 if a promise is broken, else 0."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(PARTS)}")
    options.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    given = options.parse_args(arguments)
    if unknown := [name for name in given.names if name not in PARTS]:
        options.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if on_cuda(given.device) and not torch.cuda.is_available():
        options.error(f"no device {given.device}: torch finds no CUDA; use --device cpu")
    torch.set_num_threads(2)
    print(speed.machine(given.device), HEAD, sep="\n\n")
    kept = True
    for name in given.names or (PARTS if on_cuda(given.device) else ON_CPU):
        for row in PARTS[name](given.device):
            print(row, flush=True)
            kept &= row.kept
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
