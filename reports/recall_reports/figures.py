"""Numbers and intervals as all reports print them, with no more digits than they deserve."""

import math
from collections.abc import Iterable, Iterator, Sequence

from recall_reports.record import ComponentRow, ControlRow, Range
from recall_reports.record.values import Verdict

FINDING = "estimate [bounds]"
"""The heading of a column of `finding`."""
STAR = "* The edge of the region, where testing stops: the data may say more."
"""Meaning of the star that `finding` adds to a bound."""
EDGE = 0.02
"""Distance from an edge, in widths of the region, up to which a bound is on the edge."""
NARROW = 0.005
"""Largest width of a region around 1 for which deviations from 1 are printed."""
MORE_DIGITS = 6
"""Number of precisions to try, each with one more digit than the last."""


def number(value: float | None, digits: int = 3) -> str:
    """Write a number in plain figures if these are short, else as 1.2e-9; a dash for none."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    size = abs(value)
    if not 1e-3 <= size < 1e6:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        if "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        return f"{mantissa}e{int(exponent)}"
    if size >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def two_figures(value: float) -> str:
    """Write a positive number to two figures, zeros included, such as a percentage: `5.0`."""
    if not 1e-4 <= value < 99.5:
        return number(value, 2)
    return f"{value:#.2g}".removesuffix(".")


def finding(found: ComponentRow | ControlRow | None) -> str:
    """Write the estimate of a component or control with its interval; a dash for none.

    A bound on an edge of the region has a star, since testing stops there. If both bounds are on
    edges, the text is `1.00, within 0.88 to 1.13*` instead.
    """
    if found is None:
        return "–"
    ends = found.shown if isinstance(found, ComponentRow) else found.interval
    low, high = on_edges(found)
    if low and high:
        decimals = _decimals(found.region) if found.region else 0
        estimate = near_one(found) or _rounded(found.estimate, decimals)
        allowed = region(found).strip("[]").replace(", ", " to ")
        return f"{f'{estimate}, ' if estimate else ''}within {allowed}*"
    if found.estimate is not None and ends and (one := near_one(found)):
        inner = [None if end is None else _around_one(end) for end in (ends.low, ends.high)]
        same = ends.low == ends.high == found.estimate
        return one if same else f"{one} {_bracket(*inner, low_edge=low, high_edge=high)}"
    apart = found.region if found.verdict is Verdict.REFUTED else None
    return with_interval(found.estimate, ends, apart, (low, high))


def on_edges(found: ComponentRow | ControlRow) -> tuple[bool, bool]:
    """Whether each bound of a supported component is on an edge, to 2% of the region's width.

    Both are false for any other verdict, and for a region with one edge.
    """
    region = found.region
    if not isinstance(found, ComponentRow) or found.verdict is not Verdict.SUPPORTED:
        return False, False
    if region is None or region.low is None or region.high is None:
        return False, False
    close = EDGE * (region.high - region.low)
    low, high = found.shown.low, found.shown.high
    return (
        low is not None and low - region.low <= close,
        high is not None and region.high - high <= close,
    )


def starred(found: Iterable[ComponentRow | None]) -> bool:
    """Whether `finding` adds a star to one of these, so that STAR has to explain it."""
    return any("*" in finding(part) for part in found)


def in_words(found: ComponentRow | None) -> str:
    """Write the finding, and say what its star means."""
    text = finding(found)
    if "*" not in text:
        return text
    if "within" in text:
        shown = text.removesuffix("*").replace("within", "shown to be within")
        return f"{shown} (allowed: the same)"
    return f"{text} (* an edge of the region, where testing stops)"


def near_one(found: ComponentRow | ControlRow) -> str:
    """Write an estimate near 1 as `1 + 2e-4` if the region is narrow around 1; else nothing."""
    region, estimate = found.region, found.estimate
    if region is None or estimate is None or not _about_one(region) or abs(estimate - 1) > 0.1:
        return ""
    return _around_one(estimate)


def _about_one(region: Range) -> bool:
    low, high = region.ends
    return low < 1 < high and high - low <= NARROW


def _around_one(value: float) -> str:
    return f"1 {'-' if value < 1 else '+'} {number(abs(value - 1), 2)}" if value != 1 else "1"


def _bracket(low: str | None, high: str | None, *, low_edge: bool, high_edge: bool) -> str:
    return f"[{low or '-∞'}{'*' * low_edge}, {high or '∞'}{'*' * high_edge}]"


def with_interval(
    estimate: float | None,
    interval: Range | None,
    apart: Range | None = None,
    edges: tuple[bool, bool] = (False, False),
) -> str:
    """Write an estimate and its interval with as many decimals as the interval's width deserves.

    `apart`: a region that the interval is outside of. Up to `MORE_DIGITS` precisions are tried
    until the text shows this; if none does, the text is `1.1, above 1.03`. `edges`: whether each
    end has a star.
    """
    point = interval is None or (estimate is not None and interval.low == interval.high == estimate)
    ends = Range(estimate, estimate) if interval is None or point else interval
    forms = _forms(estimate, ends, point=point)
    form = next((form for form in forms if apart is None or _apart(form, apart)), None)
    if form is None and apart is not None:  # the interval ends at the region's edge
        above = apart.high is not None and ends.ends[0] >= apart.high
        side, edge = ("above", apart.high) if above else ("below", apart.low)
        return f"{number(estimate)}, {side} {number(edge, 4)}"
    assert form is not None
    narrow = form[0] is not None and len({*form}) == 1
    if point or (narrow and not any(edges)):
        return form[0] or "–"
    bounds = _bracket(*form[1:], low_edge=edges[0], high_edge=edges[1])
    return f"{form[0]} {bounds}" if form[0] is not None else bounds


def _forms(
    estimate: float | None, ends: Range, *, point: bool
) -> Iterator[tuple[str | None, str | None, str | None]]:
    """Yield the estimate and the ends in figures, each time with one more digit."""
    values = estimate, ends.low, ends.high
    known = [value for value in values if value is not None]
    width = ends.high - ends.low if ends.low is not None and ends.high is not None else 0.0
    plain = not point and width > 1e-4 and max(map(abs, known)) < 1e5
    for more in range(MORE_DIGITS):
        if plain:
            estimated, low, high = (_rounded(v, _decimals(ends) + more) for v in values)
        else:
            estimated, low, high = (None if v is None else number(v, 3 + more) for v in values)
        yield estimated, low, high


def _apart(form: Sequence[str | None], region: Range) -> bool:
    """Whether the printed interval is beyond the printed edge of the region."""
    low, high = (
        _read(text, end) for text, end in zip(form[1:], (-math.inf, math.inf), strict=True)
    )
    left, right = (_read(number(end, 4), end) for end in region.ends)
    return low > max(right, region.ends[1]) or high < min(left, region.ends[0])


def _read(text: str | None, otherwise: float) -> float:
    return otherwise if text is None or "∞" in text else float(text.replace(",", ""))


def _decimals(ends: Range) -> int:
    """Return the number of decimals that the distance between two ends deserves."""
    width = ends.ends[1] - ends.ends[0]
    return max(0, 1 - math.floor(math.log10(width))) if 0 < width < math.inf else 0


def _rounded(value: float | None, decimals: int) -> str | None:
    """Round to this number of decimals; adding 0.0 turns minus zero into zero."""
    return None if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def region(found: ComponentRow | ControlRow | None) -> str:
    """Write the region of a component or control; a dash for none."""
    return "–" if found is None or found.region is None else bounds(found.region)


def bounds(ends: Range) -> str:
    """Write a range as `[0.97, 1.03]`; with one edge as `≤ 1e-9`; if narrow, as `1 ± 1e-6`."""
    if ends.low is None and ends.high is None:
        return "anything"
    if ends.low is None:
        return f"≤ {number(ends.high, 4)}"
    if ends.high is None:
        return f"≥ {number(ends.low, 4)}"
    if _about_one(ends) and math.isclose(ends.high - 1, 1 - ends.low, rel_tol=1e-6):
        return f"1 ± {number(ends.high - 1, 2)}"
    largest, width = max(abs(ends.low), abs(ends.high)), ends.high - ends.low
    digits = max(4, 2 + math.ceil(math.log10(largest / width))) if width > 0 else 4
    return f"[{number(ends.low, digits)}, {number(ends.high, digits)}]"
