"""Contradictions in a record, whoever wrote it.

A verdict follows from intervals, regions and controls. A record that states another verdict was
edited, or was made by edited code. A record without contradictions may still be invented.
"""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from recall_reports.record import Claim, Component, Control, PaperBudget, Range, Record
from recall_reports.values import Verdict

ROUNDING = 1e-9
EVERYTHING = Range(None, None)


def contradictions(record: Record) -> Iterator[tuple[str, str]]:
    """Places in a record that contradict others or name what is missing, each with the problem."""
    ids = set[str]()
    papers = {paper.key for paper in record.papers}
    budgets = record.suite.error_budget.papers
    for index, claim in enumerate(record.claims):
        place, paper = f"claims[{index}].", claim.source.paper
        if claim.id in ids:
            yield f"{place}id", "a second claim of this name"
        ids.add(claim.id)
        if paper not in papers:
            yield f"{place}source.paper", f"{paper!r} is not a paper of this record"
        elif paper not in budgets:
            yield f"{place}source.paper", f"{paper!r} has no share of the error budget"
        else:
            for field, problem in _of_claim(claim, budgets[paper]):
                yield place + field, problem
    for index, entry in enumerate(record.papers):
        rests_on = {statement.id: statement.rests_on for statement in entry.statements}
        yield from _of_graph(f"papers[{index}].statements", rests_on)
    yield from _of_graph("derivations", {e.module: e.rests_on for e in record.derivations})


def _of_graph(place: str, rests_on: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    for index, bases in enumerate(rests_on.values()):
        for name in bases:
            if name not in rests_on:
                yield f"{place}[{index}].rests_on", f"{name!r} is not among them"
    try:
        TopologicalSorter(rests_on).prepare()
    except CycleError as error:
        circle = " <- ".join(reversed(error.args[1]))
        yield place, f"{circle} rest on one another in a circle"


def _of_claim(claim: Claim, budget: PaperBudget) -> Iterator[tuple[str, str]]:
    if claim.state != "DECIDED":
        if claim.components:
            yield "components", f"evidence of a claim in state {claim.state}"
        return
    if claim.alpha is None or not 0 < claim.alpha <= budget.per_claim * (1 + ROUNDING):
        yield "alpha", f"{claim.alpha} is no part of the {budget.per_claim:.3g} that it may spend"
    if claim.cells and claim.replicates != sum(cell.replicates for cell in claim.cells):
        yield "replicates", f"{claim.replicates} are not those of the cells together"
    for index, part in enumerate(claim.components):
        place, possible = f"components[{index}]", _possible(part, part.one_sided)
        if part.region.ends == EVERYTHING.ends:
            yield f"{place}.region", "without any end, so that nothing could refute it"
        elif part.verdict not in possible:
            yield place, f"{part.verdict} where its figures say {' or '.join(possible)}"
    yield from _controls(claim)
    follows = _verdict(claim)
    stated = {"SURVIVES": "SUPPORTED", "BREAKS": "REFUTED"}.get(claim.verdict or "", claim.verdict)
    if stated != follows:
        yield "verdict", f"{claim.verdict} where components and controls say {follows}"
    if claim.outcome == "passed" and not claim.exploratory and claim.verdict != claim.expected:
        yield "outcome", f"'passed' with verdict {claim.verdict}, where it expects {claim.expected}"
    if claim.outcome == "skipped" and claim.verdict != "INCONCLUSIVE":
        yield "outcome", f"'skipped' with verdict {claim.verdict}"
    if claim.expected == "REFUTED" and not claim.explanation:
        yield "explanation", "missing, although the claim is expected to be REFUTED"


def _controls(claim: Claim) -> Iterator[tuple[str, str]]:
    ids = [control.id for control in claim.controls]
    if len(set(ids)) < len(ids):
        yield "controls", "two of them have the same name"
    dropped = set().union(*(cell.controls for cell in claim.cells)).difference(ids)
    if dropped:
        yield "controls", f"the cells have predictions of {', '.join(sorted(dropped))}, not listed"
    if not ids and claim.expected == "SUPPORTED" and not claim.exploratory:
        yield "controls", "a claim on a theorem has at least one"
    for index, control in enumerate(claim.controls):
        if control.region is None or control.interval is None or control.verdict is None:
            yield f"controls[{index}]", "not tried, in a claim that was judged"
        elif (control.verdict == "REFUTED") not in {v == "REFUTED" for v in _possible(control)}:
            yield f"controls[{index}]", f"{control.verdict} where its figures say otherwise"


def _verdict(claim: Claim) -> Verdict:
    verdicts = {part.verdict for part in claim.components}
    hunted = claim.hunt is not None and claim.hunt.confirmed is not None
    if hunted or "REFUTED" in verdicts:
        return Verdict.REFUTED
    standing = any(control.verdict != "REFUTED" for control in claim.controls)
    undecided = standing or Verdict.INCONCLUSIVE in verdicts
    return Verdict.INCONCLUSIVE if undecided else Verdict.SUPPORTED


def _possible(found: Component | Control, one_sided: Range | None = None) -> tuple[Verdict, ...]:
    """What can be the verdict on figures, by the rule of `recall_claims.judge.region`."""
    interval = found.interval or EVERYTHING
    (low, high), (least, most) = (found.region or EVERYTHING).ends, interval.ends
    inside = (one_sided or interval).ends
    if low <= inside[0] and inside[1] <= high:
        return (Verdict.SUPPORTED,)
    if found.estimate is None and interval.ends == EVERYTHING.ends:
        return (Verdict.INCONCLUSIVE, Verdict.REFUTED)  # no estimate, or an infinite one, as 1 / 0
    return (Verdict.REFUTED if most < low or least > high else Verdict.INCONCLUSIVE,)
