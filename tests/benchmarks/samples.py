"""Replicates until a verdict: the engine against what is otherwise used.

The opponents have one look, planned by formula with a power of 0.9 in each of two worlds: SUPPORTED
where the theory is right, REFUTED where it is wrong by twice what the region allows. How often a
probit fit misses a crossing, and wider comparisons, were measured once and stand in RESULTS.md.

References:
    W. Hoeffding, "Probability inequalities for sums of bounded random variables", J. Amer.
    Statist. Assoc. 58, 13 (1963), theorem 2.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

import claims.papers  # noqa: F401  (adds the papers)
import recall_claims as rc
from recall_claims.declare.papers import papers
from recall_claims.judge.looks import Blocks, Decision, Look, decide, ended, looks
from recall_claims.judge.methods import Array
from recall_claims.judge.rules import Rule
from tests.benchmarks.table import Row, Section, factor

ALPHA = rc.Budget().per_claim(papers()["B"])
RUNS, POWER, FIRST, LOOKS = 100, 0.9, 16, 8
CELLS = rc.grid(dim=16)

NOTE = (
    "mean replicates until the verdict where the theory is right / wrong by twice what the region "
    f"allows, in synthetic worlds; in brackets, the share of {RUNS} runs with the right verdict. "
    f"alpha is {ALPHA:.2g}, one claim's share of the error budget; an edge is passed at alpha to "
    f"support and at half of it to refute. Ours: the engine's looks from {FIRST} replicates, with "
    "nothing planned. Theirs: one look, fixed beforehand by formula at the fewest replicates of "
    f"power {POWER} in both worlds, with a variance that a user would have to know. The t interval "
    "is the plain one, which is no guarantee at this alpha."
)


@dataclass(frozen=True, kw_only=True)
class World:
    """A rule, with replicates whose truth is known.

    Attributes:
        name: in words.
        rule: the decision rule.
        draw: ``draw(rng, count, off)`` gives `count` replicates of a mean that is off by so much.
        mean: the theory's prediction.
        deviation: of one replicate.
        margin: from the prediction to the region's edge; the wrong theory is off by twice that.
        bounded: whether replicates lie between 0 and 1.
    """

    name: str
    rule: Rule
    draw: Callable[[np.random.Generator, int, float], Array]
    mean: float
    deviation: float
    margin: float
    bounded: bool = True

    @property
    def offs(self) -> tuple[float, float]:
        """By how much the theory is wrong."""
        return 0.0, 2 * self.margin * (-1 if self.mean == 0.9 else 1)  # a rate of 0.9 can but fall

    def run(self, off: float, rng: np.random.Generator) -> tuple[rc.Verdict, int]:
        """One run of the engine: its verdict, and the replicates until then."""
        judged = rc.claim(
            self.name,
            self.name,
            cells=CELLS,
            replicates=FIRST,
            looks=LOOKS,
            rule=self.rule,
            predict=lambda _: self.mean,
        )(lambda cell, block: None)
        level = self.rule.alpha_of_look(ALPHA, LOOKS)

        def decided(evidence: tuple[rc.Sample, ...], before: Decision | None) -> Decision:
            return decide(judged, evidence, level, before)

        def drawn(look: Look[Decision]) -> Blocks:
            return {
                cell: [{"value": self.draw(rng, FIRST * len(blocks), off)}]
                for cell, blocks in look.wanted.items()
            }

        last = ended(looks(CELLS, self.rule.looks_in_blocks(LOOKS), decided), drawn)
        assert last.decision is not None  # a rule has at least one look
        return last.decision.verdict, last.evidence[0].replicates

    def half_width(self, method: str, alpha: float) -> float:
        """Of an interval at one replicate."""
        if method == "t interval":
            return self.deviation * float(stats.norm.isf(alpha))
        return math.sqrt(math.log(1 / alpha) / 2)

    def planned(self, method: str, alpha: float = ALPHA) -> int:
        """Fewest replicates with the power, means being taken as normal.

        The mean is within the quantile of the power of the truth, and its interval's half width
        leads from there to the edge: on both sides of the region to support, on one to refute.
        """
        both, one = (float(stats.norm.isf(p)) for p in ((1 - POWER) / 2, 1 - POWER))
        support = self.half_width(method, alpha) + both * self.deviation
        refute = self.half_width(method, alpha / 2) + one * self.deviation
        return math.ceil((max(support, refute) / self.margin) ** 2)


def rates(deviation: float) -> World:
    """Success rates of mean 0.9 by a beta law; the theory allows 0.03."""
    concentration = 0.9 * 0.1 / deviation**2 - 1

    def draw(rng: np.random.Generator, count: int, off: float) -> Array:
        mean = 0.9 + off
        return rng.beta(concentration * mean, concentration * (1 - mean), count)

    return World(
        name=f"Probability, rates of sd {deviation}",
        rule=rc.ProportionDifference(rc.Region.around(0.0, 0.03)),
        draw=draw,
        mean=0.9,
        deviation=deviation,
        margin=0.03,
    )


WORLDS: Sequence[World] = (
    World(
        name="MeanDifference, normal",
        rule=rc.MeanDifference(rc.Region(-0.2, 0.2)),
        draw=lambda rng, count, off: rng.normal(1 + off, 0.5, count),
        mean=1.0,
        deviation=0.5,
        margin=0.2,
        bounded=False,
    ),
    World(
        name="Probability, coin of 0.5",
        rule=rc.ProportionDifference(rc.Region.around(0.0, 0.1)),
        draw=lambda rng, count, off: (rng.random(count) < 0.5 + off).astype(float),
        mean=0.5,
        deviation=0.5,
        margin=0.1,
    ),
    rates(0.13),
    rates(0.03),
)


def section(runs: int = RUNS) -> Section:
    """The engine in each world against each method that applies."""
    rows = []
    for index, world in enumerate(WORLDS):
        rng = np.random.default_rng(index)
        found = [[world.run(off, rng) for _ in range(runs)] for off in world.offs]
        ours = [float(np.mean([replicates for _, replicates in each])) for each in found]
        right = [
            sum(verdict is wanted for verdict, _ in each) / runs
            for each, wanted in zip(found, (rc.Verdict.SUPPORTED, rc.Verdict.REFUTED), strict=True)
        ]
        text = f"{ours[0]:.0f} / {ours[1]:.0f} ({right[0]:.2f}, {right[1]:.2f})"
        for method in ("t interval", "Hoeffding")[: 1 + world.bounded]:
            planned = world.planned(method)
            times = " / ".join(factor(planned, mean) for mean in ours)
            rows.append(Row(world.name, text, method, str(planned), times))
    return Section("samples", tuple(rows), NOTE)
