"""Cheap evidence at one point of a theorem's regime."""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass, replace

from recall_claims.declare.claim import Claim
from recall_claims.declare.registration import registration
from recall_claims.evidence.hunt_tables import Probe
from recall_claims.evidence.looks import Blocks, Look, ended, looks
from recall_claims.evidence.run import Prepared, Settings, task_of
from recall_claims.evidence.simulate import Task, simulate
from recall_claims.judge.methods import Betting, Student
from recall_claims.judge.rules import Rule, Sample
from recall_claims.model.cell import Cell
from recall_claims.model.region import Verdict, judge

TIER = "hunt"
LEVEL = 1e-6
"""Level at which a probe takes a point for a violation. It is stricter than the first
confirmation's, because a search for the smallest failing point selects lucky evidence."""
DOUBT = 0.16
"""Level of the bounds that guide a climb, about one standard error wide."""
BLOCK, DOUBLINGS = 16, 10
MORE_LOOKS = 2
"""Looks that a confirmation has beyond the claim's: bets need more replicates than t bounds."""
SECONDS = 3.0
"""Processor seconds after which a probe stops."""
ERRORS = 4.9
"""Distance from an edge, in standard errors, at which LEVEL is reached."""


def trials(claim: Claim) -> tuple[str, ...]:
    """Return the names of the random streams on which a violation must be confirmed."""
    return ("hunt",) if claim.rule.exact else ("hunt", "again")


def alone(claim: Claim, point: Cell) -> Claim:
    """Return the claim at one point of its regime, without controls.

    Raises:
        ClaimError: the claim's rule judges cells together, or is impossible at this point.
        ValueError: the theory gives no number at this point.
    """
    cells = claim.rule.alone(point, claim.predict)
    claim.rule.check(cells, claim.predict)
    given = [tier for tier in ("smoke", "standard") if tier in claim.replicates]
    first = max((claim.replicates[tier][0] for tier in given), default=0)
    doubled = max((claim.looks(tier) for tier in given), default=0) - 1 + MORE_LOOKS
    return replace(
        claim,
        cells={TIER: cells},
        replicates={TIER: (first, first * 2**doubled)},
        controls=(),
    )


def probe(claim: Claim, point: Cell, *, seed: int, device: str, patience: float = SECONDS) -> Probe:
    """Simulate until the point fails at LEVEL, the estimate is in the region, or time or
    replicates end.

    The probe gives up if ``patience`` seconds would not suffice to show the point outside the
    region, even if the estimate were one standard error farther out. Draws depend only on the
    seed, the claim and the point.

    Raises:
        ClaimError, ValueError: as for `alone`.
        SimulationError: as for `simulate`.
    """
    one = alone(claim, point)
    quick = _quick(one.rule)
    cells, key = one.cells[TIER], registration(one, TIER)
    begin = time.process_time()

    def decided(evidence: tuple[Sample, ...], _: _Seen | None) -> _Seen:
        parts = quick.components(evidence, one.predict, LEVEL)
        # 0 if test sizes give no estimate.
        outside = max(
            0.0 if math.isnan(p.estimate) else p.region.distance(p.estimate, p.estimate)
            for p in parts
        )
        verdict = judge(parts)
        discrepancy = quick.discrepancy(evidence, one.predict, DOUBT)
        if discrepancy == -math.inf:  # values do not vary
            discrepancy = outside
        error = max(outside - discrepancy, 0.0)
        spent = time.process_time() - begin
        told = ERRORS * error * math.sqrt(spent / patience)
        over = outside < 0 or outside + error < told or spent > SECONDS
        open_cells = () if over or verdict is Verdict.REFUTED else tuple(cell.id for cell in cells)
        return _Seen(Probe(dict(point), key, discrepancy, verdict, spent, patience), open_cells)

    def drawn(look: Look[_Seen]) -> Blocks:
        return {
            cell: [simulate(task(claim, cell, n, seed, device)).observations for n in blocks]
            for cell, blocks in look.wanted.items()
        }

    look = ended(looks(cells, [2**n for n in range(DOUBLINGS)], decided), drawn)
    assert look.decision is not None  # there is at least one look
    return look.decision.probe


@dataclass(frozen=True)
class _Seen:
    """A probe so far, and the cells that need more replicates."""

    probe: Probe
    open_cells: tuple[str, ...]


def _quick(rule: Rule) -> Rule:
    """Return the rule with approximate bounds, which need few replicates."""
    fields = {field.name for field in dataclasses.fields(rule)}
    if "method" in fields and isinstance(rule.method, Betting):
        return rule.with_method(Student(spent=1.0))
    return rule


def task(
    claim: Claim,
    cell: Cell,
    block: int,
    seed: int,
    device: str,
    stream: str = TIER,
    replicates: int = BLOCK,
) -> Task:
    """Return a task to simulate a block outside any run, from the named stream."""
    given = replace(claim, replicates={TIER: (replicates, replicates)}, block={})
    return task_of(Prepared(given, stream), Settings(TIER, seed, device), cell, block)
