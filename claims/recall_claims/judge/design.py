"""Work out, before a run, how much data will decide a claim.

Every rule's intervals shrink as one over the square root of the replicates. So a pilot look, under
another seed or from a baseline's record, shows what any later amount would have decided.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from recall_claims.model.errors import ClaimError
from recall_claims.model.region import Component, Interval, Verdict, judge

MOST = 2**30


def factor_to_decide(components: Sequence[Component]) -> float:
    """Return the multiple of the pilot's replicates that decides the claim, to 1 per cent.

    With so many, all intervals around the pilot's estimates would lie inside their regions, or one
    would be disjoint from its region. Controls may need more.

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
    low, high = 1e-6, float(MOST)
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high


def if_right(part: Component) -> Component:
    """Move a pilot's component to the middle of its region, as far as half its interval allows.

    A theory that holds expects the estimate there: a pilot's estimate that chance puts near an edge
    would ask for a hundred times the replicates. Without a middle, the component stays as it is.
    """
    middle, at = (part.region.low + part.region.high) / 2, part.estimate
    if not (math.isfinite(middle) and math.isfinite(at)):
        return part
    low, high = (at + part.interval.low) / 2, (at + part.interval.high) / 2
    by = min(max(middle, low), high) - at

    def moved(interval: Interval) -> Interval:
        return Interval(interval.low + by, interval.high + by)

    return replace(
        part,
        estimate=at + by,
        interval=moved(part.interval),
        one_sided=moved(part.bounds),
    )


def _shrink(component: Component, by: float) -> Component:
    if not (math.isfinite(component.interval.low) and math.isfinite(component.interval.high)):
        raise ClaimError(
            f"the pilot has no finite bounds for {component.name}; give it more replicates"
        )

    def shrunk(interval: Interval) -> Interval:
        estimate = component.estimate
        return Interval(
            estimate - (estimate - interval.low) / by, estimate + (interval.high - estimate) / by
        )

    return replace(
        component, interval=shrunk(component.interval), one_sided=shrunk(component.bounds)
    )
