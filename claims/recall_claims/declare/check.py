"""Refuse a claim that is written wrongly, before anything runs."""

from collections.abc import Sequence

from recall_claims.declare.claim import TIERS, Claim
from recall_claims.declare.papers import papers
from recall_claims.errors import ClaimError
from recall_claims.evidence.fingerprints import visible_names


def check(claim: Claim, tiers: Sequence[str] = TIERS) -> None:
    """Refuse a claim that is written wrongly, before anything runs.

    Args:
        claim: the claim.
        tiers: tiers whose grids are tried against rule, prediction and controls, which takes a
            call of every prediction in every cell.

    Raises:
        ClaimError: names everything that is missing or impossible, and the remedy.
    """
    problems = [*_missing(claim), *_impossible(claim, tiers)]
    if problems:
        raise ClaimError(f"claim {claim.id}: " + "; ".join(problems))


def _missing(claim: Claim) -> list[str]:
    problems = []
    source = claim.source
    if source.paper not in papers():
        problems.append(
            f"no provenance: source= must name a paper that was added ({', '.join(papers())})"
        )
    else:
        known = {statement.id for statement in papers()[source.paper].statements}
        unknown = [s for s in source.statements if s not in known]
        if unknown or not source.statements:
            problems.append(
                f"source= must name statements of paper {source.paper}, "
                f"not {', '.join(unknown) or 'none'}"
            )
    if source.provenance not in ("stated", "reported", "derived"):
        problems.append("provenance must be stated, reported or derived")
    if not claim.statement:
        problems.append("no statement: write the theorem in words as the function's docstring")
    if not claim.regime:
        problems.append("no regime: say why the grid lies in the theorem's regime")
    if not claim.why:
        problems.append("no why=: say why the region is as wide as it is")
    if claim.expected == "SUPPORTED" and not claim.controls and not claim.exploratory:
        problems.append("no control: plant at least one wrong theory that the data must refute")
    if claim.expected == "REFUTED" and not claim.explanation:
        problems.append("expected REFUTED needs an explanation")
    if claim.expected not in ("SUPPORTED", "REFUTED"):
        problems.append(f"expected must be SUPPORTED or REFUTED, not {claim.expected!r}")
    problems += [
        f"control {control.id} changes neither predict nor rule"
        for control in claim.controls
        if control.predict is None and control.rule is None and control.alter is None
    ]
    if len({control.id for control in claim.controls}) < len(claim.controls):
        problems.append("two controls share an id")
    return problems


def _impossible(claim: Claim, tiers: Sequence[str]) -> list[str]:
    problems = []
    strangers = [t for t in (*claim.cells, *claim.replicates, *claim.looks) if t not in TIERS]
    if strangers:
        problems.append(f"unknown tier {', '.join(strangers)}; tiers are {', '.join(TIERS)}")
    if not any(claim.cells.values()):
        problems.append("no cells in any tier")
    theory = [name for name in visible_names(claim.observe) if "theory" in name.split(".")]
    if theory:
        problems.append(
            f"its simulation sees the prediction ({', '.join(theory)}): use theory only in "
            "predict, rule and cells"
        )
    for tier, points in claim.cells.items():
        if len(set(points)) < len(points):
            problems.append(f"a cell stands twice in the {tier} grid")
        if claim.replicates.get(tier, 0) < 2 or claim.looks.get(tier, 0) < 1:
            problems.append(f"the {tier} tier needs at least 2 replicates and 1 look")
        if tier not in tiers:
            continue
        if claim.domain is not None:
            scan = getattr(claim.rule, "scan", None)
            outside = ((c.id, claim.domain.why_outside(c, ignoring=scan)) for c in points)
            problems += [f"its regime excludes cell {name}: {why}" for name, why in outside if why]
        for planted in (None, *claim.controls):
            try:
                judged = planted.planted(claim) if planted else claim
                judged.rule.check(points, judged.predict)
                if planted is None and claim.expected == "SUPPORTED" and not claim.exploratory:
                    judged.rule.decidable(points, judged.predict)
            except (ClaimError, ValueError, TypeError, KeyError) as error:
                problems.append(f"impossible {tier} grid: {error}")
    return list(dict.fromkeys(problems))
