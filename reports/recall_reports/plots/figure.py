"""The figures at the top of a report: theory's curves and simulation's dots."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from msgspec.structs import replace

from recall_reports import phrases
from recall_reports.analyses import Analyses
from recall_reports.plots.chart import COLOURS, HUGE, INK, MUTED, Chart, Mark
from recall_reports.plots.panel import svg
from recall_reports.plots.series import (
    Series,
    bounds,
    is_number,
    lines_of,
    near,
    observed,
    padded,
    points,
    predicted,
    scale_axis,
    series,
    value,
)
from recall_reports.record import ClaimRow, Figure, PaperRow, Range, Record, values
from recall_reports.record.values import Plot

DOT = 5.0
MARGIN, ROOM = 0.03, 0.3  # space left and right of all curves, as shares of their width
BROAD = 5.0  # ratio of the largest to the least value above which rows have a logarithmic axis

Chosen = Sequence[tuple[ClaimRow, values.Series]]


@dataclass(frozen=True)
class Drawn:
    """A drawn figure, with the claims that it shows."""

    paper: PaperRow
    title: str
    note: str
    svg: Markup
    claims: Sequence[ClaimRow]


def figures(record: Record, analyses: Analyses) -> list[Drawn]:
    """Draw the figures of a record's papers, as far as the record has their claims.

    Bars are 95% intervals where these are known, and else intervals of the verdicts.
    """
    claims = {claim.id: claim for claim in record.claims}
    found = []
    for paper in record.papers:
        for figure in paper.figures:
            chosen = [(claims[one.claim], one) for one in figure.series if one.claim in claims]
            chart = Chart(title=figure.title)
            paint = _rows if figure.kind == "rows" else _curves
            usual = paint(chart, figure, chosen, analyses)
            if usual is not None:
                shown = list({claim.id: claim for claim, _ in chosen}.values())
                kinds = ["95% intervals"] * (True in usual)
                kinds += ["intervals of the verdicts"] * (False in usual)
                bars = f"Bars: {' and '.join(kinds)}." if kinds else ""
                note = " ".join(filter(None, (figure.note, bars)))
                drawn = svg(chart, f"{figure.title}. {note}")
                found.append(Drawn(paper, figure.title, note, drawn, shown))
    return found


def _curves(chart: Chart, figure: Figure, chosen: Chosen, analyses: Analyses) -> set[bool] | None:
    """Draw theory's curves and simulation's dots.

    Returns the kinds of bars drawn: True for 95% intervals, False for intervals of the verdicts.
    None without dots.
    """
    usual: set[bool] = set()
    heights: list[float] = []
    xs: list[float] = []
    plot = next((claim.plot for claim, _ in chosen if claim.plot is not None), None)
    if plot is None or plot.x is None:
        return None
    named = _named(figure, chosen, analyses)
    for drawn, group in named:
        lines = lines_of(drawn, group)
        places = [value(cell, plot.x) for cell in group.cells]
        for line in lines:
            chart.add(Mark("line", group.colour, line.xs, line.ys, name=group.label))
            heights += line.ys
            xs += line.xs
        if not lines:
            ys = [number for _, number in predicted(group.cells)]
            if len(ys) == len(places):
                chart.add(Mark("dots", group.colour, places, ys, "_", 6, name=group.label))
        cells = group.cells
        usual |= {cell.error is not None for cell in cells if len({*bounds([cell])}) > 1}
        points(chart, group, places, cells, label="")
        xs += places
        heights += [observed(cell) for cell in cells]
        heights += near(heights, bounds(cells))
    heights += figure.levels.values()
    if not xs:
        return None
    scale_axis(chart.x, xs, log="x" in plot.log)
    chart.x.ends = _with_room(xs, log=chart.x.log) if len(named) > 1 else None
    scale_axis(chart.y, heights, log="y" in plot.log)
    low, high = min(heights), max(heights)
    if chart.y.log:
        margin = (high / low) ** 0.05
        chart.y.ends = low / max(1.15, margin), high * max(1.25, margin)
    else:
        chart.y.ends = padded(low, high, 0.06)
    for name, level in figure.levels.items():
        chart.add(Mark("line", MUTED, [min(xs), max(xs)], [level, level], "dash0", name=name))
    chart.x.label = figure.x_label or plot.x_label or phrases.axis(plot.x, chosen[0][0].symbols)
    chart.y.label = figure.y_label or plot.y_label
    return usual


def _with_room(xs: Sequence[float], *, log: bool) -> tuple[float, float]:
    """Return ends of an axis with room for names on the right."""
    low, high = (math.log(x) if log else x for x in (min(xs), max(xs)))
    ends = low - MARGIN * (high - low), high + ROOM * (high - low)
    if not log:
        return ends
    least, most = (math.exp(min(max(end, -math.log(HUGE)), math.log(HUGE))) for end in ends)
    return least, most


def _named(figure: Figure, chosen: Chosen, analyses: Analyses) -> list[tuple[Plot, Series]]:
    """List the series of a figure, each with the plot that has its curves.

    A cell has its 95% interval or, without a standard error, the verdict's.
    """
    found: list[tuple[Plot, Series]] = []
    for claim, one in chosen:
        plot = claim.plot
        if plot is None or plot.x is None:
            continue
        cells = [
            replace(cell, interval=usual or cell.interval)
            for cell, usual in zip(claim.cells, analyses.bars(claim), strict=True)
            if one.where.items() <= cell.params.items()
            and is_number(cell.params.get(plot.x))
            and is_number(cell.observed)
        ]
        group = () if one.label else tuple(figure.group) or plot.group
        plot = Plot(plot.kind, plot.x, group, plot.log, line=plot.line)
        for part in series(replace(claim, cells=cells), plot):
            colour = COLOURS[len(found) % len(COLOURS)]
            found.append((plot, Series(one.label or part.label, colour, "o", part.cells)))
    return found


def _rows(chart: Chart, figure: Figure, chosen: Chosen, analyses: Analyses) -> set[bool] | None:
    """Draw a row for each of the figure's series: predicted and simulated value.

    Returns what `_curves` returns.
    """
    found = (_row(claim, one, analyses) for claim, one in chosen)
    rows = sorted(filter(None, found), key=lambda row: row[1])
    if not rows:
        return None
    places = list(map(float, range(len(rows))))
    expected, simulated = [row[1] for row in rows], [row[2] for row in rows]
    chart.add(Mark("dots", INK, expected, places, "|", 5, label="theory"))
    for at, row in zip(places, rows, strict=True):
        chart.add(Mark("line", COLOURS[1], row[3], [at, at], "thin"))
    chart.add(Mark("dots", COLOURS[1], simulated, places, "o", DOT, label="simulation"))
    xs = [*expected, *simulated]
    scale_axis(chart.x, xs, log=min(xs) > 0 and max(xs) > BROAD * min(xs))
    chart.y.ticks, chart.y.names = places, [row[0] for row in rows]
    chart.y.ends = -0.7, len(rows) - 0.3
    chart.x.label = figure.x_label
    return {row[4] for row in rows if row[3][0] < row[3][1]}


def _row(
    claim: ClaimRow, one: values.Series, analyses: Analyses
) -> tuple[str, float, float, tuple[float, float], bool] | None:
    """Return a row's name, predicted and observed value, interval, and whether the interval is the
    usual analysis's; None if a number is missing."""
    cell = next((c for c in claim.cells if one.where.items() <= c.params.items()), None)
    if cell is None:
        return None
    unit = cell.params.get(one.per, 1) if one.per else 1
    right = cell.critical if claim.rule.locates else cell.predicted
    parts = zip(claim.components, analyses.ends(claim), strict=True)
    part = next((p for p in parts if p[0].params.items() <= cell.params.items()), None)
    if part is None or not is_number(right) or not is_number(unit) or part[0].estimate is None:
        return None
    right = right / unit
    ends = part[1]
    if ends is None and not claim.rule.locates:  # bounds of a crossing are a bracket
        ends = part[0].shown
    if ends is None or None in (ends.low, ends.high):
        ends = Range(part[0].estimate, part[0].estimate)
    ratio = claim.rule.scale == "ratio"
    found, low, high = (
        right * x if ratio else right + x / unit for x in (part[0].estimate, *ends.ends)
    )
    return one.label, right, found, (low, high), part[1] is not None
