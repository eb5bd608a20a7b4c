"""The first lines of a report: its finding, how close theory is, and the statements tested."""

import statistics
from collections.abc import Sequence

from recall_reports import figures, phrases, summary
from recall_reports.record import ClaimRow, ComponentRow, Record
from recall_reports.record.values import Scale

TESTED = {
    "derived": "formulas that we derived from the papers' {read}",
    "stated": "a sentence as published",
    "reported": "a sentence from reviews, notes, code or figures",
}
"""Words for the tested statements, by provenance."""
AIMS: dict[tuple[Scale, bool], tuple[str, str, str]] = {
    ("ratio", False): ("ratio of means", "ratios of means", "%"),
    ("probability", False): ("probability", "probabilities", " points"),
    ("ratio", True): ("critical size", "critical sizes", "%"),
    ("exponent", False): ("exponent", "exponents", ""),
}
"""Names of one estimand and of several, and the unit of errors, by scale and whether the estimand
is a critical value."""
RIGHT: dict[Scale, float] = {"ratio": 1.0, "probability": 0.0, "difference": 0.0, "share": 1.0}
"""Value of the estimand if the theory is right, by scale; on other scales the region's middle."""


def headline(record: Record) -> str:
    """Say in one sentence what the run found, or what failed."""
    claims, exploratory = summary.split(record)
    passed = [claim for claim in claims if claim.outcome == "passed"]
    if record.suite.ahead or not passed:
        return summary.sentence(record)
    if any(claim.outcome == "failed" for claim in claims):
        return summary.outcome(claims)
    false = summary.count(passed).get(phrases.AS_EXPECTED, 0)
    decided = "the one claim decided" if len(passed) == 1 else f"all {len(passed)} claims decided"
    if false == len(passed):
        text = f"Simulation refutes {decided}, as expected"
    elif false:
        agrees = phrases.claims(len(passed) - false)
        text = f"Simulation agrees with theory in {agrees} and refutes {false}, as expected"
    else:
        text = f"Simulation agrees with theory in {decided}"
    states = summary.count(exploratory)
    results = states.get("SURVIVES", 0) + states.get("BREAKS", 0)
    if results:
        survive = f"{states.get('SURVIVES', 0)} of {results} results survive"
        text += f"; {survive} without one of their assumptions"
    return f"{text}."


def first_lines(record: Record) -> list[str]:
    """Write the lines under the headline: how many claims hold, how closely, and their origins."""
    claims, exploratory = summary.split(record)
    lines = [_how_many(claims, exploratory), _how_close(claims), _what_is_tested(record, claims)]
    return [line for line in lines if line]


def _how_many(claims: Sequence[ClaimRow], exploratory: Sequence[ClaimRow]) -> str:
    parts = []
    total = phrases.claims(len(claims) + len(exploratory))
    for whose, members in (("on theorems", claims), ("without an assumption", exploratory)):
        states = summary.count(members)
        found = [
            f"{states[state]} {words[states[state] > 1]}"
            for state, words in summary.OUTCOMES.items()
            if state in states
        ]
        if found:
            parts.append(f"Of {len(members)} {whose} {'; '.join(found)}.")
    fixed = f"{total}, each with a region fixed before its simulation." if parts else ""
    return " ".join([fixed, *parts])


def _how_close(claims: Sequence[ClaimRow]) -> str:
    """Write the median distance from the theory, and the median noticeable error, by estimand."""
    expected = [c for c in claims if c.state == "DECIDED" and c.expected == "SUPPORTED"]
    by_aim = summary.grouped(expected, lambda claim: (claim.rule.scale, claim.rule.locates))
    found, noticed = [], []
    for aim, (one, several, unit) in AIMS.items():
        members = by_aim.get(aim, [])
        distances = [distance(aim[0], part) for c in members for part in c.components]
        off = [value for value in distances if value is not None]
        sharp = [claim.resolution for claim in members if claim.resolution is not None]
        if off and sharp:
            found.append(f"{_typical(off, unit)} in {len(off)} {one if len(off) == 1 else several}")
            noticed.append(_typical(sharp, unit))
    if not found:
        return ""
    return (
        f"Median distance from theory: {summary.listed(found)}. "
        f"Median error that would have been noticed: {summary.listed(noticed)}."
    )


def _typical(values: Sequence[float], unit: str) -> str:
    """Write the median to two figures, in per cent or points if `unit` says so."""
    middle = statistics.median(values) * (100 if unit else 1)
    return f"{figures.two_figures(middle)}{unit}"


def distance(scale: Scale, part: ComponentRow) -> float | None:
    """Return an estimate's distance from the theory; None if the estimate or an edge is missing."""
    low, high = part.region.low, part.region.high
    if part.estimate is None or low is None or high is None:
        return None
    return abs(part.estimate - RIGHT.get(scale, (low + high) / 2))


def _what_is_tested(record: Record, claims: Sequence[ClaimRow]) -> str:
    """Say where the tested statements come from, and count the claims for each origin."""
    found = summary.evidence(claims)
    sources = {claim.source.paper for claim in found.get("derived", ())}
    known = {paper.read for paper in record.papers if paper.key in sources}
    only = known.pop() if len(known) == 1 else ""
    read = f"{only}, not their proofs" if only else "statements"
    parts = [
        f"{len(found[name])} test{'s' * (len(found[name]) == 1)} {words.format(read=read)}"
        for name, words in TESTED.items()
        if name in found
    ]
    if "pilot" in found:
        has = "has" if len(found["pilot"]) == 1 else "have"
        parts.append(f"{len(found['pilot'])} {has} a region from a pilot")
    if not parts:
        return ""
    first, *others = parts
    number, _, rest = first.partition(" ")
    return (
        "; ".join([f"{number} of {phrases.claims(len(claims))} on theorems {rest}", *others]) + "."
    )
