"""Counts of how often the simulation of each claim would make a GPU wait, made without one.

    python -m tests.benchmarks.device > tests/benchmarks/DEVICE.md

Names of claims print their rows alone. Two replicates of a claim's first cell in its lowest tier
are simulated on a GPU in name only, and the same two twice in one block. An operation that is then
counted more often is done for each replicate.
"""

import sys
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

from recall_claims import Claim
from recall_claims.evidence.block import BlockKey
from recall_claims.evidence.replay import Figures
from recall_claims.evidence.simulate import Task, again, full_precision
from tests.every_claim import SLOW, imported, lowest
from tests.pretended import Count, pretended_gpu

UPLOADS, DOWNLOADS, LOOKS = 3, 1, 1
"""The budget of a block, for `KERNELS` kernels and again for as many more."""
KERNELS = 320
"""Kernels in 32 steps of an iteration, each of at least ten."""
GROWTH = 1.05
"""Factor between two counts that are the same: larger batches round otherwise, and training that
stops when it is good enough then takes a few steps more."""
TABLE = f"""# What a GPU would wait for

    python -m tests.benchmarks.device > tests/benchmarks/DEVICE.md

Counted on the CPU, in a block of two replicates of the claim's cheapest tier: copies to the GPU and
back, synchronisations (all that the host waits for, downloads included) and kernels. The budget is
{UPLOADS} uploads, {DOWNLOADS} download and {LOOKS} synchronisation, and as much again for every
{KERNELS} kernels; nothing may grow with the replicates. What is over budget has its reason in
`tests/benchmarks/device.py`.

| claim | uploads | downloads | synchronisations | kernels | over budget |
|---|---|---|---|---|---|"""

OVER: Mapping[str, str] = {
    "each table of draws is copied to the GPU by itself": """
        A.beyond-soft-attention-sharp A.beyond-soft-attention-blunt A.beyond-fresh-batch
        A.beyond-two-heads A.beyond-two-layers A.beyond-two-layers-large-step
        A.beyond-learned-embeddings A.beyond-learned-embeddings-much A.beyond-zipf-tokens
        A.beyond-long-sequences A.beyond-correlated-embeddings A.beyond-quiet-trigger
        A.beyond-no-trigger A.capacity-samples A.capacity-vocabulary A.capacity-length
        A.capacity-dimension A.critical-samples A.critical-samples-short-sequences
        A.critical-samples-medium-sequences A.critical-samples-long-sequences
        A.press-samples-dim-length A.accuracy A.accuracy-product A.localisation
        A.localisation-trigger-in-values A.noise-constants A.noise-total A.trigger-noise
        A.noise-T-scaling A.noise-A-scaling A.noise-B-scaling A.noise-C-scaling
        A.noise-D-scaling A.noise-E-scaling A.noise-H-scaling A.noise-C2-scaling
        A.noise-F-scaling A.orthonormal-dimension-free A.recall-accuracy A.recall-variants
        A.recall-gaussian A.recall-threshold A.recall-threshold-closed-form
        A.recall-threshold-asymptotic A.recall-threshold-exponent A.recall-all-tokens
        A.recall-all-tokens-threshold A.score-law A.trigger-signal A.trigger-signal-scaling
        A.centring-curves A.centring-critical-samples A.centring-helps A.mlp-signal
        A.mlp-weight-mean-bias A.mlp-bias-exponents A.mlp-finite-width
        A.mlp-critical-samples A.mlp-design-slope A.mlp-design-offset A.mlp-design-linear
        A.phase-diagram A.length-tradeoff A.mlp-recall A.mlp-recall-heavy-tails
        A.mlp-capacity A.mlp-offset-cost A.mlp-required-width A.bayes-ceiling A.ceiling
        A.ceiling-factor A.matched-filter A.linear-mmse A.gradient-samples
        A.gradient-product A.gradient-dim A.gradient-information A.sample-information
    """,
    "replicates are worked at one after another": """
        A.early-phase-limit A.early-phase-path A.early-phase-step-size
        A.early-phase-sharpness A.value-gradient A.attention-step B.attention-selective
        B.attention-focus B.attention-length B.attention-accuracy B.attention-threshold
        B.attention-parameters B.beyond-overlapping-embeddings B.beyond-eight-bits
        B.beyond-four-bits B.mlp-threshold B.compressed-values B.values-for-width
        B.factual-guess-by-relation A.exact-arithmetic A.one-step-decoding-large-vocabulary
        A.width-linear-directions A.width-pays-late G.hebbian-mlp-accuracy
        G.hebbian-mlp-margin G.hebbian-mlp-width G.hebbian-mlp-bits
        B.bits-quantised-accuracy B.bits-quantised-loss B.bits-per-parameter
        B.recall-law-large-vocabulary B.mlp-memory-accuracy B.mlp-memory-width
        B.mlp-memory-few-outputs B.mlp-memory-capacity B.mlp-memory-asymptotic
        B.relu-memory-capacity B.relu-memory-floor B.relu-memory-projection
        B.trained-memory-capacity G.superposed-facts G.superposed-accuracy
        C.zipf-cutoff-error C.zipf-cutoff-exponent C.zipf-power-error C.zipf-power-exponent
        C.zipf-power-exponent-p C.zipf-schemes C.zipf-own-labels-error C.zipf-finite-data
        C.zipf-samples C.zipf-samples-exponent G.zipf-best-cutoff E.one-step-gradient
        E.one-step-spectral E.one-step-newton E.spectral-beats-gradient
        E.spectral-like-newton E.spectral-exponent E.spectral-exponent-steep
        E.gradient-exponent-literal E.batch-gradient E.batch-spectral E.critical-batch
        E.batch-saturation E.batch-overshoot E.several-steps-first E.several-steps-end
        E.several-steps-limit E.several-steps-count E.second-step-exponent
        E.several-steps-loss E.beyond-thresholded F.sign-given-basis
    """,
    "whether an iteration is done is looked at after each step": """
        C.listwise-capacity C.listwise-load C.necessary-constant C.optimal-capacity
        C.decoupled-capacity C.decoupled-transition C.optimal-capacity-asymptote
        G.optimal-level G.optimal-spread G.beyond-equal-spectra
    """,
    "a decomposition waits for its own convergence, or a step for its draws": """
        D.beyond-batches-decay D.spectral-decay D.spectral-ratio D.spectral-precision
        F.beyond-momentum F.beyond-random-embeddings F.beyond-batches
        F.beyond-batches-momentum F.muon-many F.muon-horizon F.muon-loss F.muon-frequencies
        F.polar-factor F.muon-floor F.muon-floor-exponent
    """,
    "values are read one by one": """
        A.same-on-every-device
    """,
}
"""Claims over budget, by reason; the list may only get shorter."""


