"""`--hunt`: after the verdicts, search the regimes of the claims for violations."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.status import Status

from recall_claims import recording
from recall_claims.evidence.hunt_tables import alpha_of
from recall_claims.hunt.campaign import Trail, hunt
from recall_claims.model.region import Verdict
from recall_claims.plugin.session import ClaimSession
from recall_reports import record

SHOWN = 400
"""Largest number of a claim's points to record, nearest to a violation first."""
REFUSALS = 8
"""Largest number of reasons for refused points to record, most frequent first."""


def run_hunt(session: ClaimSession, seconds: float, console: Console) -> int:
    """Hunt the claims that passed, and add the findings to their records.

    Returns:
        number of claims that fail because a violation of them was confirmed.
    """
    found = {entry.id: entry for entry in session.report.records}
    hunted = [claim for claim in session.report.claims() if found[claim.id].outcome == "passed"]
    engine, ledger = session.store.executor, session.store.ledger
    with Status("hunting", console=console) as line:

        def watch(trails: Sequence[Trail], left: float) -> None:
            if console.is_terminal:
                line.update(progress(trails, left))

        trails = hunt(hunted, session.settings, ledger, engine, seconds, watch)
    refuted = 0
    for trail in trails:
        entry = found[trail.claim.id]
        entry.hunt = recorded(trail)
        if trail.confirmation is not None:
            outcome = trail.confirmation.outcome
            if outcome is None:
                entry.reason = "a violation was confirmed by an earlier hunt"
            recording.overturn(entry, () if outcome is None else outcome.decision.components)
            refuted += entry.outcome == "failed"
    return refuted


def progress(trails: Sequence[Trail], left: float) -> str:
    """Write the live line: points tried, the worst so far, and the time left."""
    text = f"hunting: {sum(len(trail.probes) for trail in trails)} points, "
    found = [(t.worst.discrepancy, t.claim.id) for t in trails if t.worst is not None]
    if found:
        worst, name = max(found)
        text += f"worst {name} {worst:+.2f} regions, "
    return text + f"{left:.0f} s left"


def recorded(trail: Trail) -> record.Hunt:
    """Convert a trail to its entry in the record."""
    probes = sorted(trail.probes.values(), key=lambda probe: -probe.discrepancy)
    confirmation = trail.confirmation
    return record.Hunt(
        why_not=trail.why_not,
        seconds=trail.seconds,
        tried=len(probes),
        exhausted=trail.exhausted,
        suspected=not confirmation and any(p.verdict is Verdict.REFUTED for p in probes),
        refused=dict(trail.refused.most_common(REFUSALS)),
        points=[
            record.Point(params=probe.point, discrepancy=record.finite(probe.discrepancy))
            for probe in probes[:SHOWN]
        ],
        confirmed=None
        if confirmation is None
        else record.Confirmed(
            params=confirmation.probe.point,
            number=confirmation.number,
            alpha=alpha_of(confirmation.number),
        ),
    )
