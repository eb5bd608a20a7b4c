"""Replicates until a verdict, and how often it errs: the engine against what is otherwise used.

The opponents have one look, planned by formula with a power of 0.9 in each of two worlds: SUPPORTED
where the theory is right, REFUTED where it is wrong by twice what the region allows.

References:
    W. Hoeffding, "Probability inequalities for sums of bounded random variables", J. Amer.
    Statist. Assoc. 58, 13 (1963), theorem 2.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import statsmodels.api as sm
from scipy import stats

import claims.papers  # noqa: F401  (adds the papers)
from recall_claims import (
    Budget,
    Cell,
    CriticalLocation,
    MeanDifference,
    ProportionDifference,
    Region,
    Sample,
    Verdict,
    claim,
    grid,
)
from recall_claims.certify.enumeration import rejection
from recall_claims.declare.papers import papers
from recall_claims.judge.looks import Blocks, Decision, Look, decide, ended, looks
from recall_claims.judge.methods import Array
from recall_claims.judge.region import EVERYTHING, Interval
from recall_claims.judge.rules import Predict, Rule
from tests.benchmarks.table import Row, Section, factor

ALPHA = Budget().per_claim(papers()["B"])
RUNS, POWER, FIRST = 100, 0.9, 16

SEPARATED = (0.06, 0.69, 0.99)
"""Success rates of a scan that is nearly separated."""
TOSSES, NOMINAL = 32, 6.5e-7
LAST = 64
"""The number of times TOSSES that a rung of the ladder has at its last look."""
LIKELY = 1e-7
"""Outcomes less probable than this are not fitted, and count as hits."""

NOTE = (
    "mean replicates of all cells until the verdict where the theory is right / wrong by twice "
    "what the region allows, in synthetic worlds; in brackets, the share of "
    f"{RUNS} runs with the right verdict. alpha is {ALPHA:.2g}, one claim's share of the error "
    "budget; an edge is passed at alpha to support and at half of it to refute. Ours: the engine's "
    f"looks from {FIRST} replicates a cell, with nothing planned. Theirs: one look, fixed "
    f"beforehand by formula at the fewest replicates of power {POWER} in both worlds, with a "
    "variance that a user would have to know. The t interval is the plain one, which is no "
    "guarantee at this alpha. Misses: probability that the interval for where a probit curve "
    "crosses one half misses the crossing, at rates of "
    f"{', '.join(map(str, SEPARATED))}; of a binomial GLM (statsmodels) with Wald's interval at "
    f"{TOSSES} replicates a point by enumeration of all outcomes, of the ladder an upper bound "
    f"over looks up to {TOSSES * LAST} a rung."
)


@dataclass(frozen=True, kw_only=True)
class World:
    """A rule and a grid, with replicates whose truth is known.

    Attributes:
        name: in words.
        rule: the decision rule.
        cells: its grid.
        draw: ``draw(rng, cell, count, truth)`` gives `count` replicates.
        predict: the theory's prediction.
        truths: where the theory is right, and wrong by twice what the region allows.
        deviation: of one replicate.
        margin: from the prediction to the region's edge, in units of the replicates.
        width: of the interval that bounds a replicate; None without bounds.
    """

    name: str
    rule: Rule
    cells: tuple[Cell, ...] = grid(dim=16)
    draw: Callable[[np.random.Generator, Cell, int, float], Array]
    predict: Predict
    truths: tuple[float, float]
    looks: int = 8
    deviation: float = math.nan
    margin: float = math.nan
    width: float | None = None

    def run(self, truth: float, rng: np.random.Generator) -> tuple[Verdict, int]:
        """One run of the engine: its verdict, and the replicates of all cells until then."""
        judged = claim(
            self.name,
            self.name,
            cells=self.cells,
            replicates=FIRST,
            looks=self.looks,
            rule=self.rule,
            predict=self.predict,
        )(lambda cell, block: None)
        level = self.rule.alpha_of_look(ALPHA, self.looks)

        def decided(evidence: tuple[Sample, ...], before: Decision | None) -> Decision:
            return decide(judged, evidence, level, before)

        def drawn(look: Look[Decision]) -> Blocks:
            return {
                cell: [{"value": self.draw(rng, cell, FIRST * len(blocks), truth)}]
                for cell, blocks in look.wanted.items()
            }

        last = ended(looks(self.cells, self.rule.looks_in_blocks(self.looks), decided), drawn)
        assert last.decision is not None  # a rule has at least one look
        return last.decision.verdict, sum(sample.replicates for sample in last.evidence)

    def planned(self, method: str) -> int:
        """Fewest replicates with the power, means being taken as normal.

        The mean is within the quantile of the power of the truth, and its interval's half width
        leads from there to the edge: on both sides of the region to support, on one to refute.
        """
        both, one = (float(stats.norm.isf(p)) for p in ((1 - POWER) / 2, 1 - POWER))

        def half(alpha: float) -> float:
            """The half width at one replicate."""
            if method == "t interval":
                return self.deviation * float(stats.norm.isf(alpha))
            assert self.width is not None
            return self.width * math.sqrt(math.log(1 / alpha) / 2)

        reach = max(half(ALPHA) + both * self.deviation, half(ALPHA / 2) + one * self.deviation)
        return math.ceil((reach / self.margin) ** 2)


def rates(deviation: float) -> World:
    """Success rates of mean 0.9 by a beta law; the theory allows 0.03."""
    concentration = 0.9 * 0.1 / deviation**2 - 1

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> Array:
        mean = 0.9 + truth
        return rng.beta(concentration * mean, concentration * (1 - mean), count)

    return World(
        name=f"Probability, rates of sd {deviation}",
        rule=ProportionDifference(Region.around(0.0, 0.03)),
        draw=draw,
        predict=lambda _: 0.9,
        truths=(0.0, -0.06),
        deviation=deviation,
        margin=0.03,
        width=1,
    )


WORLDS: Sequence[World] = (
    World(
        name="MeanDifference, normal",
        rule=MeanDifference(Region(-0.2, 0.2)),
        draw=lambda rng, cell, count, truth: rng.normal(1 + truth, 0.5, count),
        predict=lambda _: 1.0,
        truths=(0.0, 0.4),
        deviation=0.5,
        margin=0.2,
    ),
    World(
        name="Probability, coin of 0.5",
        rule=ProportionDifference(Region.around(0.0, 0.1)),
        draw=lambda rng, cell, count, truth: (rng.random(count) < 0.5 + truth).astype(float),
        predict=lambda _: 0.5,
        truths=(0.0, 0.2),
        deviation=0.5,
        margin=0.1,
        width=1,
    ),
    rates(0.13),
    rates(0.03),
    World(
        name="CriticalLocation, slope 2",
        rule=CriticalLocation(Region(0.8, 1.25)),
        cells=grid(samples=(790, 800, 1250, 1260)),
        draw=lambda rng, cell, count, truth: (
            rng.random(count) < stats.norm.cdf(2 * math.log(cell.number("samples") / 1000 / truth))
        ).astype(float),
        predict=lambda _: 1000.0,
        truths=(1.0, 0.6),
    ),
)


def section(worlds: Sequence[World] = WORLDS, runs: int = RUNS) -> Section:
    """The engine in each world against each method that applies, and misses of crossings."""
    rows: list[Row] = []
    for index, world in enumerate(worlds):
        rng = np.random.default_rng(index)
        found = [[world.run(truth, rng) for _ in range(runs)] for truth in world.truths]
        ours = [float(np.mean([replicates for _, replicates in each])) for each in found]
        right = [
            sum(verdict is wanted for verdict, _ in each) / runs
            for each, wanted in zip(found, (Verdict.SUPPORTED, Verdict.REFUTED), strict=True)
        ]
        text = f"{ours[0]:.0f} / {ours[1]:.0f} ({right[0]:.2f}, {right[1]:.2f})"
        methods = ["t interval"] * (world.margin > 0) + ["Hoeffding"] * (world.width is not None)
        for method in methods:
            planned = world.planned(method)
            times = " / ".join(factor(planned, mean) for mean in ours)
            rows.append(Row(world.name, text, method, str(planned), times))
        if not methods:
            rows.append(Row(world.name, text, "–", "–", "–"))
    return Section("samples", (*rows, *misses()), NOTE)


def misses() -> Iterator[Row]:
    """How often crossings are missed at NOMINAL."""
    counts = [TOSSES * 2**look for look in range(LAST.bit_length())]
    ladder = ladder_misses(SEPARATED, counts, NOMINAL)
    for words, covariance in {"errors of the model": "nonrobust", "robust errors": "HC1"}.items():
        yield Row(
            f"CriticalLocation, misses at {NOMINAL:.2g}",
            f"< {max(ladder, 1e-12):.0e}",
            f"probit fit, {words}",
            f"{fit_misses(SEPARATED, TOSSES, NOMINAL, covariance):.1e}",
            "–",
        )


def fitted(
    logs: Array, successes: Sequence[int], tosses: int, alpha: float, covariance: str
) -> Interval:
    """Wald's interval for where a probit curve crosses one half, in the logarithm of the samples.

    Args:
        logs: logarithms of the samples, one per point of the scan.
        successes: at each point.
        tosses: at each point.
        alpha: at which the interval should miss.
        covariance: "nonrobust", or "HC1", which is asked for where replicates are success rates.
    """
    outcomes = np.concatenate([np.arange(tosses) < count for count in successes]).astype(float)
    design = sm.add_constant(np.repeat(logs, tosses))
    family = sm.families.Binomial(link=sm.families.links.Probit())
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of which a user would see those of separated data
        try:
            fit = sm.GLM(outcomes, design, family=family).fit(cov_type=covariance)
            intercept, slope = fit.params
            estimate = -intercept / slope
            gradient = np.array([-1.0, -estimate]) / slope
            error = math.sqrt(gradient @ fit.cov_params() @ gradient)
        except (np.linalg.LinAlgError, ValueError):
            return EVERYTHING
    if not (math.isfinite(estimate) and math.isfinite(error)):
        return EVERYTHING
    reach = float(stats.norm.isf(alpha / 2)) * error
    return Interval(float(estimate) - reach, float(estimate) + reach)


def fit_misses(rates: Sequence[float], tosses: int, alpha: float, covariance: str) -> float:
    """Probability that the fit's interval misses the crossing, by enumeration of all outcomes.

    Args:
        rates: success rates of a probit curve at the points of a scan.
        tosses, alpha, covariance: as for `fitted`.
    """
    logs = stats.norm.ppf(rates)  # any other slope gives the same intervals, scaled
    found = 0.0
    for successes, probability in outcomes(rates, tosses).items():
        interval = fitted(logs, successes, tosses, alpha, covariance)
        found += probability * (not interval.low <= 0 <= interval.high)
    return found


def outcomes(rates: Sequence[float], tosses: int) -> Mapping[tuple[int, ...], float]:
    """Probabilities of the successes at each point, but those that are not LIKELY."""
    laws = [stats.binom.pmf(np.arange(tosses + 1), tosses, rate) for rate in rates]
    found = {
        successes: math.prod(law[k] for law, k in zip(laws, successes, strict=True))
        for successes in itertools.product(range(tosses + 1), repeat=len(rates))
    }
    return {successes: float(p) for successes, p in found.items() if p > LIKELY}


def ladder_misses(rates: Sequence[float], counts: Sequence[int], alpha: float) -> float:
    """At most the probability that a ladder's bracket ever misses the crossing of one half.

    Each end is tested at alpha / 2, from the outermost rung inwards: it misses when all rungs up to
    the first beyond the crossing are shown to be before it.

    Args:
        rates: at the rungs, rising.
        counts: replicates of every rung at each look, growing.
        alpha: of both ends together.
    """
    below = [rejection(1 - rate, 0.5, alpha / 2, counts) for rate in rates]
    above = [rejection(rate, 0.5, alpha / 2, counts) for rate in rates]
    first = sum(rate < 0.5 for rate in rates)  # the first rung beyond
    return math.prod(below[: first + 1]) + math.prod(above[first - 1 :])
