"""Where an interval lies on its region: the geometry of the small graphic beside every finding.

Positions are percentages of the width. Rows with the same region share a scale, so that they can
be compared by eye.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recall_reports.words import Range

MARGIN = 0.12
REACH = 15.0  # widths of a region; an interval farther off is an arrow


@dataclass(frozen=True)
class Bar:
    """One row, in percent from the left.

    Attributes:
        region: ends of the region's band; at 0 or 100 where the region is unbounded.
        interval: ends of the interval, cut at the edges of the row.
        point: the estimate, None where there is none or where it lies outside the row.
        bounded: for both ends of the region, whether a bound is there.
        cut: for both ends of the interval, whether it goes on beyond the row.
    """

    region: tuple[float, float]
    interval: tuple[float, float]
    point: float | None
    bounded: tuple[bool, bool]
    cut: tuple[bool, bool]


def bars(findings: Sequence[dict[str, Any]]) -> list[Bar]:
    """One bar for each finding, a dict with `estimate`, `interval`, `region` and maybe `scale`."""
    scales: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for finding in findings:
        scales.setdefault(_scale_of(finding), []).append(finding)
    windows = {key: _window(rows, log=key[-1]) for key, rows in scales.items()}
    return [_bar(finding, *windows[_scale_of(finding)]) for finding in findings]


def overshoot(finding: dict[str, Any]) -> float:
    """How far an interval reaches beyond its region, in half widths of the region.

    Negative inside. A one-sided region has no width: its one bound is the unit instead.
    """
    low, high = finding["region"]
    left, right = finding["interval"]
    above = -math.inf if high is None else (math.inf if right is None else right) - high
    below = -math.inf if low is None else low - (-math.inf if left is None else left)
    if low is not None and high is not None:
        unit = (high - low) / 2
    else:
        unit = abs(high if low is None else low) if low != high else 0.0
    return float(max(above, below) / (unit or 1.0))


def _scale_of(finding: dict[str, Any]) -> tuple[Any, ...]:
    values = _known(finding)
    log = finding.get("scale") == "error" and all(value > 0 for value in values)
    return (*finding["region"], log)


def _known(finding: dict[str, Any]) -> list[float]:
    values = (finding["estimate"], *finding["interval"], *finding["region"])
    return [value for value in values if value is not None]


def _window(rows: list[dict[str, Any]], *, log: bool) -> tuple[float, float, bool]:
    values = [_place(value, log=log) for row in rows for value in _known(row)] or [0.0]
    low, high = min(values), max(values)
    region: Range = rows[0]["region"]
    if region[0] is not None and region[1] is not None and not log:
        reach = REACH * (region[1] - region[0])
        low, high = max(low, region[0] - reach), min(high, region[1] + reach)
    margin = MARGIN * (high - low) or abs(high) or 1.0
    return low - margin, high + margin, log


def _place(value: float, *, log: bool) -> float:
    return math.log10(value) if log else value


def _bar(finding: dict[str, Any], low: float, high: float, log: bool) -> Bar:
    def percent(value: float) -> float:
        return round(100 * (_place(value, log=log) - low) / (high - low), 2)

    def ends(bounds: Range) -> tuple[float, float]:
        left = 0.0 if bounds[0] is None else percent(bounds[0])
        right = 100.0 if bounds[1] is None else percent(bounds[1])
        return left, right

    left, right = ends(finding["interval"])
    beyond = [bound is None for bound in finding["interval"]]
    point = None if finding["estimate"] is None else percent(finding["estimate"])
    return Bar(
        region=_clip(*ends(finding["region"])),
        interval=_clip(left, right),
        point=point if point is not None and 0 <= point <= 100 else None,
        bounded=(finding["region"][0] is not None, finding["region"][1] is not None),
        cut=(beyond[0] or left < 0, beyond[1] or right > 100),
    )


def _clip(left: float, right: float) -> tuple[float, float]:
    return min(max(left, 0.0), 100.0), min(max(right, 0.0), 100.0)
