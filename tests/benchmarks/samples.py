"""Replicates until a verdict: claims as the engine runs them, against designs with one look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

import claims.papers  # noqa: F401  (adds the papers)
from recall_claims import Budget, Verdict
from recall_claims.declare.papers import papers
from tests.benchmarks import fixed_n, planning, probit, skewed
from tests.benchmarks.cases import CASES, SKEWED
from tests.benchmarks.planning import POWER
from tests.benchmarks.table import Row, Section, factor
from tests.benchmarks.worlds import (
    POPULATION,
    Design,
    Engine,
    OneLook,
    ReadyMade,
    Run,
    bounded,
    runs_of,
)
from tests.calibration.pools import pool

ALPHA = Budget().per_claim(papers()["B"])
RUNS = 100

OPPONENTS: Mapping[str, Sequence[str]] = {
    "MeanRatio, normal": ("t interval", "DKWM"),
    "MeanDifference, skewness 1.75": ("t interval", "DKWM"),
    "OneSided, skewness 1.75": ("t interval", "DKWM"),
    "Ordering, normal": ("t interval", "DKWM"),
    "Probability, coin of 0.5": ("exact binomial", "Hoeffding"),
    "Probability, coin of 0.98": ("exact binomial", "Hoeffding"),
    "Probability, rates of sd 0.13": ("t interval", "DKWM"),
    "Probability, rates of sd 0.03": ("t interval", "DKWM"),
    "CriticalLocation, slope 2": ("probit fit",),
    "CriticalLocation, slope 9": ("probit fit",),
}
"""Of zeros and ones, DKWM's interval is Hoeffding's; elsewhere it is never wider."""

SEPARATED = (0.06, 0.69, 0.99)
"""Success rates of a scan that is nearly separated."""
STEEP = "CriticalLocation, slope 9"
TOSSES = 32
NOMINAL = 6.5e-7
LOOKS = (1, 2, 4, 8, 16, 32, 64)

NOTE = (
    "mean replicates of all cells until the verdict where the theory is right / wrong by twice "
    "what the region allows / by four times, in synthetic worlds; in brackets, the share of "
    f"{RUNS} runs with the right verdict in the first two. alpha is {ALPHA:.2g}, one claim's share "
    "of the error budget; an edge is passed at alpha to support and at alpha / (2 J) to refute, by "
    "both sides. Ours: the engine's looks from 16 replicates a cell, with nothing planned (64 for "
    f"the coin of 0.98, and {SKEWED} at a skewness of 1.75, from where on t rules are certified); "
    "runs without a verdict count in full. Theirs: one look, fixed beforehand at the fewest "
    f"replicates of power {POWER} by formula from the true variances, which a user would have to "
    "know. Ours is exact at every look for probabilities and critical values, and the looks of t "
    "rules share alpha. The t interval is the plain one, which is no guarantee: the row of misses "
    "has the probability that its upper end misses the skewed mean, at the replicates of its plan, "
    f"in {skewed.RUNS} runs, and ours over all looks, by importance sampling. At a mean of 0.9 no "
    "exact test passes an edge at 0.87 before 368 replicates, whatever the variance: that is what "
    "rates of small variance pay. DKWM and Hoeffding need "
    f"bounds: [0, 1] for probabilities, else the range of {POPULATION} draws, which nobody knows "
    "beforehand. TFP is what TensorFlow Probability's planner asks for, which knows bounds and no "
    "variance. CriticalLocation: a ladder of 4 rungs at the region's edges against a probit GLM "
    "(statsmodels) with Wald's interval on 3 points where the theory has the transition; of the "
    f"steep curve with {TOSSES} a point, for there the formula is wrong, and where the theory is "
    "wrong the scan is separated and the fit says nothing. Misses: probability that the interval "
    "for the crossing misses it, for a probit curve with rates of "
    f"{', '.join(map(str, SEPARATED))}; of the fit at {TOSSES} replicates a point by enumeration "
    "of all outcomes, of the ladder an upper bound over looks up to "
    f"{TOSSES * LOOKS[-1]} a rung."
)


@dataclass(frozen=True)
class Found:
    """What a design took and how often it was right.

    Attributes:
        replicates: mean number in the worlds right, wrong and far.
        supported: how often the theory was, where it is right.
        refuted: how often it was, where it is wrong.
    """

    replicates: tuple[float, ...]
    supported: float
    refuted: float

    @property
    def shares(self) -> str:
        """Of right verdicts."""
        return f"({self.supported:.2f}, {self.refuted:.2f})"


def found_of(design: Design, runs: int, executor: Executor) -> Found:
    """A design in the three worlds of its case."""
    worlds = [runs_of(design, truth, runs, executor) for truth in CASES[design.name].truths]
    return Found(
        tuple(float(np.mean([run.replicates for run in world])) for world in worlds),
        share_of(Verdict.SUPPORTED, worlds[0]),
        share_of(Verdict.REFUTED, worlds[1]),
    )


def share_of(verdict: Verdict, runs: Sequence[Run]) -> float:
    """Share of runs with the verdict."""
    return sum(run.verdict is verdict for run in runs) / len(runs)


def opponent(name: str, method: str) -> tuple[Design, str]:
    """The design with the power; and what TFP's planner asks for, in words, if it has one."""
    if method == "probit fit":
        # At a steep curve no plan by formula is right: there, as many as suites take.
        tosses = TOSSES if name == STEEP else probit.planned(name, ALPHA)
        return probit.Fit(name, tosses, ALPHA), ""
    known, case = bounded(name), CASES[name]
    samples = planning.by_method(method, name, ALPHA)
    design = OneLook(name, ReadyMade(method, known.low, known.high), samples, ALPHA)
    if method != "DKWM":
        return design, ""
    margin = abs(case.edge - case.centre)
    each = ALPHA / len(case.cells)
    planned = fixed_n.dkwm_planned(margin, known.high - known.low, each, 1 - POWER)
    return design, f"; TFP {planned * len(case.cells)}"


