"""Refuse a claim that is written wrongly, before anything runs.

Predictions, and grids around them, take seconds to work out. So collection leaves rule and controls
untried (`check_text`). `check` tries them in the cells just before a claim runs.
"""

import re
from collections.abc import Collection, Sequence

from recall_claims.declare.claim import TIERS, Claim, Control
from recall_claims.evidence.imports import theories, visible_names
from recall_claims.evidence.looks import remembering
from recall_claims.evidence.reach import fixed_seeds
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError, about
from recall_claims.model.papers import papers
from recall_reports.record import ID, NAME

UNTENABLE = (ClaimError, ValueError, TypeError, KeyError)
"""Errors by which a rule, a prediction or a control refuses a grid."""


def check_text(claim: Claim) -> None:
    """Refuse a claim for faults that show before rule and controls are tried.

    No grid function is called, and no prediction except by `CriticalLocation`, to complete cells.

    Raises:
        ClaimError: as for `check`.
    """
    with about(claim.id):
        problems = [*_missing(claim), *_seeing(_theory_named(claim))]
        if getattr(claim.cells, "listed", True):
            problems += _numbers(claim, claim.cells)
            for tier in filter(claim.cells_known, claim.cells):
                problems += _grid(claim, tier)
        _refuse(problems)


def check(claim: Claim, tiers: Sequence[str] = TIERS) -> None:
    """Refuse a claim that is written wrongly.

    Args:
        claim: the claim.
        tiers: tiers in whose cells to try rule, prediction and controls, by calling every
            prediction in every cell.

    Raises:
        ClaimError: names all that is missing or impossible, and the remedy.
    """
    with about(claim.id):
        kept = remembering(claim)
        theory = _theory_named(claim) or theories(claim.observe)  # the latter reads modules
        problems = [*_missing(claim), *_seeing(theory), *_seeded(claim)]
        problems += _numbers(kept, kept.cells)
        for tier in kept.cells:
            if tier in tiers or kept.cells_known(tier):
                problems += _grid(kept, tier)
            if tier in tiers:
                problems += _tried(kept, tier)
        _refuse(problems)


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise ClaimError("; ".join(dict.fromkeys(problems)))


def _missing(claim: Claim) -> list[str]:
    problems, source = [], claim.source
    if not re.fullmatch(ID, claim.id):
        problems.append("an id is a word, a dot, and letters, digits, dots, dashes and underscores")
    if source.paper not in papers():
        added = f"it is one of {', '.join(papers())}" if papers() else "none was added"
        problems.append(
            f"no provenance: source= names the paper {source.paper!r}, and {added}; have the "
            "conftest.py of its folder say add_paper(Path(__file__).with_name('paper.toml'))"
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
    if not claim.regime_text:
        problems.append("no regime: say why the grid lies in the theorem's regime")
    if not claim.why:
        problems.append("no why=: say why the region is as wide as it is")
    if claim.plot is not None and claim.plot.kind != "map" and not claim.plot.y_label:
        problems.append("its plot has no y_label=: say what is observed, with its unit")
    if claim.expected == "SUPPORTED" and not claim.controls and not claim.exploratory:
        problems.append("no control: plant at least one wrong theory that the data must refute")
    problems += [
        f"control {control.id} changes neither predict nor rule"
        for control in claim.controls
        if control.predict is None and control.rule is None and control.alter is None
    ]
    problems += [
        f"the id of control {control.id!r} is no text of ASCII without spaces around it"
        for control in claim.controls
        if not re.fullmatch(NAME, control.id)
    ]
    if len({control.id for control in claim.controls}) < len(claim.controls):
        problems.append("two controls share an id")
    return problems


def _theory_named(claim: Claim) -> list[str]:
    return [name for name in visible_names(claim.observe) if "theory" in name.split(".")]


def _seeing(theory: Sequence[str]) -> list[str]:
    """Complain that a simulation uses these parts of a theory, if any."""
    return [
        f"its simulation sees the prediction ({', '.join(theory)}): use theory only in "
        "predict, rule and cells, and import none where the simulation stands"
    ] * bool(theory)


def _seeded(claim: Claim) -> list[str]:
    """Complain about a simulation that draws the same numbers under every seed."""
    return [
        f"its simulation makes a generator of a fixed seed ({place}), which draws the same for "
        "all replicates and seeds: draw from block.rngs. Make data that are fixed on purpose at "
        "the top of the module, outside of functions"
        for place in fixed_seeds(claim.observe)
    ]


def _numbers(claim: Claim, tiers: Collection[str]) -> list[str]:
    """Find senseless numbers of replicates and blocks in these tiers."""
    problems = [] if tiers else ["no cells in any tier"]
    for tier in tiers:
        first, last = claim.replicates.get(tier, (0, 0))
        if first < 2 or last != first * 2 ** max(claim.looks(tier) - 1, 0):
            problems.append(
                f"replicates of the {tier} tier are {first} at the first look and {last} at the "
                "last: the first are at least 2, and the last are the first, doubled some times"
            )
        size = claim.block.get(tier, 1)
        if size < 1 or first % size:
            problems.append(f"block={size} does not divide the {tier} tier's {first} replicates")
    strangers = [t for t in (*tiers, *claim.replicates, *claim.block) if t not in TIERS]
    if strangers:
        problems.append(f"unknown tier {', '.join(strangers)}; tiers are {', '.join(TIERS)}")
    return problems


def _grid(claim: Claim, tier: str) -> list[str]:
    """Find a tier without cells, and cells repeated, too costly or outside the regime."""
    points, problems = claim.cells[tier], []
    if not points:
        problems.append(f"no cells in the {tier} tier")
    if len(set(points)) < len(points):
        problems.append(f"a cell stands twice in the {tier} grid")
    if claim.regime is not None:
        scan = getattr(claim.rule, "scan", None)
        outside = ((c.id, claim.regime.why_outside(c, ignoring=scan)) for c in points)
        problems += [f"its regime excludes cell {name}: {why}" for name, why in outside if why]
        dear = [c.id for c in points if tier != "full" and claim.too_large(c)]
        problems += [
            f"{tier} cell {name} costs more than a search may take, by size=: leave it to the "
            "full tier, or let size= count less"
            for name in dear
        ]
    return problems


def _refuse_idle(control: Control, wrong: Claim, claim: Claim, points: Sequence[Cell]) -> None:
    """Refuse a control that should change the prediction, but does not in any cell."""
    right, changed = claim.predict, getattr(wrong.predict, "changes", None)
    if right is None or wrong.predict is None or changed is None or wrong.rule != claim.rule:
        return
    if points and all(wrong.predict(cell) == right(cell) for cell in points):
        raise ClaimError(
            "it predicts what the claim predicts, in every cell, so no data could refute it "
            f"and support the claim. Cells have the parameters {', '.join(points[0])}: does the "
            "control change one of them?"
        )


def _tried(claim: Claim, tier: str) -> list[str]:
    """Find cells of a tier that rule, prediction or a control cannot handle."""
    points = claim.cells[tier]
    if not points:
        return []
    problems = []
    try:
        claim.rule.check(points, claim.predict)
        if claim.expected == "SUPPORTED" and not claim.exploratory:
            claim.rule.decidable(points, claim.predict)
    except UNTENABLE as error:
        return [f"{tier} grid: {error}"]  # controls would fail likewise
    for control in claim.controls:
        try:
            wrong = control.planted(claim)
            wrong.rule.check(points, wrong.predict)
            _refuse_idle(control, wrong, claim, points)
        except UNTENABLE as error:
            problems.append(f"control {control.id} in the {tier} grid: {error}")
    return problems
