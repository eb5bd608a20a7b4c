"""How the declarations of two records differ, in words.

A verdict says little to a reader who does not see that the region behind it was widened. So every
part of a declaration that a record holds is compared; the rest shows as another registration.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from recall_reports import phrases
from recall_reports.record import CellRow, ClaimRow, Range, Record

SHOWN = 120
"""Characters of a text, from shortly before the first that differs."""
BEFORE = 20
PREDICTED = 1e-4
"""Predictions that differ by less, relatively, are those of a formula written in another way."""
REGIONS = 3
"""So many different edits of regions are listed one by one."""


class Kind(StrEnum):
    """What kind of change it is, the worst first, as a heading says it."""

    LOST = "lost verdict"
    GONE = "no longer judged"
    FILE = "changed file"
    EDITED = "edited declaration"
    GAINED = "gained verdict"
    VERDICT = "changed verdict"
    ANEW = "declared anew"
    MOVED = "moved estimate"
    COARSER = "lost resolution"
    SLOWER = "slower"
    NEW = "new claim"


class Change(NamedTuple):
    """One thing that is different, in words; `claim` may also be the run, a paper or a file."""

    kind: Kind
    claim: str
    old: str
    new: str
    note: str = ""


def _edit(where: str, what: str, old: str, new: str) -> Change:
    return Change(Kind.EDITED, where, old, new, what)


def of_run(old: Record, new: Record) -> list[Change]:
    """What differs between two runs' settings, and in the papers that both are about."""
    before, after = _settings(old), _settings(new)
    both = {f"paper {p.key}" for p in old.papers} & {f"paper {p.key}" for p in new.papers}
    found: list[Change] = []
    for where, what in before | after:
        texts = before.get((where, what)), after.get((where, what))
        if None not in texts or (where in both and what.startswith("statement ")):
            found += _told(where, what, *(text or "" for text in texts))
    return sorted(found, key=lambda edit: (edit.claim, edit.note, edit.old))


def _settings(record: Record) -> dict[tuple[str, str], str]:
    """What is fixed for all claims of a run, by what it belongs to and what it is."""
    suite, budget = record.suite, record.suite.error_budget
    chains = "chains of imports between theory and simulation"
    found = {
        ("the run", "tier"): suite.tier,
        ("the run", "seed"): str(suite.seed),
        ("the run", "error budget"): phrases.number(budget.probability, 6),
        ("the run", chains): str(suite.independence.chains),
    }
    for key, part in budget.papers.items():
        found[f"paper {key}", "share"] = phrases.number(part.share, 6)
        found[f"paper {key}", "slots"] = str(part.slots)
    for paper in record.papers:
        found[f"paper {paper.key}", "title"] = paper.title
        for entry in paper.statements:
            name, where = f"statement {entry.id}", f"paper {paper.key}"
            found[where, name] = entry.text
            found[where, f"provenance of {name}"] = entry.provenance
            found[where, f"what {name} rests on"] = ", ".join(sorted(entry.rests_on))
    return found


TEXTS: dict[str, Callable[[ClaimRow], str]] = {
    "rule": lambda claim: claim.rule.name,
    "method": lambda claim: claim.rule.method,
    "scale": lambda claim: claim.rule.scale,
    "expected": lambda claim: claim.expected,
    "exploratory": lambda claim: phrases.setting(claim.exploratory),
    "relaxes": lambda claim: ": ".join(claim.relaxes or ()),
    "paper": lambda claim: claim.source.paper,
    "provenance": lambda claim: claim.source.provenance,
    "statements": lambda claim: ", ".join(claim.source.statements),
    "reference": lambda claim: claim.source.reference,
    "module of the formula": lambda claim: claim.source.module or "",
    "region from a pilot": lambda claim: phrases.setting(claim.from_pilot),
    "tiers": lambda claim: ", ".join(claim.tiers),
    "title": lambda claim: claim.title,
    "statement": lambda claim: claim.statement,
    "formula": lambda claim: claim.latex,
    "regime": lambda claim: claim.regime,
    "why the region": lambda claim: claim.why,
    "explanation": lambda claim: claim.explanation or "",
}


