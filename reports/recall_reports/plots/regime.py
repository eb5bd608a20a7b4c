"""Points of a regime that a hunt has tried, over the two most telling parameters."""

from collections.abc import Sequence
from statistics import correlation
from typing import Any

from recall_reports import phrases
from recall_reports.plots.chart import COLOURS, MUTED, Chart, Mark
from recall_reports.plots.series import is_number, scale_axis
from recall_reports.record import ClaimRow, Point
from recall_reports.record.values import Plot

WIDE = 8
"""Ratio of ends above which an axis is logarithmic."""


def telling(points: list[Point]) -> tuple[str, ...]:
    """Choose up to two varying numeric parameters, by rank correlation with discrepancy."""
    known = [point for point in points if point.discrepancy is not None]
    found: dict[str, float] = {}
    for name in known[0].params if known else ():
        values = [point.params[name] for point in known]
        if all(map(is_number, values)) and len(set(values)) > 1:
            found[name] = abs(_rank_correlation(values, [point.discrepancy for point in known]))
    return tuple(sorted(found, key=lambda name: -found[name])[:2])


def _rank_correlation(one: Sequence[Any], other: Sequence[Any]) -> float:
    first, second = (
        [sorted({*values}).index(value) for value in values] for values in (one, other)
    )
    return correlation(first, second) if max(first) and max(second) else 0.0


def paint(chart: Chart, claim: ClaimRow, plot: Plot) -> str:
    """Draw all points, the points of positive discrepancy on top; return the caption."""
    assert claim.hunt is not None
    points = claim.hunt.points
    x, y = telling(points)
    suspect = [p for p in points if p.discrepancy is not None and p.discrepancy > 0]
    clean = [p for p in points if p not in suspect]
    violation = claim.hunt.confirmed
    for shown, label, colour, marker, size in (
        ([p.params for p in clean], "not shown outside", MUTED, "o", 3),
        ([p.params for p in suspect], "outside by a standard error", COLOURS[0], "^", 5),
        ([violation.params] if violation else [], "violation, confirmed", COLOURS[1], "*", 10),
    ):
        if shown:
            xs, ys = ([float(params[name]) for params in shown] for name in (x, y))
            chart.add(Mark("dots", colour, xs, ys, marker, size, label=label))
    for axis, name in ((chart.x, x), (chart.y, y)):
        values = [float(point.params[name]) for point in points]
        low, high = min(values), max(values)
        scale_axis(axis, values, log=low > 0 and high / low > WIDE)
        axis.label = phrases.axis(name, claim.symbols)
    return (
        f"{claim.hunt.tried} points of the regime that a hunt has tried"
        f"{f', the {len(points)} nearest to a violation' if claim.hunt.tried > len(points) else ''}"
        ", over the two parameters that rank them best."
    )
