"""Design before run: how much data a wanted resolution needs, and what given data could detect.

Every rule's intervals shrink as one over the square root of the replicates, so a pilot look (under
another seed) tells what any later amount would have resolved. For a mean whose standard deviation
is known there is no need of a pilot: `replicates_for` and `half_width` answer directly, with the
same Student-t quantiles that the decision uses, and invert each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from scipy import stats

from recall_claims.errors import ClaimError
from recall_claims.judge.region import Component, Interval, Verdict, judge
from recall_claims.judge.resolution import resolution

MOST = 2**30


def half_width(replicates: int, sd: float, alpha: float) -> float:
    """Half width of the t interval for a mean.

    Args:
        replicates: number of independent values, at least 2.
        sd: their standard deviation.
        alpha: probability that the interval misses.

    >>> round(half_width(100, 1.0, 0.05), 4)
    0.1984
    """
    if replicates < 2:
        raise ValueError(f"an interval needs at least 2 replicates, got {replicates}")
    return float(stats.t.isf(alpha / 2, replicates - 1)) * sd / math.sqrt(replicates)


def replicates_for(wanted: float, sd: float, alpha: float) -> int:
    """Fewest replicates whose t interval has at most the wanted half width.

    Raises:
        ValueError: the half width is not positive, or needs more than 2**30 replicates.

    >>> replicates_for(half_width(100, 1.0, 1e-6), 1.0, 1e-6)
    100
    """
    if not wanted > 0:
        raise ValueError(f"the wanted half width must be positive, got {wanted}")
    low, high = 1, 2
    while half_width(high, sd, alpha) > wanted * (1 + 1e-12):
        low, high = high, 2 * high
        if high > MOST:
            raise ValueError(f"a half width of {wanted} needs more than {MOST} replicates")
    while high - low > 1:
        middle = (low + high) // 2
        if half_width(middle, sd, alpha) > wanted * (1 + 1e-12):
            low = middle
        else:
            high = middle
    return high


def detectable(components: Sequence[Component], factor: float) -> float:
    """The resolution that `factor` times the pilot's replicates are expected to reach.

    Args:
        components: of a pilot look, by any rule.
        factor: how many times the pilot's replicates; intervals shrink by its square root, about
            their estimates.

    Returns:
        The resolution in the rule's scale; infinite where none is to be had.

    Raises:
        ClaimError: the pilot's intervals are not finite, so nothing can be extrapolated.
    """
    shrunk = [_shrink(component, math.sqrt(factor)) for component in components]
    value = resolution(shrunk).value
    return math.inf if value is None else value


def factor_for(components: Sequence[Component], wanted: float) -> float:
    """How many times the pilot's replicates reach the wanted resolution, to 1 per cent.

    Raises:
        ClaimError: no amount of data reaches it: the regions are too wide, or the estimates too
            far from their centres.
    """
    if detectable(components, 1e12) > wanted:
        raise ClaimError(
            f"no amount of data resolves {wanted:g}: the region itself allows an error of "
            f"{detectable(components, 1e12):.3g}; narrow the region or ask for less"
        )
    return _least(lambda factor: detectable(components, factor) <= wanted)


def factor_to_decide(components: Sequence[Component]) -> float:
    """How many times the pilot's replicates decide the claim, to 1 per cent.

    That many, intervals of the pilot's estimates are inside their regions, or one is disjoint from
    its region. The region is the resolution wanted of a claim; controls may need more.

    Raises:
        ClaimError: the pilot's intervals are not finite, or no amount of data decides, because an
            estimate lies at the edge of its region.

    >>> from recall_claims import Region
    >>> pilot = Component("mean", 1.0, Interval(0.9, 1.1), Region(0.95, 1.05), "ratio")
    >>> round(factor_to_decide([pilot]))
    4
    """

    def decided(factor: float) -> bool:
        shrunk = [_shrink(component, math.sqrt(factor)) for component in components]
        return judge(shrunk) is not Verdict.INCONCLUSIVE

    if not decided(MOST):
        raise ClaimError("no amount of data decides: an estimate lies at the edge of its region")
    return _least(decided)


def _least(enough: Callable[[float], bool]) -> float:
    """The smallest factor that is enough, to 1 per cent, if every larger one is as well."""
    low, high = 1e-6, 1e12
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _shrink(component: Component, by: float) -> Component:
    interval, estimate = component.interval, component.estimate
    if not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        raise ClaimError(f"the pilot knows nothing of {component.name}; give it more replicates")
    return replace(
        component,
        interval=Interval(
            estimate - (estimate - interval.low) / by, estimate + (interval.high - estimate) / by
        ),
    )