def of_claim(was: ClaimRow, now: ClaimRow, same_tier: bool) -> Iterator[Change]:
    """What differs between two declarations of a claim.

    Regions are compared where both were judged; grid, looks and predictions where that was in the
    same tier.
    """
    for what, text in TEXTS.items():
        yield from _told(now.id, what, text(was), text(now))
    regions = list(_regions(was, now))
    yield from regions
    yield from _controls(was, now, regions != [])
    if not same_tier or not was.state == now.state == "DECIDED":
        return
    yield from _told(now.id, "looks", str(was.looks_planned), str(now.looks_planned))
    names = [{part.name for part in claim.components} for claim in (was, now)]
    yield from _gone_and_new(now.id, "components", *names)
    cells = [{_named(cell): cell for cell in claim.cells} for claim in (was, now)]
    yield from _gone_and_new(now.id, "cells", *(set(entry) for entry in cells))
    pairs = [(name, cells[0][name], cells[1][name]) for name in cells[0] if name in cells[1]]
    yield from _predictions(now.id, "prediction", pairs, lambda cell: cell.predicted)
    yield from _predictions(now.id, "predicted critical value", pairs, lambda cell: cell.critical)
    for control in sorted({c.id for c in was.controls} & {c.id for c in now.controls}):

        def planted(cell: CellRow, name: str = control) -> float | str | None:
            return cell.controls.get(name)

        yield from _predictions(now.id, f"prediction of control {control}", pairs, planted)


def _regions(was: ClaimRow, now: ClaimRow) -> Iterator[Change]:
    before = {part.name: part.region for part in was.components}
    pairs = Counter[tuple[str, str]]()
    for part in now.components:
        pairs.update(_moved(before.get(part.name), part.region))
    for index, (pair, count) in enumerate(pairs.items()):
        if index == REGIONS:
            yield _edit(now.id, f"regions of {len(pairs) - REGIONS} kinds more", "–", "–")
            return
        parts = f" of {count} component{'s' * (count > 1)}" if len(pairs) > 1 else ""
        yield _edit(now.id, f"region{parts}", *pair)


def _moved(old: Range | None, new: Range | None) -> Iterator[tuple[str, str]]:
    """Both regions, told apart, if both are known and they differ."""
    if old is None or new is None or _same_range(old, new):
        return
    texts = phrases.bounds(old), phrases.bounds(new)
    alike = texts[0] == texts[1]
    yield (f"[{old.low}, {old.high}]", f"[{new.low}, {new.high}]") if alike else texts


def _controls(was: ClaimRow, now: ClaimRow, moved: bool) -> Iterator[Change]:
    """Controls added, gone and changed; their regions unless the claim's own have `moved`."""
    before = {control.id: control for control in was.controls}
    after = {control.id: control for control in now.controls}
    yield from _gone_and_new(now.id, "controls", set(before), set(after))
    for name in filter(after.__contains__, before):
        old, new = before[name], after[name]
        yield from _told(now.id, f"control {name}", old.description, new.description)
        for texts in () if moved else _moved(old.region, new.region):
            yield _edit(now.id, f"region of control {name}", *texts)


def _gone_and_new(where: str, what: str, old: set[str], new: set[str]) -> Iterator[Change]:
    if old - new:
        yield _edit(where, f"{what} removed", _listed(old - new), "–")
    if new - old:
        yield _edit(where, f"{what} added", "–", _listed(new - old))


def _listed(names: set[str]) -> str:
    shown = "; ".join(sorted(names))
    return shown if len(shown) <= SHOWN else f"{len(names)}: {shown[:SHOWN]}…"


def _predictions(
    where: str,
    what: str,
    cells: Iterable[tuple[str, CellRow, CellRow]],
    of: Callable[[CellRow], float | str | None],
) -> Iterator[Change]:
    """The first cell in which something is predicted otherwise, and in how many this is so."""
    pairs = [(name, of(old), of(new)) for name, old, new in cells]
    moved = [(name, old, new) for name, old, new in pairs if not _same(old, new)]
    if moved:
        name, *values = moved[0]
        old, new = (v if isinstance(v, str) else phrases.number(v, 5) for v in values)
        yield _edit(
            where, f"{what} in {len(moved)} of {len(pairs)} cells, such as {name}", old, new
        )


def _same(old: float | str | None, new: float | str | None) -> bool:
    if isinstance(old, float | int) and isinstance(new, float | int):
        return math.isclose(old, new, rel_tol=PREDICTED, abs_tol=1e-15)
    return old == new


def _same_range(old: Range, new: Range) -> bool:
    ends = zip(old.ends, new.ends, strict=True)
    return all(math.isclose(a, b, rel_tol=1e-9) for a, b in ends)


def _named(cell: CellRow) -> str:
    return phrases.parameters(cell.params, {})


def _told(where: str, what: str, old: str, new: str) -> Iterator[Change]:
    """The edit of a text, if it is one: from shortly before the first difference."""
    if old == new:
        return
    differs = (index for index, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    start = max(next(differs, min(len(old), len(new))) - BEFORE, 0)
    start = start if max(len(old), len(new)) > SHOWN else 0
    cut = ("…" * (start > 0) + text[start : start + SHOWN] for text in (old, new))
    ends = ("…" * (len(text) > start + SHOWN) for text in (old, new))
    first, second = (f"{text}{end}" or "–" for text, end in zip(cut, ends, strict=True))
    yield _edit(where, what, first, second)