@dataclass(frozen=True)
class Row:
    """Counts of a block, and of one with each replicate twice, with their figures."""

    claim: str
    once: Count
    twice: Count
    figures: tuple[Figures, Figures]

    @property
    def over(self) -> list[str]:
        """List what is over budget: the names of counts, and `growth`."""
        once = self.once
        more = 1 + once.kernels // KERNELS
        budget = {"uploads": UPLOADS, "downloads": DOWNLOADS, "synchronisations": LOOKS}
        found = [name for name, least in budget.items() if getattr(once, name) > least * more]
        pairs = zip(astuple(once), astuple(self.twice), strict=True)
        return found + ["growth"] * any(more > GROWTH * count for count, more in pairs)

    def __str__(self) -> str:
        """A line of a Markdown table."""
        once = self.once
        counts = (once.uploads, once.downloads, once.synchronisations, once.kernels)
        return " | ".join(
            (f"| {self.claim}", *(f"{n:,}" for n in counts), ", ".join(self.over), "")
        )


def counted(claim: Claim) -> Row:
    """The counts of one claim, and its figures on a GPU in name only."""
    cell = lowest(claim)[0]
    full_precision()
    found = []
    for places in ((0, 1), (0, 1, 0, 1)):
        key = BlockKey(claim.id, "", cell.id, 1000, 0, 2, claim.dtype, "cuda", "", "")
        with pretended_gpu() as count:
            figures = again(claim, Task(claim.module, cell, "cuda", key), places)
        assert figures is not None
        found.append((count, figures))
    (once, first), (twice, second) = found
    return Row(claim.id, once, twice, (first, second))


def recorded() -> dict[str, tuple[int, list[str]]]:
    """Read, by claim, the kernels and what is over budget from the table."""
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
