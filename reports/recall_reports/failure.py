"""Lines that pytest prints about a failed claim."""

import math

from recall_reports import figures, phrases
from recall_reports.record import ClaimRow, ComponentRow

GAP = {
    "ratio": "{:.2%} of the prediction",
    "probability": "{:.3g} in probability",
    "exponent": "{:.3g} in the exponent",
    "share": "{:.1%} of the points",
}
NO_SAMPLING = "error"
"""Scale of identities, which use no error budget."""
MOST = 1e4
"""Largest multiple of a claim's replicates to print."""


def message(claim: ClaimRow, share: float, budget: float, since: str = "") -> str:
    """State the theorem's value, the data's value, their difference and its certainty.

    Args:
        claim: a decided claim whose verdict is not as expected.
        share: the claim's slot of the error budget, its alpha.
        budget: the run's error budget.
        since: edits since the claim came out as expected; empty if unknown.
    """
    why = f": {' '.join(claim.explanation.split())}" if claim.explanation else ""
    either = "the theory is wrong, or the simulation is" * (claim.verdict == "REFUTED")
    suspect = "; ".join(filter(None, (either, since)))
    lines = {
        "theorem": _theorem(claim),
        "data": _data(claim),
        "off by": _off_by(claim),
        "needs": _needs(claim),
        "notices": f"{phrases.resolution(claim)}.",
        "error": _error(claim, share, budget),
        "controls": _controls(claim),
        "suspect": f"{suspect}." if suspect else "",
        "replay": claim.replay,
    }
    body = [f"  {name:<9} {text}" for name, text in lines.items() if text]
    return "\n".join([f"{claim.verdict} (expected {claim.expected}{why})", *body])


def _theorem(claim: ClaimRow) -> str:
    source, head = claim.source, claim.head
    says = f"{phrases.title(claim)} ({source.paper} {', '.join(source.statements)})"
    if head is None:
        return phrases.sentence(says)
    estimand = claim.rule.method.partition(". ")[0]
    place = phrases.component_name(claim, head, head.params)
    cells = [cell for cell in claim.cells if cell.params == head.params]
    predicted = cells[0].predicted if len(cells) == 1 else None
    predicts = "" if predicted is None else f"{phrases.setting(predicted)} predicted, "
    return f"{says}. At {place}: {predicts}region {figures.bounds(head.region)} ({estimand})."


def _data(claim: ClaimRow) -> str:
    found = figures.in_words(claim.head)
    verdicts = [component.verdict for component in claim.components]
    if len(verdicts) > 1:
        places = [
            f"{verdicts.count(verdict)} {place}"
            for verdict, place in phrases.PLACES.items()
            if verdict in verdicts
        ]
        found += f", the worst of {len(verdicts)} components ({', '.join(places)})"
    return f"{found}; replicates: {phrases.replicates(claim)}; {phrases.judged(claim)}."


def _off_by(claim: ClaimRow) -> str:
    """Say how far the headline component is, or may be, beyond an edge."""
    head = claim.head
    if head is None or head.verdict == "SUPPORTED":
        return "nothing: the bounds lie inside the region."
    refuted, found = head.verdict == "REFUTED", []
    for edge, sign, name in ((head.region.low, -1, "lower"), (head.region.high, 1, "upper")):
        if edge is None:
            continue
        ends = head.interval if refuted else head.one_sided
        end = ends.low if refuted == (sign > 0) else ends.high
        if end is None:
            if not refuted:
                found.append(f"the data give no bound beyond the {name} edge")
        elif sign * (end - edge) > 0:
            beyond = f"{_gap(claim, sign * (end - edge))} beyond the {name} edge"
            if head.estimate is not None:
                far = sign * (head.estimate - edge)
                side = "beyond" if far > 0 else "inside"
                beyond += f" (the estimate is {_gap(claim, abs(far))} {side})"
            found.append(f"{'at least' if refuted else 'bounds reach'} {beyond}")
    return f"{', '.join(found)}." if found else "nothing that can be said."


def _needs(claim: ClaimRow) -> str:
    """Say how many replicates n would decide a claim, if bounds narrow as one over root n.

    Bounds of a located crossing do not narrow: they are among sizes fixed beforehand.
    """
    open_ = [part for part in claim.components if part.verdict == "INCONCLUSIVE"]
    undecided = open_ and claim.cells and claim.verdict != "REFUTED"
    if not undecided or claim.rule.locates or claim.rule.scale == NO_SAMPLING:
        return ""
    factors = [_factor(part) for part in open_]
    factor = max(factors)
    if not factor < MOST:
        return "more than can be said: an estimate is too near an edge, or has no bounds."
    count = float(f"{factor * max(cell.replicates for cell in claim.cells):.1e}")
    return (
        f"about {figures.number(count)} replicates of a cell, {factor:.2g} times as many "
        f"({phrases.seconds(factor * claim.seconds)} of one core, if every cell has them): at "
        "this spread their bounds would lie inside the region, or beyond an edge."
    )


def _factor(part: ComponentRow) -> float:
    """Return the factor on replicates after which an estimate's bounds would clear the edges."""
    (low, high), at = part.region.ends, part.estimate
    if at is None:
        return math.inf
    if at < low:
        asked = [(low - at, part.interval.high)]
    elif at > high:
        asked = [(at - high, part.interval.low)]
    else:
        asked = [(at - low, part.one_sided.low), (high - at, part.one_sided.high)]
    factors = [
        math.inf if end is None or room == 0 else ((at - end) / room) ** 2
        for room, end in asked
        if math.isfinite(room)
    ]
    return max(factors, default=math.inf)


def _gap(claim: ClaimRow, size: float) -> str:
    form = GAP.get(claim.rule.scale)
    return figures.number(size) if form is None else form.format(size)


def _error(claim: ClaimRow, share: float, budget: float) -> str:
    if claim.rule.scale == NO_SAMPLING:
        return "none from sampling: an identity uses nothing of the error budget."
    what = "refuted" if claim.verdict == "REFUTED" else "decided"
    exact = "at most" if claim.rule.exact else "nominally"
    spent = (
        f"{what} wrongly with probability {exact} {figures.number(share)}, its slot of the "
        f"error budget of {figures.number(budget)}"
    )
    notes = [spent, phrases.certificate(claim), phrases.draws(claim)]
    return f"{'; '.join(filter(None, notes))}."


def _controls(claim: ClaimRow) -> str:
    if not claim.controls:
        return "none declared."
    refuted = [control.id for control in claim.controls if control.verdict == "REFUTED"]
    standing = [
        f"{control.id} {figures.finding(control)} against {figures.region(control)}"
        + ", with which the data agree" * (control.verdict == "SUPPORTED")
        for control in claim.controls
        if control.verdict != "REFUTED"
    ]
    if not standing:
        return f"all refuted: {', '.join(refuted)}."
    also = f"; the data refute {', '.join(refuted)}" if refuted else ""
    loose = [
        control.id
        for control in claim.controls
        if control.verdict == "SUPPORTED"
        if control.region and None in (control.region.low, control.region.high)
    ]
    if loose:
        also += (
            f"; the bound is loose enough to admit {', '.join(loose)}: plant an error that moves "
            "it past the estimate"
        )
    return f"not refuted: {', '.join(standing)}{also}."
