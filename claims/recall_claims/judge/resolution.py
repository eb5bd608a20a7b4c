"""Resolution: the smallest error in the theory that as much data would have refuted.

It is the figure of merit of the suite. A wide region makes it worse, and so do few replicates;
hence a claim cannot look good by being unfalsifiable. It is computed from the widths of the
intervals that refute, and not from where the data happen to lie. Put the intervals around the value
that the theory predicts. Then shift the theory, in the less favourable direction, until some
interval and its region become disjoint.
"""

import math
from collections.abc import Sequence

from recall_claims.model.region import Component, Interval
from recall_reports.record import finite


def resolution(components: Sequence[Component]) -> float | None:
    """The smallest error refuted by a decided look; None where no finite error would have been.

    A ratio, difference, probability, share or error is one theory seen in several components: an
    error common to all is refuted as soon as one component refutes it. Exponents are separate
    numbers: there is no error but the error of a single one.
    """
    if components[0].scale == "exponent":
        return finite(max(_up_and_down([component]) for component in components))
    return finite(_up_and_down(components))


def _up_and_down(components: Sequence[Component]) -> float:
    """The larger of the smallest refuted errors upwards and downwards."""
    known = [_too_large_and_small(c) for c in components if not math.isnan(c.estimate)]
    up, down = (min((errors[side] for errors in known), default=math.inf) for side in (0, 1))
    if components[0].scale == "share":  # a share cannot exceed 1: a better map is no error
        return up
    one_sided = [c for c in components if math.isinf(c.region.low) or math.isinf(c.region.high)]
    return min(up, down) if len(one_sided) == len(components) else max(up, down)


def _centred(c: Component) -> Interval:
    """The interval as it would be if the estimate equalled the theory."""
    found, estimate = c.interval, c.estimate
    ends = c.region.low, c.region.high
    if not all(map(math.isfinite, ends)) or c.scale in ("share", "error"):
        return found  # these say nothing of where in the region the estimand is
    if c.scale == "ratio" and estimate > 0 and ends[0] > 0:
        by = (1.0 if ends[0] <= 1 <= ends[1] else math.sqrt(ends[0] * ends[1])) / estimate
        return Interval(found.low * by, found.high * by)
    by = (0.0 if c.scale != "exponent" and ends[0] <= 0 <= ends[1] else sum(ends) / 2) - estimate
    return Interval(found.low + by, found.high + by)


def _too_large_and_small(c: Component) -> tuple[float, float]:
    """Errors above which this component refutes a theory that predicts too much, and too little."""
    found, region = _centred(c), c.region
    if c.scale != "ratio":
        return max(found.high - region.low, 0.0), max(region.high - found.low, 0.0)
    up = found.high / region.low - 1 if region.low > 0 else math.inf
    positive = found.low > 0 and region.high > 0
    return up, max(1 - found.low / region.high, 0.0) if positive else math.inf
