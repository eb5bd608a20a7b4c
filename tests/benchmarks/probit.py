"""Critical values by what a user would otherwise fit: a probit curve through a scan of 3 points.

A binomial GLM with probit link in the logarithm of the samples, and the delta method's interval for
where its curve crosses one half (Wald). Its errors are the model's, or robust ones ("HC1"), which
are asked for where replicates are success rates.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import statsmodels.api as sm
from scipy import stats

from recall_claims import Component, Interval, Region
from recall_claims.judge.methods import Array
from recall_claims.judge.region import EVERYTHING, judge
from tests.benchmarks import planning
from tests.benchmarks.cases import CASES, SLOPES
from tests.benchmarks.worlds import Run
from tests.calibration.enumeration import rejection

REACH = 2.0
"""Probit units from the middle of the scan to its ends, where the theory is right."""
LIKELY = 1e-7
"""Outcomes less probable than this are not fitted, and count as hits."""


@dataclass(frozen=True)
class Crossing:
    """Where a fitted curve crosses one half, in logarithms, and its standard error."""

    estimate: float
    error: float

    def interval(self, alpha: float) -> Interval:
        """Wald's, which should miss with probability alpha."""
        if not (math.isfinite(self.estimate) and math.isfinite(self.error)):
            return EVERYTHING
        reach = float(stats.norm.isf(alpha / 2)) * self.error
        return Interval(self.estimate - reach, self.estimate + reach)


def fitted(logs: Array, successes: Sequence[int], tosses: int, covariance: str) -> Crossing:
    """Fit the curve; of warnings, a user would see those of wholly separated data.

    Args:
        logs: logarithms of the samples, one per point of the scan.
        successes: at each point.
        tosses: at each point.
        covariance: "nonrobust" or "HC1".
    """
    outcomes = np.concatenate([np.arange(tosses) < count for count in successes]).astype(float)
    design = sm.add_constant(np.repeat(logs, tosses))
    family = sm.families.Binomial(link=sm.families.links.Probit())
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            fit = sm.GLM(outcomes, design, family=family).fit(cov_type=covariance)
            intercept, slope = fit.params
            estimate = -intercept / slope
            gradient = np.array([-1.0, -estimate]) / slope
            error = math.sqrt(gradient @ fit.cov_params() @ gradient)
        except (np.linalg.LinAlgError, ValueError):
            return Crossing(math.nan, math.nan)
    return Crossing(float(estimate), error)


@dataclass(frozen=True)
class Fit:
    """One look at a scan of 3 points with `tosses` each, in a world of CriticalLocation."""

    name: str
    tosses: int
    alpha: float

    def run(self, truth: float, rng: np.random.Generator) -> Run:
        """Judged at the levels at which the ladder is."""
        slope, logs = SLOPES[self.name], scan(SLOPES[self.name])
        rates = stats.norm.cdf(slope * (logs - math.log(truth)))
        found = fitted(logs, rng.binomial(self.tosses, rates), self.tosses, "nonrobust")
        component = Component(
            "",
            found.estimate,
            found.interval(self.alpha),
            region(self.name),
            "ratio",
            one_sided=found.interval(2 * self.alpha),
        )
        return Run(judge([component]), self.tosses * len(logs))


def scan(slope: float) -> Array:
    """Logarithms of samples over the predicted critical ones."""
    return np.array([-REACH, 0.0, REACH]) / slope


def region(name: str) -> Region:
    """The case's, in logarithms."""
    low, high = CASES[name].edge, 1 / CASES[name].edge
    return Region(math.log(low), math.log(high))


def planned(name: str, alpha: float) -> int:
    """Fewest tosses a point with the power, by the curve's Fisher information."""
    slope, logs = SLOPES[name], scan(SLOPES[name])
    right, wrong = (math.log(truth) for truth in CASES[name].truths[:2])

    def power(tosses: int) -> float:
        supported = error_of(logs, slope, right, tosses)
        refuted = error_of(logs, slope, wrong, tosses)
        reach = float(stats.norm.isf(alpha)) * supported
        far = float(stats.norm.isf(alpha / 2)) * refuted
        return min(
            planning.inside(Interval(right - reach, right + reach), supported, region(name)),
            planning.disjoint(Interval(wrong - far, wrong + far), refuted, region(name)),
        )

    return planning.fewest(power)


def error_of(logs: Array, slope: float, crossing: float, tosses: int) -> float:
    """The standard error of a located crossing, to first order."""
    scores = slope * (logs - crossing)
    rates = stats.norm.cdf(scores)
    weights = tosses * stats.norm.pdf(scores) ** 2 / (rates * (1 - rates))
    design = sm.add_constant(logs)
    gradient = np.array([-1.0, -crossing]) / slope
    return math.sqrt(gradient @ np.linalg.inv(design.T * weights @ design) @ gradient)


def misses(rates: Sequence[float], tosses: int, alpha: float, covariance: str) -> float:
    """Probability that the fit's interval misses the crossing, by enumeration of all outcomes.

    Args:
        rates: success rates of a probit curve at the points of a scan.
        tosses: at each.
        alpha: at which the interval should miss.
        covariance: as for `fitted`.
    """
    logs = stats.norm.ppf(rates)  # any other slope gives the same intervals, scaled
    found = 0.0
    for successes, probability in outcomes(rates, tosses):
        interval = fitted(logs, successes, tosses, covariance).interval(alpha)
        found += probability * (not interval.low <= 0 <= interval.high)
    return found


def outcomes(rates: Sequence[float], tosses: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Successes at each point with their probability, but those that are not LIKELY."""
    laws = [stats.binom.pmf(np.arange(tosses + 1), tosses, rate) for rate in rates]
    for successes in itertools.product(range(tosses + 1), repeat=len(rates)):
        probability = math.prod(law[k] for law, k in zip(laws, successes, strict=True))
        if probability > LIKELY:
            yield successes, float(probability)


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
