"""How many samples a design with one look needs, by the intervals that other suites use.

An interval for a mean decides as ours do: SUPPORTED inside the region, REFUTED disjoint from it.
Power is the probability of the right one of the two.

References:
    W. Hoeffding, "Probability inequalities for sums of bounded random variables", J. Amer.
    Statist. Assoc. 58, 13 (1963), theorem 2.
    A. Dvoretzky, J. Kiefer, J. Wolfowitz, Ann. Math. Statist. 27, 642 (1956), with the constant 2
    of P. Massart, Ann. Probab. 18, 1269 (1990); for means as TensorFlow Probability's
    `statistical_testing` uses it.
    C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case
    of the binomial", Biometrika 26, 404 (1934).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from recall_claims.judge.methods import Array
from recall_claims.judge.region import Interval, Region


def envelope(samples: float, alpha: float) -> float:
    r"""Half width of the DKW band of a distribution function, :math:`\sqrt{\ln(2/\alpha) / 2n}`.

    Also Hoeffding's half width for a mean of values in an interval of width 1.
    """
    return math.sqrt(math.log(2 / alpha) / (2 * samples))


def hoeffding_samples(half_width: float, width: float, alpha: float) -> int:
    r"""Fewest values in an interval of this width for Hoeffding's half width.

    .. math:: n = \Big\lceil \frac{w^2 \ln(2/\alpha)}{2 \epsilon^2} \Big\rceil
    """
    return math.ceil(width**2 * math.log(2 / alpha) / (2 * half_width**2))


def hoeffding(values: Array, low: float, high: float, alpha: float) -> Interval:
    """Hoeffding's interval for the mean of values in [low, high]."""
    mean, reach = float(values.mean()), (high - low) * envelope(values.size, alpha)
    return Interval(mean - reach, mean + reach)


def dkwm(values: Array, low: float, high: float, alpha: float) -> Interval:
    """The means of all distributions on [low, high] within the DKW band of the sample.

    Never wider than Hoeffding's.
    """
    return means_within(np.sort(values), low, high, envelope(values.size, alpha))


def means_within(ordered: Array, low: float, high: float, band: float) -> Interval:
    """Least and largest mean on [low, high] of a distribution function within `band` of the data's.

    The least mean takes the mass `band` from the largest values and puts it at `low`; the largest
    mean takes it from the smallest and puts it at `high`.

    Args:
        ordered: the data, ascending.
        low: least possible value.
        high: largest possible value.
        band: largest distance of the two distribution functions.
    """
    count = ordered.size
    kept = np.diff(np.clip(np.arange(count + 1) / count - band, 0, None))
    moved = min(band, 1.0)
    return Interval(
        float(kept[::-1] @ ordered) + moved * low,
        float(kept @ ordered) + moved * high,
    )


def dkwm_planned(margin: float, width: float, alpha: float, beta: float) -> int:
    r"""What TFP's `min_num_samples_for_dkwm_mean_test` asks for, a guarantee without a variance.

    Half of the margin is left to each of the two errors:

    .. math:: n = \max(\ln(2/\alpha), \ln(2/\beta))\, \frac{2 w^2}{m^2}
    """
    return max(hoeffding_samples(margin / 2, width, error) for error in (alpha, beta))


def clopper_pearson(values: Array, low: float, high: float, alpha: float) -> Interval:
    """The exact interval for the mean of values that are either `low` or `high`."""
    successes = round(float((values - low).sum()) / (high - low))
    ends = proportion_confint(successes, values.size, alpha=alpha, method="beta")
    return Interval(*(low + (high - low) * float(end) for end in ends))


def binomial_power(samples: int, probability: float, region: Region, alpha: float) -> float:
    """Exact probability that the Clopper-Pearson interval decides rightly."""
    counts = np.arange(samples + 1)
    lows, highs = proportion_confint(counts, samples, alpha=alpha, method="beta")
    if region.low <= probability <= region.high:
        right = (lows >= region.low) & (highs <= region.high)
    else:
        right = (lows > region.high) | (highs < region.low)
    return float(stats.binom.pmf(counts, samples, probability)[right].sum())
