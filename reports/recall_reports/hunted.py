"""What a search of the regimes found, in words."""

import math
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence

from recall_reports import phrases
from recall_reports.record import Beyond, Claim, Parameters, Record


def lines(record: Record) -> Iterator[str]:
    """A line for each claim that was hunted, confirmed violations first, and one for the rest."""
    hunted = [claim for claim in record.claims if claim.hunt is not None]
    searched = [claim for claim in hunted if claim.hunt and not claim.hunt.why_not]
    for claim in sorted(searched, key=lambda claim: violation(claim) == ""):
        yield f"hunt {claim.id}: {violation(claim) or summary(claim)}"
    left = len(hunted) - len(searched)
    if left:
        yield f"hunt: {left} claims were not searched; their records say why"


def violation(claim: Claim) -> str:
    """The confirmed violation of a claim, or ""."""
    found = claim.hunt.confirmed if claim.hunt else None
    if found is None:
        return ""
    return (
        f"violated at {at(claim, found.params)}, confirmed on fresh evidence with error "
        f"probability {phrases.number(found.alpha, 2)} (confirmation {found.number} of the ledger, "
        f"which shows it again: {claim.replay} --hunt 1s)"
    )


def summary(claim: Claim) -> str:
    """How much of the regime was searched, and the point nearest to a violation."""
    hunt = claim.hunt
    if hunt is None or hunt.why_not:
        return f"not searched: {hunt.why_not}" if hunt else "not searched"
    text = f"no violation in {hunt.tried} points of its regime"
    if hunt.suspected:
        text = f"a point of {hunt.tried} fails and is not yet shrunk: a longer hunt judges it"
    if hunt.exhausted:
        text += ", all that there are"
    if hunt.refused:
        often = textwrap.shorten(next(iter(hunt.refused)), 120, placeholder=" …")
        text += f"; {sum(hunt.refused.values())} could not be tried, most often by “{often}”"
    worst = hunt.points[0] if hunt.points else None
    if worst is not None and worst.discrepancy is not None:
        text += f"; nearest at {at(claim, worst.params)}, {_gap(claim, worst.discrepancy)}"
    return text


def _gap(claim: Claim, discrepancy: float) -> str:
    """A region with one edge has no size to measure by."""
    if all(None not in (part.region.low, part.region.high) for part in claim.components):
        return f"{discrepancy:+.2f} regions"
    side = "beyond" if discrepancy > 0 else "within"
    return f"{phrases.number(abs(discrepancy), 2)} {side} the edge"


def beyond(claim: Claim) -> str:
    """How far beyond the edges of the regime the formula holds; "" where nobody looked.

    First the parameters by which it comes to be outside the region, then those by which it did not.
    """
    ways: dict[tuple[str, object], list[Beyond]] = defaultdict(list)
    for point in claim.hunt.beyond if claim.hunt else ():
        ratio = _ratio(point)
        ways[point.parameter, ratio > 0 if ratio else point.params[point.parameter]].append(point)
    left, kept = [], []
    for points in ways.values():
        first = min((p for p in points if p.outside), key=_distance, default=None)
        held = [p for p in points if first is None or _distance(p) < _distance(first)]
        last = max(held, key=_distance, default=None)
        if first is not None:
            left.append(_place(claim, first, points))
            left[-1] += f", not yet at {_how_far(last, points)}" if last else ""
        elif last is not None:
            kept.append(_place(claim, last, points))
    said = {"outside the region at": left, "nothing seen as far as": kept}
    return " ".join(
        phrases.sentence(f"{text} {'; '.join(places)}") for text, places in said.items() if places
    )


def _ratio(point: Beyond) -> float:
    """In octaves of the edge, negative below it; 0 for an option."""
    value, edge = point.params[point.parameter], point.edge
    numbers = [v for v in (value, edge) if isinstance(v, int | float) and not isinstance(v, bool)]
    return math.log2(numbers[0] / numbers[1]) if len(numbers) == 2 else 0.0


def _distance(point: Beyond) -> float:
    return abs(_ratio(point))


def _place(claim: Claim, point: Beyond, points: Sequence[Beyond]) -> str:
    """A point beyond an edge, as its parameter's value or, where edges differ, as a multiple."""
    name = phrases.symbol(point.parameter, claim.symbols)
    if not _ratio(point):
        return f"{name} = {_how_far(point, points)}"
    if len({p.edge for p in points}) > 1:
        return f"{_how_far(point, points)} the edge of {name}"
    return f"{name} = {_how_far(point, points)} (edge {phrases.setting(point.edge)})"


def _how_far(point: Beyond, points: Sequence[Beyond]) -> str:
    if not _ratio(point) or len({p.edge for p in points}) == 1:
        return phrases.setting(point.params[point.parameter])
    times = phrases.number(2 ** _distance(point), 2)
    return f"{times} times" if _ratio(point) > 0 else f"1/{times} of"


def at(claim: Claim, params: Parameters) -> str:
    """A point in the paper's letters."""
    return phrases.parameters(params, claim.symbols)
