"""Small graphics of the page: bounds on their region, and the sharpness of a claim.

Positions are percentages of the width. Rows with the same region share a scale, so that they can
be compared by eye.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from recall_reports import opening
from recall_reports.record import ClaimRow, ComponentRow, Range
from recall_reports.summary import grouped

MARGIN = 0.12
REACH = 15.0  # in widths of a region; bounds farther off are arrows
LEAST, MOST = 1e-4, 1.0  # errors at the ends of the axis that all claims share

Scale = tuple[float | None, float | None, bool]


@dataclass(frozen=True)
class Bar:
    """One row; positions in percent from the left.

    Attributes:
        region: ends of the region's band; 0 or 100 for an open end.
        bounds: the printed bounds, cut off at the ends of the row.
        point: the estimate; None without an estimate, or beyond the row.
        bounded: whether the region has an edge at the left, and at the right.
        cut: whether the left bound, and the right, is missing or beyond the row.
        usual: ends of the usual analysis's interval; None without any.
    """

    region: tuple[float, float]
    bounds: tuple[float, float]
    point: float | None
    bounded: tuple[bool, bool]
    cut: tuple[bool, bool]
    usual: tuple[float, float] | None = None


def sharpness(claim: ClaimRow) -> tuple[float | None, ...]:
    """Place the estimate's distance from theory, and the resolution, on the axis of all claims.

    Places are in percent, on a logarithmic axis from LEAST to MOST; None if unknown.
    """
    off = opening.distance(claim.rule.scale, claim.head) if claim.head else None
    kept = [None if e is None else min(max(e, LEAST), MOST) for e in (off, claim.resolution)]
    shares = (e and math.log(e / LEAST) / math.log(MOST / LEAST) for e in kept)
    return tuple(None if share is None else round(100 * share, 1) for share in shares)


def bars(
    findings: Sequence[ComponentRow], usual: Sequence[Range | None] = (), *, log: bool = False
) -> list[Bar]:
    """Make a bar per finding; with `log`, a finding with only positive values has a log scale.

    `usual`: intervals of the usual analysis.
    """
    scales = grouped(findings, lambda finding: _scale(finding, log=log))
    windows = {scale: _window(rows, log=scale[-1]) for scale, rows in scales.items()}
    return [
        _bar(finding, thin, *windows[_scale(finding, log=log)])
        for finding, thin in itertools.zip_longest(findings, usual)
    ]


def _scale(finding: ComponentRow, *, log: bool) -> Scale:
    log = log and all(value > 0 for value in _known(finding))
    return finding.region.low, finding.region.high, log


def _known(finding: ComponentRow) -> list[float]:
    values = (finding.estimate, *finding.shown.ends, *finding.region.ends)
    return [value for value in values if value is not None and math.isfinite(value)]


def _window(rows: list[ComponentRow], *, log: bool) -> tuple[float, float, bool]:
    values = [_place(value, log=log) for row in rows for value in _known(row)] or [0.0]
    low, high = min(values), max(values)
    region = rows[0].region
    if region.low is not None and region.high is not None and not log:
        reach = REACH * (region.high - region.low)
        low, high = max(low, region.low - reach), min(high, region.high + reach)
    margin = MARGIN * (high - low) or abs(high) or 1.0
    return low - margin, high + margin, log


def _place(value: float, *, log: bool) -> float:
    return math.log10(value) if log else value


def _bar(finding: ComponentRow, usual: Range | None, low: float, high: float, log: bool) -> Bar:
    def percent(value: float) -> float:
        return round(100 * (_place(value, log=log) - low) / (high - low), 2)

    def ends(of: Range) -> tuple[float, float]:
        left = 0.0 if of.low is None else percent(of.low)
        right = 100.0 if of.high is None else percent(of.high)
        return left, right

    bounds, region = finding.shown, finding.region
    left, right = ends(bounds)
    point = None if finding.estimate is None else percent(finding.estimate)
    return Bar(
        region=_clip(*ends(region)),
        bounds=_clip(left, right),
        point=point if point is not None and 0 <= point <= 100 else None,
        bounded=(region.low is not None, region.high is not None),
        cut=(bounds.low is None or left < 0, bounds.high is None or right > 100),
        usual=None if usual is None else _clip(*ends(usual)),
    )


def _clip(left: float, right: float) -> tuple[float, float]:
    return min(max(left, 0.0), 100.0), min(max(right, 0.0), 100.0)