def section(opponents: Mapping[str, Sequence[str]] = OPPONENTS, runs: int = RUNS) -> Section:
    """Every rule against each method that applies to it, and how often critical values err."""
    rows: list[Row] = []
    with pool() as executor:
        for name, methods in opponents.items():
            ours = found_of(Engine(name, ALPHA), runs, executor)
            for method in methods:
                design, more = opponent(name, method)
                rows.append(_row(name, ours, method, found_of(design, runs, executor), more))
    return Section("samples", (*rows, *misses()), NOTE)


def misses() -> list[Row]:
    """How often means of skewed data are missed at ALPHA, and crossings at NOMINAL."""
    planned = planning.by_method("t interval", skewed.NAME, ALPHA)
    ladder = probit.ladder_misses(SEPARATED, [TOSSES * look for look in LOOKS], NOMINAL)
    fits = {"errors of the model": "nonrobust", "robust errors": "HC1"}
    return [
        Row(
            f"{skewed.NAME}, misses at {ALPHA:.2g}",
            f"{skewed.ours(ALPHA):.1e}",
            "t interval",
            f"{skewed.plain(planned, ALPHA):.1e}",
            "–",
        ),
        *(
            Row(
                f"CriticalLocation, misses at {NOMINAL:.2g}",
                f"< {max(ladder, 1e-12):.0e}",
                f"probit fit, {words}",
                f"{probit.misses(SEPARATED, TOSSES, NOMINAL, covariance):.1e}",
                "–",
            )
            for words, covariance in fits.items()
        ),
    ]


def _row(name: str, ours: Found, against: str, theirs: Found, more: str = "") -> Row:
    return Row(
        name,
        " / ".join(f"{value:.0f}" for value in ours.replicates) + f" {ours.shares}",
        against,
        f"{theirs.replicates[0]:.0f} {theirs.shares}{more}",
        " / ".join(factor(b, a) for a, b in zip(ours.replicates, theirs.replicates, strict=True)),
    )
