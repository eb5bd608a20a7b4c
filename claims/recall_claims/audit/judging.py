"""Judge a claim again on given blocks, and say where a record differs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from recall_claims import recording
from recall_claims.declare.cell import Cell
from recall_claims.evidence.draws import Place
from recall_claims.evidence.run import Outcome, Prepared, Settings
from recall_claims.judge.looks import Look, Observations, ended, looks_at
from recall_reports import record
from recall_reports.record.certificates import Certificates

SAME = 1e-6
"""Share by which a figure may differ: what other versions of NumPy and SciPy round."""
OF_THE_RUN = frozenset(
    {"file", "replay", "outcome", "seconds", "blocks", "hunt", "reason", "draws", "draw"}
)
"""Fields of a claim's record that do not follow from its declaration and its blocks."""

Source = Callable[[Cell, int], Observations]
"""Gives a block of a cell, by its number."""


def judge_again(ready: Prepared, settings: Settings, source: Source, place: Place) -> Outcome:
    """Take every look at a claim's blocks, for each of which the source is called once, and decide.

    Raises:
        Exception: whatever source, rule and theory raise.
    """
    claim, alpha, asked = ready.claim, settings.alpha_of_look(ready.claim), 0

    def blocks(look: Look[Any]) -> dict[Cell, list[Observations]]:
        nonlocal asked
        asked += sum(map(len, look.wanted.values()))
        return {cell: [source(cell, n) for n in wanted] for cell, wanted in look.wanted.items()}

    last = ended(looks_at(claim, settings.tier, alpha), blocks)
    assert last.decision is not None
    return Outcome(
        claim=claim,
        settings=settings,
        decision=last.decision,
        evidence=last.evidence,
        alpha=alpha,
        registration=ready.registration,
        looks=last.number,
        blocks=asked,
        place=place,
    )


def differences(entry: record.ClaimRow, outcome: Outcome, certificates: Certificates) -> list[str]:
    """What a claim's record says that its declaration and blocks do not, field by field.

    A claim that a hunt has refuted is compared without what the hunt changed.
    """
    kept = msgspec.to_builtins(entry)
    again = msgspec.to_builtins(recording.decided(outcome, entry.file, certificates))
    skipped = set(OF_THE_RUN)
    if entry.hunt is not None and entry.hunt.confirmed is not None:
        skipped |= {"components", "headline", "verdict"}
    parts = [*_differ("blocks.total", entry.blocks.total, outcome.blocks)]
    for field in again.keys() - skipped:
        parts += _differ(field, kept.get(field), again[field])
    return sorted(parts)


def _differ(place: str, kept: Any, again: Any) -> Iterator[str]:
    """Where two plain values differ by more than rounding."""
    if isinstance(kept, dict) and isinstance(again, dict):
        for key in sorted({*kept, *again}, key=str):
            yield from _differ(f"{place}.{key}", kept.get(key), again.get(key))
    elif isinstance(kept, list | tuple) and isinstance(again, list | tuple):
        if len(kept) != len(again):
            yield f"{place}: {len(kept)} entries in the record, {len(again)} when judged again"
        for index, (one, other) in enumerate(zip(kept, again, strict=False)):
            yield from _differ(f"{place}[{index}]", one, other)
    elif not _same(kept, again):
        yield f"{place}: {kept!s:.80} in the record, {again!s:.80} when judged again"


def _same(kept: object, again: object) -> bool:
    if isinstance(kept, float) and isinstance(again, int | float):
        return math.isclose(kept, again, rel_tol=SAME, abs_tol=1e-12)
    return kept == again
