"""Resolution: the smallest error in the theory that the data would have refuted.

Resolution is the suite's figure of merit. A wide region or few replicates make it worse, so that no
claim looks good by being unfalsifiable. It depends on the widths of the refuting intervals, not on
where the data happen to lie. Put the intervals around the value that the theory predicts. Then
shift the theory, in the less favourable direction, until some interval and its region become
disjoint. A region with one edge, or for a share or an error, does not show which value the theory
predicts. Then the intervals stay where they are.
"""

import math
from collections.abc import Sequence

from recall_claims.model.region import Component, Interval
from recall_reports.record import finite


def resolution(components: Sequence[Component]) -> float | None:
    """Return the smallest error of the theory that the intervals refute; None if they refute none.

    Components without an estimate do not count. Several ratios, differences, probabilities, shares
    or errors test one theory: an error common to all is refuted as soon as one component refutes
    it. Exponents are separate numbers, each with its own error: the largest counts.
    """
    if components[0].scale == "exponent":
        return finite(max(_up_and_down([component]) for component in components))
    return finite(_up_and_down(components))


def _up_and_down(components: Sequence[Component]) -> float:
    """Return the larger of the smallest refuted errors upwards and downwards.

    Of a share only the error upwards counts, and of regions with one edge the smaller error.
    """
    known = [_too_large_and_small(c) for c in components if not math.isnan(c.estimate)]
    up, down = (min((errors[side] for errors in known), default=math.inf) for side in (0, 1))
    if components[0].scale == "share":  # a share above the prediction is no error
        return up
    one_sided = [c for c in components if math.isinf(c.region.low) or math.isinf(c.region.high)]
    return min(up, down) if len(one_sided) == len(components) else max(up, down)


def _centred(c: Component) -> Interval:
    """Move the interval to where it would be if the estimate equalled the theory.

    The interval stays where it is if the region does not say which number the theory predicts.
    """
    found, estimate = c.interval, c.estimate
    ends = c.region.low, c.region.high
    if not all(map(math.isfinite, ends)) or c.scale in ("share", "error"):
        return found  # the region does not say where in it the estimand is
    if c.scale == "ratio" and estimate > 0 and ends[0] > 0:
        by = (1.0 if ends[0] <= 1 <= ends[1] else math.sqrt(ends[0] * ends[1])) / estimate
        return Interval(found.low * by, found.high * by)
    by = (0.0 if c.scale != "exponent" and ends[0] <= 0 <= ends[1] else sum(ends) / 2) - estimate
    return Interval(found.low + by, found.high + by)


def _too_large_and_small(c: Component) -> tuple[float, float]:
    """Return the least refuted error of a prediction that is too large, and of one too small."""
    found, region = _centred(c), c.region
    if c.scale != "ratio":
        return max(found.high - region.low, 0.0), max(region.high - found.low, 0.0)
    up = found.high / region.low - 1 if region.low > 0 else math.inf
    positive = found.low > 0 and region.high > 0
    return up, max(1 - found.low / region.high, 0.0) if positive else math.inf
