"""Results of a search of the regimes, in words."""

import textwrap
from collections.abc import Iterator

from recall_reports import figures, phrases
from recall_reports.record import ClaimRow, Record

FEW = 10
"""Number of points below which a text says that a hunt tried few."""


def lines(record: Record) -> Iterator[str]:
    """Write a line per searched claim, confirmed violations first, and count unsearched ones."""
    hunted = [claim for claim in record.claims if claim.hunt is not None]
    searched = [claim for claim in hunted if claim.hunt and not claim.hunt.why_not]
    for claim in sorted(searched, key=lambda claim: violation(claim) == ""):
        yield f"hunt {claim.id}: {violation(claim) or summary(claim)}"
    left = len(hunted) - len(searched)
    if left:
        yield f"hunt: {phrases.claims(left)} not searched; the record says why"


def violation(claim: ClaimRow) -> str:
    """Describe the confirmed violation of a claim; "" without one."""
    found = claim.hunt.confirmed if claim.hunt else None
    if found is None:
        return ""
    place = phrases.parameters(found.params, claim.symbols)
    return (
        f"violated at {place}, confirmed on fresh evidence with error "
        f"probability {figures.number(found.alpha, 2)} (confirmation {found.number} of the ledger, "
        f"which shows it again: {claim.replay} --hunt 1s)"
    )


def summary(claim: ClaimRow) -> str:
    """Say how much of the regime was searched, and the point nearest to a violation."""
    hunt = claim.hunt
    if hunt is None or hunt.why_not:
        return f"not searched: {hunt.why_not}" if hunt else "not searched"
    text = f"no violation in {hunt.tried} points of its regime"
    if hunt.suspected:
        text = f"one of {hunt.tried} points fails: a longer hunt simplifies and judges it"
    elif hunt.exhausted:
        text += ", all that there are"
    else:
        reached = _reached(claim)
        text += ", which is few" * (hunt.tried < FEW) + f", {reached}" * bool(reached)
    if hunt.refused:
        often = textwrap.shorten(next(iter(hunt.refused)), 120, placeholder=" …")
        text += f"; {sum(hunt.refused.values())} could not be tried, most often by “{often}”"
    worst = hunt.points[0] if hunt.points else None
    if worst is not None and worst.discrepancy is not None:
        place = phrases.parameters(worst.params, claim.symbols)
        text += f"; nearest at {place}, {_gap(claim, worst.discrepancy)}"
    return text


def _reached(claim: ClaimRow) -> str:
    """Say how far the search went in each parameter: a regime may exceed affordable sizes."""
    points = claim.hunt.points if claim.hunt else []
    found = []
    for name in points[0].params if points else ():
        values = [point.params[name] for point in points if name in point.params]
        numbers = [v for v in values if not isinstance(v, bool | str)]
        if numbers and min(numbers) < max(numbers):
            ends = f"{phrases.setting(min(numbers))} to {phrases.setting(max(numbers))}"
            found.append(f"{phrases.symbol(name, claim.symbols)} {ends}")
    return ", ".join(found)


def _gap(claim: ClaimRow, discrepancy: float) -> str:
    """Say how far a point is from the region's edge, and on which side.

    The distance is in widths of the region, or in the estimand's units if the region has one edge.
    For a critical value, it is the distance of a rate from its target, as a share of the target.
    """
    if claim.rule.locates:
        side = "wrong" if discrepancy > 0 else "right"
        return f"{abs(discrepancy):.0%} of the target rate on the {side} side"
    size = figures.number(abs(discrepancy), 2)
    if all(None not in (part.region.low, part.region.high) for part in claim.components):
        size = f"{abs(discrepancy):.2f} of the region's size"
    return f"{size} {'beyond' if discrepancy > 0 else 'within'} the edge"
