"""Refuse a claim that is written wrongly, before anything runs.

Predictions, and grids around them, take seconds to work out. So collection checks only what is
known without them (`check_text`); the rest is checked just before a claim runs (`check`).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import TIERS, Claim, Control
from recall_claims.declare.papers import papers
from recall_claims.errors import ClaimError
from recall_claims.evidence.fingerprints import theories, visible_names
from recall_claims.judge.looks import remembering
from recall_reports.record import ID


class _Later(Exception):
    """A check has come to a prediction."""


def _later(_: Cell) -> float:
    raise _Later


def check_text(claim: Claim, tier: str) -> None:
    """Refuse a claim for what can be known of a tier without any prediction.

    A grid that is a function is not worked out, and a check of rule or control ends where it asks
    for a prediction.

    Raises:
        ClaimError: as `check`.
    """
    _refuse(claim, [*_missing(claim), *_senseless(claim, [tier], predicting=False)])


def check(claim: Claim, tiers: Sequence[str] = TIERS) -> None:
    """Refuse a claim that is written wrongly.

    Args:
        claim: the claim.
        tiers: tiers whose grids are tried against rule, prediction and controls, which takes a
            call of every prediction in every cell.

    Raises:
        ClaimError: names everything that is missing or impossible, and the remedy.
    """
    kept = remembering(claim)
    _refuse(claim, [*_missing(claim), *_senseless(kept, tiers, predicting=True)])


def _refuse(claim: Claim, problems: Sequence[str]) -> None:
    if problems:
        raise ClaimError(f"claim {claim.id}: " + "; ".join(dict.fromkeys(problems)))


def _missing(claim: Claim) -> list[str]:
    problems, source = [], claim.source
    if not re.fullmatch(ID, claim.id):
        problems.append("an id has letters, digits, dots, dashes and underscores, and no spaces")
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
    if claim.expected == "SUPPORTED" and not claim.controls and not claim.exploratory:
        problems.append("no control: plant at least one wrong theory that the data must refute")
    problems += [
        f"control {control.id} changes neither predict nor rule"
        for control in claim.controls
        if control.predict is None and control.rule is None and control.alter is None
    ]
    if len({control.id for control in claim.controls}) < len(claim.controls):
        problems.append("two controls share an id")
    return problems


def _senseless(claim: Claim, tiers: Sequence[str], *, predicting: bool) -> list[str]:
    theory = [name for name in visible_names(claim.observe) if "theory" in name.split(".")]
    if predicting and not theory:  # the text of other modules is read
        theory = theories(claim.observe)
    problems = [
        f"its simulation sees the prediction ({', '.join(theory)}): use theory only in "
        "predict, rule and cells, and import none where the simulation stands"
    ] * bool(theory)
    named = [*claim.replicates, *claim.block]
    if predicting or getattr(claim.cells, "listed", True):
        named = [*claim.cells, *named]
        if not claim.cells:
            problems.append("no cells in any tier")
        for tier in claim.cells:
            problems += _impossible(claim, tier, predicting=predicting if tier in tiers else None)
    strangers = [tier for tier in named if tier not in TIERS]
    if strangers:
        problems.append(f"unknown tier {', '.join(strangers)}; tiers are {', '.join(TIERS)}")
    return problems


def _refuse_idle(control: Control, wrong: Claim, claim: Claim, points: Sequence[Cell]) -> None:
    """Refuse a control that was to change the prediction, and changes nothing."""
    right, changed = claim.predict, getattr(wrong.predict, "changes", None)
    if right is None or wrong.predict is None or changed is None or wrong.rule != claim.rule:
        return
    if points and all(wrong.predict(cell) == right(cell) for cell in points):
        raise ClaimError(
            "it predicts what the claim predicts, in every cell, so no data could refute the one "
            f"and support the other; cells have the parameters {', '.join(points[0])}: is the one "
            "that it changes among them?"
        )


def _impossible(claim: Claim, tier: str, *, predicting: bool | None) -> list[str]:
    """What is wrong with a tier; None for `predicting` tries its grid against nothing."""
    problems = []
    first, last = claim.replicates.get(tier, (0, 0))
    if first < 2 or last != first * 2 ** max(claim.looks(tier) - 1, 0):
        problems.append(
            f"replicates of the {tier} tier are {first} at the first look and {last} at the last: "
            "the first are at least 2, and the last are the first, doubled some times"
        )
    size = claim.block.get(tier, 1)
    if size < 1 or first % size:
        problems.append(f"block={size} does not divide the {tier} tier's {first} replicates")
    if not predicting and not claim.cells_known(tier):
        return problems
    points = claim.cells[tier]
    if not points:
        problems.append(f"no cells in the {tier} tier")
    if len(set(points)) < len(points):
        problems.append(f"a cell stands twice in the {tier} grid")
    if predicting is None or not points:
        return problems
    if claim.regime is not None:
        scan = getattr(claim.rule, "scan", None)
        outside = ((c.id, claim.regime.why_outside(c, ignoring=scan)) for c in points)
        problems += [f"its regime excludes cell {name}: {why}" for name, why in outside if why]
        dear = [c.id for c in points if tier != "full" and claim.regime.too_large(c)]
        problems += [
            f"{tier} cell {name} costs more than a search of its regime may spend: raise largest="
            for name in dear
        ]
    for planted in (None, *claim.controls):
        try:
            judged = planted.planted(claim) if planted else claim
            if not predicting and judged.predict is not None:
                judged = replace(judged, predict=_later)
            judged.rule.check(points, judged.predict)
            if planted is not None and predicting:
                _refuse_idle(planted, judged, claim, points)
            if planted is None and claim.expected == "SUPPORTED" and not claim.exploratory:
                judged.rule.decidable(points, judged.predict)
        except _Later:
            continue
        except (ClaimError, ValueError, TypeError, KeyError) as error:
            of = f"{tier} grid" if planted is None else f"control {planted.id} in the {tier} grid"
            problems.append(f"{of}: {error}")
            if planted is None:
                break  # its controls predict by the same formula
    return problems
