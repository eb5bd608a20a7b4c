"""Replicates until a verdict: looks that double, against designs with one look.

Both sides are planned for the same two worlds, from the same variances, for the same alpha and
power.  Ours has four looks, of which the last alone has the power; it may stop earlier.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import astuple, dataclass

import numpy as np

from recall_claims.judge.budget import Budget
from recall_claims.judge.region import Verdict
from tests.benchmarks import fixed_n, planning
from tests.benchmarks.planning import POWER
from tests.benchmarks.table import Row, Section, factor
from tests.benchmarks.worlds import (
    POPULATION,
    Design,
    OneLook,
    bounded,
    runs_of,
    truths,
    verdicts_of,
)
from tests.calibration.cases import CASES
from tests.calibration.pools import pool

ALPHA = Budget().per_claim
LOOKS = 4
RUNS = 200

OPPONENTS: Mapping[str, Sequence[str]] = {
    "MeanRatio, normal": ("DKWM", "Hoeffding"),
    "MeanRatio, skewness 1.75": ("DKWM", "Hoeffding"),
    "MeanDifference, skewness 1.75": ("DKWM", "Hoeffding"),
    "OneSided, skewness 1.75": ("DKWM", "Hoeffding"),
    "Ordering, skewness 1.75": ("DKWM", "Hoeffding"),
    "Probability, rates": ("DKWM", "Hoeffding"),
    "Probability, coin of 0.5": ("exact binomial", "Hoeffding"),
    "Probability, coin of 0.98": ("exact binomial", "Hoeffding"),
    "Share": (),
    "Exponents, skewness 1.75": (),
    "CriticalLocation": (),
    "CriticalExponents": (),
}
"""Besides one look by the same rule.  Of zeros and ones, DKWM's interval is Hoeffding's."""

NOTE = (
    "mean replicates a cell until the verdict where the theory is right / wrong by twice what the "
    "region allows / by four times, on the synthetic data of tests/calibration; in brackets, the "
    f"share of {RUNS} runs with the right verdict in the first two worlds. alpha is "
    f"{ALPHA:.2g}, one claim's share of the error budget. Ours: {LOOKS} looks that double, each "
    f"with its share of alpha, the last with power {POWER}; runs without a verdict count in full. "
    f"Theirs: one look with all of alpha and the fewest replicates of power {POWER}, from pilot "
    "runs for the same rule, as for our last look, and for the others by formula from the true "
    "variances, which a user would have to know. Exact binomial, DKWM and Hoeffding hold for every "
    "n; ours and one look of the same rule rest on asymptotic intervals, whose errors "
    "tests/calibration measures. DKWM and Hoeffding need bounds: [0, 1] for probabilities, else "
    f"the range of {POPULATION} draws, which nobody knows beforehand. TFP is what TensorFlow "
    "Probability's planner asks for, which knows bounds and no variance. Exponents, critical "
    "values and shares have no ready-made opponent. An identity has no sampling error."
)


@dataclass(frozen=True)
class Found:
    """What a design took and how often it was right.

    Attributes:
        replicates: mean number a cell in the worlds right, wrong and far.
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


def looks(name: str, alpha: float, count: int, runs: int, executor: Executor) -> Found:
    """`count` looks that double, the last with the power at its share of alpha."""
    last = planning.by_rule(name, alpha / count, executor)
    design = Design(name, math.ceil(last / 2 ** (count - 1)), count, alpha)
    worlds = [runs_of(design, truth, runs, executor) for truth in astuple(truths(CASES[name]))]
    return Found(
        tuple(float(np.mean([run.replicates for run in world])) for world in worlds),
        planning.share_of(Verdict.SUPPORTED, worlds[0]),
        planning.share_of(Verdict.REFUTED, worlds[1]),
    )


def one_look(
    name: str, method: str, alpha: float, runs: int, executor: Executor
) -> tuple[Found, str]:
    """A method for bounded values; and what TFP's planner asks for, in words, if it has one."""
    case, known = CASES[name], bounded(name)
    samples = planning.by_method(method, known, alpha)
    design = OneLook(name, method, samples, known.low, known.high, alpha)
    worlds = truths(case)
    supported = verdicts_of(design, worlds.right, runs, executor).count(Verdict.SUPPORTED)
    refuted = verdicts_of(design, worlds.wrong, runs, executor).count(Verdict.REFUTED)
    found = Found((samples,) * 3, supported / runs, refuted / runs)
    if method != "DKWM":
        return found, ""
    margin = abs(worlds.wrong - worlds.right) / 2
    each = alpha / len(case.cells)
    planned = fixed_n.dkwm_planned(margin, known.high - known.low, each, 1 - POWER)
    return found, f"; TFP {planned}"


def section(opponents: Mapping[str, Sequence[str]] = OPPONENTS, runs: int = RUNS) -> Section:
    """Every rule against one look, and against each method that applies to it."""
    rows: list[Row] = []
    with pool() as executor:
        for name, methods in opponents.items():
            ours = looks(name, ALPHA, LOOKS, runs, executor)
            rows.append(_row(name, ours, "same rule", looks(name, ALPHA, 1, runs, executor)))
            rows += [
                _row(name, ours, method, *one_look(name, method, ALPHA, runs, executor))
                for method in methods
            ]
    return Section("samples", tuple(rows), NOTE)


def _row(name: str, ours: Found, against: str, theirs: Found, more: str = "") -> Row:
    return Row(
        name,
        " / ".join(f"{value:.0f}" for value in ours.replicates) + f" {ours.shares}",
        against,
        f"{theirs.replicates[0]:.0f} {theirs.shares}{more}",
        " / ".join(factor(b, a) for a, b in zip(ours.replicates, theirs.replicates, strict=True)),
    )
