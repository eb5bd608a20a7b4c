"""A claim is a region; evidence is an interval. The set logic that turns them into a verdict.

A theorem predicts that an estimand lies in a `Region` fixed before any simulation runs. The
simulations give simultaneous confidence `Interval`s, one per `Component` of the estimand. Then

* SUPPORTED: every interval lies inside its region;
* REFUTED: some interval is disjoint from its region;
* INCONCLUSIVE: neither.

"Not rejected" is never "verified": an interval that merely overlaps its region decides nothing.
If the intervals cover the truth jointly with probability 1 - alpha, then a true claim is refuted
with probability at most alpha, and a false one is supported with probability at most alpha: each
error requires that some interval misses the truth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Scale = Literal["ratio", "difference", "probability", "exponent", "share", "error"]


class Verdict(StrEnum):
    """The three verdicts; there is no fourth."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class Region:
    """Where the theorem says the estimand lies; one end may be infinite.

    Raises:
        ValueError: the ends are out of order, not numbers, or both infinite (such a region could
            never be refuted).

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
        """The region centre ± half_width."""
        return cls(centre - half_width, centre + half_width)


@dataclass(frozen=True)
class Interval:
    """A simultaneous confidence interval; ends may be infinite when the data say nothing."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise ValueError(
                f"interval ends must be numbers in order, got [{self.low}, {self.high}]"
            )

    def inside(self, region: Region) -> bool:
        """Whether every value of the interval lies in the region."""
        return region.low <= self.low and self.high <= region.high

    def disjoint(self, region: Region) -> bool:
        """Whether no value of the interval lies in the region."""
        return self.high < region.low or self.low > region.high


EVERYTHING = Interval(-math.inf, math.inf)


@dataclass(frozen=True)
class Component:
    """One coordinate of a claim's estimand: its estimate, interval and region.

    `params` are the cell parameters that it is about, where its name is made of these.
    """

    name: str
    estimate: float
    interval: Interval
    region: Region
    scale: Scale
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The verdict on this coordinate alone."""
        if self.interval.inside(self.region):
            return Verdict.SUPPORTED
        if self.interval.disjoint(self.region):
            return Verdict.REFUTED
        return Verdict.INCONCLUSIVE

    @property
    def slack(self) -> float:
        """How far the interval stays inside its region, in units of the region's size.

        Negative where it sticks out. The component with the least slack is the headline.
        """
        size = self.region.high - self.region.low
        if not math.isfinite(size):
            end = self.region.low if math.isfinite(self.region.low) else self.region.high
            size = abs(end) if end else 1.0
        room = min(self.interval.low - self.region.low, self.region.high - self.interval.high)
        return room / size


def headline(components: Sequence[Component]) -> Component:
    """The component that speaks for all: one that refutes if any does, else the least inside.

    Raises:
        ValueError: there is no component.
    """
    refuting = [c for c in components if c.verdict is Verdict.REFUTED]
    return min(refuting or components, key=lambda component: component.slack)


def judge(components: Sequence[Component]) -> Verdict:
    """The verdict on all components at once.

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
