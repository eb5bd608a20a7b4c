"""Count, without a GPU, the operations of each claim's simulation for which a GPU would wait.

    python -m tests.benchmarks.device > tests/benchmarks/DEVICE.md

The table has the rows of named claims or, without names, of all claims but `SLOW`. Two
replicates of a claim's first cell in its lowest tier are simulated on a pretended GPU, and then
both twice in one block. An operation with a larger count in this block runs once per replicate.
"""

import sys
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

from recall_claims import Claim
from recall_claims.evidence.replay import Figures
from recall_claims.evidence.simulate import full_precision
from tests.every_claim import SLOW, imported, lowest, simulated
from tests.pretended import Count, pretended_gpu

UPLOADS, DOWNLOADS, LOOKS = 3, 1, 1
"""Most uploads, downloads and synchronisations of a block with fewer than `KERNELS` kernels. Every
further `KERNELS` kernels allow as many again."""
KERNELS = 320
"""Kernels in 32 steps of an iteration, each of at least ten."""
GROWTH = 1.05
"""Largest factor between counts that pass as equal: larger batches round differently, so training
that stops at a target may take a few more steps.
"""
TABLE = f"""# What a GPU would wait for

    python -m tests.benchmarks.device > tests/benchmarks/DEVICE.md

The table counts copies to the GPU and back, synchronisations (waits of the host, downloads
included) and kernels. It counts them on the CPU, in a block of two replicates of the claim's
cheapest tier. The budget is
{UPLOADS} uploads, {DOWNLOADS} download and {LOOKS} synchronisation, and as much again for every
{KERNELS} kernels; nothing may grow with the replicates. `tests/benchmarks/device.py`
gives the reason for each claim over budget.

| claim | uploads | downloads | synchronisations | kernels | over budget |
|---|---|---|---|---|---|"""

OVER: Mapping[str, str] = {
    "several memories in a block, each with draws of its own": """
        B.relu-memory-projection G.zipf-best-cutoff
    """,
    "an oracle, a tile or training takes one replicate at a time": """
        A.one-step-decoding-large-vocabulary B.recall-law-large-vocabulary
        B.trained-memory-capacity F.sign-given-basis F.beyond-two-bases
    """,
    "singular values are the estimand, and a decomposition waits for its own convergence": """
        A.width-linear-directions A.width-pays-late
    """,
}
"""Claims over budget, by reason; the list may only get shorter."""


@dataclass(frozen=True)
class Row:
    """Counts and figures of a block, and of the block with each replicate twice."""

    claim: str
    once: Count
    twice: Count
    figures: tuple[Figures, Figures]

    @property
    def over(self) -> list[str]:
        """List exceeded budgets: names of counts, and `growth`."""
        once = self.once
        more = 1 + once.kernels // KERNELS
        budget = {"uploads": UPLOADS, "downloads": DOWNLOADS, "synchronisations": LOOKS}
        found = [name for name, least in budget.items() if getattr(once, name) > least * more]
        pairs = zip(astuple(once), astuple(self.twice), strict=True)
        return found + ["growth"] * any(more > GROWTH * count for count, more in pairs)

    def __str__(self) -> str:
        """Format the row as a line of a Markdown table."""
        once = self.once
        counts = (once.uploads, once.downloads, once.synchronisations, once.kernels)
        return " | ".join(
            (f"| {self.claim}", *(f"{n:,}" for n in counts), ", ".join(self.over), "")
        )


def counted(claim: Claim) -> Row:
    """Count the operations of a claim; return the counts, and the figures on a pretended GPU."""
    cell = lowest(claim)[0]
    full_precision()
    found = []
    for places in ((0, 1), (0, 1, 0, 1)):
        with pretended_gpu() as count:
            figures = simulated(claim, cell, places, "cuda")
        found.append((count, figures))
    (once, first), (twice, second) = found
    return Row(claim.id, once, twice, (first, second))


def recorded() -> dict[str, tuple[int, list[str]]]:
    """Read the kernels and the exceeded budgets of each claim from the table."""
    lines = (Path(__file__).parent / "DEVICE.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line][2:]
    return {
        name: (int(kernels.replace(",", "")), over.split(", ") if over else [])
        for name, _, _, _, kernels, over in rows
    }


if __name__ == "__main__":
    print(TABLE)
    for each in imported().values():
        if each.id in (sys.argv[1:] or imported().keys() - {*SLOW}):
            print(counted(each), flush=True)
