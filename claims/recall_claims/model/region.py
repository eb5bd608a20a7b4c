"""Regions, intervals, the verdict from comparing them, and resolution.

A theorem predicts that an estimand lies in a `Region` fixed before any simulation runs. The
simulations give intervals for each `Component` of the estimand. Then

* SUPPORTED: every component is shown to be between the edges of its region;
* REFUTED: some component's simultaneous interval is disjoint from its region;
* INCONCLUSIVE: neither.

"Not refuted" never counts as "confirmed": an interval that overlaps its region decides nothing.

Let alpha be the claim's slot of the error budget. Support needs a test at every edge. If the claim
is false, some component is truly beyond an edge, and the test at this edge errs with probability at
most alpha. So each of these tests has all of alpha, with no correction for their number (an
intersection-union test; R. Berger, Technometrics 24, 295, 1982). For refutation it is enough that
one of J components is shown to be beyond one of two edges. So by default the test at each edge of
each component has alpha / (2 J), and a true claim is refuted with probability at most alpha.

Resolution is the suite's figure of merit: the least error of the theory that the intervals refute,
wherever the data happen to lie. A wide region or few replicates make it worse, so that no claim
looks good by being unfalsifiable. To find it, put the intervals around the value that the theory
predicts. Then shift the theory, in the less favourable direction, until some interval and its
region become disjoint. A region does not show which value the theory predicts if it has one edge,
or is for a share or an error. Then the intervals stay where they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recall_reports.record import finite
from recall_reports.record.values import Scale as Scale
from recall_reports.record.values import Verdict as Verdict

HAIR = 1e-12
"""Relative distance beyond an edge that counts as rounding."""


@dataclass(frozen=True)
class Region:
    """Interval in which the theorem says the estimand lies; one end may be infinite.

    Raises:
        ValueError: an end is not a number, the lower end is not below the upper, or both are
            infinite (such a region could never be refuted).

    >>> Region.around(1.0, 0.25)
    Region(low=0.75, high=1.25)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or not self.low < self.high:
            raise ValueError(f"region ends must be numbers in order, got [{self.low}, {self.high}]")
        if math.isinf(self.low) and math.isinf(self.high):
            raise ValueError("a region without any end cannot be refuted; give it an end")

    @classmethod
    def around(cls, centre: float, half_width: float) -> Region:
        """Make the region centre ± half_width."""
        return cls(centre - half_width, centre + half_width)

    def distance(self, low: float, high: float) -> float:
        """Return how far `low` is below the region or `high` above it; at most 0 if neither is.

        The unit is the region's width, or 1 if the region has one edge. With an interval's lower
        end as `low` and upper end as `high`, this is how far the interval reaches out of the
        region. With the ends exchanged, this is how far the interval misses the region. A NaN or an
        infinite edge does not count; if neither side counts, the result is minus infinity.

        >>> Region(0, 2).distance(1, 3), Region(0, 2).distance(3, 1)
        (0.5, -0.5)
        """
        below = -math.inf if math.isinf(self.low) or math.isnan(low) else self.low - low
        above = -math.inf if math.isinf(self.high) or math.isnan(high) else high - self.high
        width = self.high - self.low
        return max(below, above) / (width if math.isfinite(width) else 1.0)


@dataclass(frozen=True)
class Interval:
    """A lower and an upper bound; an end is infinite if the data say nothing there.

    Raises:
        ValueError: an end is not a number, or the lower end is above the upper.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise ValueError(
                f"interval ends must be numbers in order, got [{self.low}, {self.high}]"
            )

    def inside(self, region: Region) -> bool:
        """Whether the interval lies in the region, including its edges, up to rounding."""
        return not (self._beyond(region.low, self.low) or self._beyond(self.high, region.high))

    def disjoint(self, region: Region) -> bool:
        """Whether interval and region, including its edges, are apart by more than rounding."""
        return self._beyond(region.low, self.high) or self._beyond(self.low, region.high)

    @staticmethod
    def _beyond(lower: float, higher: float) -> bool:
        """Whether `lower` is above `higher` by more than rounding."""
        if lower <= higher:
            return False
        sizes = [abs(one) for one in (lower, higher) if math.isfinite(one)]
        return lower > higher + HAIR * max(sizes, default=0.0)


EVERYTHING = Interval(-math.inf, math.inf)


@dataclass(frozen=True)
class Component:
    """One coordinate of a claim's estimand: its estimate, intervals and region.

    Attributes:
        name: name, such as the cell's parameters or the parameter of an exponent.
        estimate: estimate of the estimand.
        interval: bounds valid for all components together; if they are disjoint from the region,
            the component is refuted.
        region: region in which the theorem puts the estimand.
        scale: scale on which reports give errors of the theory.
        params: the cell parameters in the name; empty if there are none.
        one_sided: bounds, each at the claim's whole alpha; if they are inside the region, the
            component is supported. By default the interval.
        open_cells: ids of the cells whose further replicates may still decide the component.
    """

    name: str
    estimate: float
    interval: Interval
    region: Region
    scale: Scale
    params: Mapping[str, Any] = field(default_factory=dict)
    one_sided: Interval | None = None
    open_cells: tuple[str, ...] = ()

    @property
    def bounds(self) -> Interval:
        """The interval that supports the component if it lies inside the region."""
        return self.one_sided or self.interval

    @property
    def verdict(self) -> Verdict:
        """The verdict on this coordinate alone."""
        if self.bounds.inside(self.region):
            return Verdict.SUPPORTED
        if self.interval.disjoint(self.region):
            return Verdict.REFUTED
        return Verdict.INCONCLUSIVE


def headline(components: Sequence[Component]) -> Component:
    """Choose a component to show: the farthest outside its region, refuted components first.

    Raises:
        ValueError: there is no component.
    """
    refuting = [c for c in components if c.verdict is Verdict.REFUTED]
    return max(refuting or components, key=lambda c: c.region.distance(c.bounds.low, c.bounds.high))


def judge(components: Sequence[Component]) -> Verdict:
    """Return the verdict on all components at once.

    Raises:
        ValueError: there is no component to judge.

    >>> print(judge([Component("mean", 1.0, Interval(0.9, 1.2), Region(0.8, 1.1), "ratio")]))
    INCONCLUSIVE
    """
    if not components:
        raise ValueError("no component to judge")
    verdicts = {component.verdict for component in components}
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    if Verdict.INCONCLUSIVE in verdicts:
        return Verdict.INCONCLUSIVE
    return Verdict.SUPPORTED


def resolution(components: Sequence[Component]) -> float | None:
    """Return the smallest error of the theory that the intervals refute; None if they refute none.

    Exponents are separate numbers: the result is the largest of their least refuted errors. Other
    components test one theory: an error common to all is refuted as soon as one component refutes
    it. Of these, components without an estimate do not count.
    """
    if components[0].scale == "exponent":
        return finite(max(_up_and_down([component]) for component in components))
    return finite(_up_and_down(components))


def _up_and_down(components: Sequence[Component]) -> float:
    """Minimise each `_too_large_and_small` error over components; return the larger minimum.

    If all regions have one edge, return the smaller.
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
        return found
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
    up = max(found.high / region.low, 1.0) - 1 if region.low > 0 else math.inf
    known = found.low > 0 and 0 < region.high < math.inf
    return up, max(1 - found.low / region.high, 0.0) if known else math.inf
