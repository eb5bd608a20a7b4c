"""Measure everything that a GPU should show, in ten minutes.

    python -m tests.benchmarks.kit --device cuda --into FILE

FILE keeps the results of each step, so that the same command continues after an interruption; the
table is printed at the end. The exit status is 1 if a promise is broken, 2 if the minutes were not
enough for all steps, else 0. With `--device cpu` a CPU replaces the card.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from recall_claims import Claim
from recall_claims.evidence import replay
from recall_claims.evidence.simulate import full_precision
from simulation.attention import sampling, three_steps
from tests.benchmarks import device as budgets
from tests.benchmarks import speed
from tests.every_claim import imported, lowest, simulated

QUICK = 100
"""Kernels of a block that the kit simulates on both devices."""
MOST_DRAWING = 0.1
"""Largest share of the time of three steps for draws on the host, above which they should move."""
HEAD = "| step | case | found | promised | kept |\n|---|---|---|---|---|"


@dataclass(frozen=True)
class Finding:
    """A finding: a line of the table."""

    case: str
    found: str
    promised: str
    kept: bool

    def __str__(self) -> str:
        return f"{self.case} | {self.found} | {self.promised} | {'yes' if self.kept else 'NO'} |"


def quick() -> Iterator[Claim]:
    """Claims with few kernels, to run on both devices."""
    for name, (kernels, _) in budgets.recorded().items():
        if 0 < kernels < QUICK:
            yield imported()[name]


def block(claim: Claim, place: str) -> replay.Figures:
    """Figures of two replicates of a claim's first cell."""
    return simulated(claim, lowest(claim)[0], (0, 1), place)


def same_figures(place: str) -> Iterator[Finding]:
    """Compare the figures of both devices."""
    full_precision()
    claims = list(quick())
    other = [c.id for c in claims if replay.differing(c, block(c, "cpu"), (0, 1), block(c, place))]
    found = ", ".join(other) or "the same"
    yield Finding(f"figures of {len(claims)} claims on {place} and cpu", found, "same", not other)


def waiting(place: str) -> Iterator[Finding]:
    """Compare the copies and waits that CUDA reports with the counts of the pretended GPU."""
    more = []
    claims = list(quick()) if speed.on_cuda(place) else []
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
    yield Finding(f"waits of {len(claims)} claims", found, "as counted in name", not more)


def drawing(place: str) -> Iterator[Finding]:
    """Time the draws for three steps, and the steps."""

    def draw() -> sampling.Batch:
        rngs = [np.random.default_rng(index) for index in range(16)]
        V, N, L, d = sizes
        return sampling.draw(
            rngs, vocab_size=V, samples=N, length=L, dim=d, device=place, dtype=torch.float32
        )

    for sizes in speed.STEPS:
        batch = draw()

        def steps(batch: sampling.Batch = batch) -> None:
            three_steps.trained_memory(
                batch, three_steps.attend(batch, three_steps.token_scores(batch))
            )

        drawn, worked = speed.in_turns((draw, steps), place)
        share = drawn / (drawn + worked)
        case = "share of draws in three steps, V, N, L, d = " + ", ".join(map(str, sizes))
        kept = share <= MOST_DRAWING or not speed.on_cuda(place)
        yield Finding(case, f"{share:.2f}", f"at most {MOST_DRAWING}", kept)


def against_torch(place: str) -> Iterator[Finding]:
    """Compare three steps and recall, also at a language model's sizes, with plain torch."""
    rows = [*speed.steps(place), *speed.recall(place)]
    if speed.on_cuda(place):
        rows += speed.language_model(place)
    for row in rows:
        factor = row.theirs / row.ours
        promised = f"{row.promised:g} times {row.against}" if row.promised else "-"
        yield Finding(row.case, f"{row.ours:.3g} ms, {factor:.3g}", promised, row.kept)


def tier(place: str) -> Iterator[Finding]:
    """Run a slice of the standard tier."""
    options = ("--tier", "standard", "--device", place, "--time-limit", "3m", "-q")
    done = subprocess.run([sys.executable, "-m", "pytest", "claims/", *options], check=False)
    case, status = "three minutes of the standard tier", done.returncode
    yield Finding(case, f"exit status {status}", "0, or 2 when cut off", status in (0, 2))


STEPS: Mapping[str, Callable[[str], Iterator[Finding]]] = {
    "waits": waiting,
    "figures": same_figures,
    "draws": drawing,
    "speed": against_torch,
    "tier": tier,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the steps that are not in FILE yet, and print all steps."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.kit", description=__doc__)
    options.add_argument("--device", default="cuda", help="cuda (default), or cpu in its place")
    options.add_argument("--into", type=Path, default=Path("kit.json"), metavar="FILE")
    options.add_argument("--minutes", type=float, default=10.0, help="when no step is begun")
    given = options.parse_args(arguments)
    if speed.on_cuda(given.device) and not torch.cuda.is_available():
        options.error(f"no device {given.device}: torch finds no CUDA; use --device cpu")
    where = speed.machine(given.device)
    kept: dict[str, Any] = {"where": where}
    if given.into.exists():
        kept = json.loads(given.into.read_text())
    if kept["where"] != where:
        options.error(f"{given.into} is of another machine: {kept['where']}; name another --into")
    end = time.monotonic() + 60 * given.minutes
    for name, step in STEPS.items():
        if name not in kept and time.monotonic() < end:
            kept[name] = [asdict(finding) for finding in step(given.device)]
            given.into.write_text(json.dumps(kept, indent=1) + "\n")
    found = [(name, Finding(**each)) for name in STEPS for each in kept.get(name, ())]
    print(where, HEAD, *(f"| {name} | {finding}" for name, finding in found), sep="\n")
    if not all(finding.kept for _, finding in found):
        return 1
    return 0 if STEPS.keys() <= kept.keys() else 2


if __name__ == "__main__":
    sys.exit(main())
