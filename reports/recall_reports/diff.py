"""Changes between two records, in words: verdicts, estimates, and every declared part.

Every interval of a record misses the truth with at most the probability that the record's error
budget gives it. If the old interval is [a, b] and the new one [c, d], the difference has the
interval [c - b, d - a]. This misses with at most twice that probability, however the two runs
depend on each other. If it leaves out 0, the difference is beyond chance. With the same seed, tier
and registration, two runs draw the same random numbers for a claim. Any difference then comes from
code, versions, or the rounding of another processor.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recall_reports import figures, phrases
from recall_reports.markdown import code, escaped
from recall_reports.record import ClaimRow, Range, Record
from recall_reports.record.text import line

ROUNDED, ROUNDED_REGION = 0.1, 0.01
"""Largest moves of an estimate by rounding, as shares of its distance to its interval's farther
end, and to its region's. On other processors, trained models' estimates move by 0.08 of the
first distance."""
PAIRS = 3
"""Largest number of different edits of a kind to list one by one."""
SHOWN, BEFORE = 120, 20
"""Number of characters to show of a long text, in all and before the first difference."""
LONGEST_CELL, LONGEST = 300, 50_000
"""Largest number of characters of a table's cell, and of the whole; GitHub takes 65,536."""

TEXTS = (
    *("expected", "explanation", "exploratory", "relaxes", "tiers", "from_pilot"),
    *("title", "statement", "latex", "regime", "why"),
)
"""Declared parts of a claim's record that are texts."""
LISTED = {"controls": "controls", "statements": "statements", "declared": "declared parts"}
LISTED_OF_TIER = {"regions": "components", "predictions": "cells"}
"""Words for subjects, by kind; added or removed subjects are listed only if tiers agree."""


class Kind(StrEnum):
    """Kinds of changes as headings, the worst first."""

    LOST = "lost verdict"
    GONE = "no longer judged"
    FILE = "changed file"
    EDITED = "edited declaration"
    GAINED = "gained verdict"
    VERDICT = "changed verdict"
    ANEW = "declared again"
    MOVED = "moved estimate"
    REMOVED = "removed claim"
    NEW = "new claim"


class Change(NamedTuple):
    """A difference in words; `claim` may also be the run, a paper or a file."""

    kind: Kind
    claim: str
    old: str
    new: str
    note: str = ""


def changes(old: Record, new: Record, files: Iterable[str] = ()) -> list[Change]:
    """List all changes from `old` to `new`, lost verdicts first.

    `files` are the files that changed between the two. A test_*.py file is left out if anything
    else about its claims changed, since this shows the file's effect. Of the files listed,
    conftest.py and data come first.

    Claims that either run left out (state NOT RUN) are compared only if both runs had the same
    tier. A claim that only the new run left out counts as gone, one that only the old run left out
    as new.
    """
    before = {claim.id: claim for claim in old.claims}
    after = {claim.id: claim for claim in new.claims}
    same_tier = old.suite.tier == new.suite.tier
    versions = "".join(
        f"; {name} {old.suite.versions.get(name)}, now {new.suite.versions.get(name)}"
        for name in old.suite.versions | new.suite.versions
        if old.suite.versions.get(name) != new.suite.versions.get(name)
    )
    found = [*_edited(old, new)]
    for name in before | after:
        was, now = before.get(name), after.get(name)
        if was is None:
            region = f"region {figures.region(now.head)}" if now and now.head else ""
            found.append(Change(Kind.NEW, name, "–", phrases.label(after[name]), region))
        elif now is None:
            kind = Kind.GONE if was.verdict else Kind.REMOVED
            found.append(Change(kind, name, phrases.label(was), "–"))
        else:
            found += _judged(was, now, same_tier)
            registered = same_tier and was.registration == now.registration
            same_draws = registered and old.suite.seed == new.suite.seed
            found += _moved(was, now, same_draws, versions)
    told = {change.claim for change in found}
    shown = {claim.file for claim in (*old.claims, *new.claims) if claim.id in told}
    others = [f for f in files if f not in shown or not PurePosixPath(f).match("test_*.py")]
    others.sort(key=_rank)
    found += [Change(Kind.FILE, name, "–", "–", "no figure shows its effect") for name in others]
    order = list(Kind)
    return sorted(found, key=lambda change: order.index(change.kind))


def lost(found: Iterable[Change]) -> bool:
    """Whether a verdict is lost: a claim now fails, is not judged, or is no longer supported."""
    return any(change.kind in (Kind.LOST, Kind.GONE) for change in found)


def _rank(name: str) -> tuple[int, str]:
    """Return a key to sort files by risk: conftest.py, data, other code, prose."""
    path = PurePosixPath(name)
    kinds = (path.name == "conftest.py", path.suffix not in (".py", ".md"), path.suffix == ".py")
    return (*kinds, True).index(True), name


def _judged(was: ClaimRow, now: ClaimRow, same_tier: bool) -> Iterator[Change]:
    """Compare a claim's verdicts and registrations in two records."""
    labels = phrases.label(was), phrases.label(now)
    if "NOT RUN" in (was.state, now.state):
        if same_tier and was.state != now.state:
            yield Change(Kind.GONE if now.state == "NOT RUN" else Kind.NEW, now.id, *labels)
        return
    if labels[0] != labels[1]:
        supports = was.verdict != "SUPPORTED" or now.verdict == "SUPPORTED"
        passed = was.outcome == "passed", now.outcome == "passed" and supports
        kinds = {(True, False): Kind.LOST, (False, True): Kind.GAINED}
        yield Change(kinds.get(passed, Kind.VERDICT), now.id, *labels, phrases.reason(now))
    if same_tier and was.registration != now.registration:
        yield Change(Kind.ANEW, now.id, was.registration or "–", now.registration or "–")


def _moved(was: ClaimRow, now: ClaimRow, same_draws: bool, versions: str) -> list[Change]:
    """Return the move that is largest in widths of the difference's interval; [] if none.

    `versions`: the library versions that differ, as text.
    """
    before = {component.name: component for component in was.components}
    moves: list[tuple[float, Change]] = []
    for component in now.components:
        earlier = before.get(component.name)
        if earlier is None or earlier.estimate is None or component.estimate is None:
            continue
        step = component.estimate - earlier.estimate
        (least, most), (least_now, most_now) = earlier.interval.ends, component.interval.ends
        low, high = least_now - most, most_now - least
        rounding = max(
            share * abs(earlier.estimate - end)
            for share, of in ((ROUNDED, earlier.interval), (ROUNDED_REGION, earlier.region))
            for end in (*of.ends, earlier.estimate)
            if math.isfinite(end)
        )
        beyond = low > 0 or high < 0
        if abs(step) > rounding and (beyond or same_draws):
            name = phrases.component_name(now, component, component.params)
            why = "beyond chance" if beyond else f"same seed, so not chance{versions}"
            note = f"{name}: difference {figures.with_interval(step, Range.of(low, high))}, {why}"
            findings = figures.finding(earlier), figures.finding(component)
            share = abs(step) / ((high - low) or abs(step))
            moves.append((share, Change(Kind.MOVED, now.id, *findings, note)))
    return [max(moves, key=itemgetter(0))[1]] if moves else []


def _edited(old: Record, new: Record) -> Iterator[Change]:
    """Compare settings of the runs, and declarations of papers and claims that both runs have.

    Between two tiers, compare only cells and components with the same name.
    """
    before, after = _declared(old), _declared(new)
    listed = LISTED | (LISTED_OF_TIER if old.suite.tier == new.suite.tier else {})
    for where in (where for where in before if where in after):
        was, now = before[where], after[where]
        for what in (what for what in was if what in now):
            for change in _edits(what, was[what], now[what], listed.get(what, "")):
                yield Change(Kind.EDITED, where, *change)


def _declared(record: Record) -> dict[str, dict[str, dict[str, str]]]:
    """Return the declared parts of the run, papers and claims, as texts by kind and by subject."""
    suite, budget = record.suite, record.suite.error_budget
    run = {"tier": suite.tier, "seed": suite.seed, "error budget": budget.probability}
    run["chains of imports"] = suite.independence.chains
    found = {"the run": {what: {"": str(value)} for what, value in run.items()}}
    for paper in record.papers:
        part, statements = budget.papers[paper.key], paper.statements
        found[f"paper {paper.key}"] = {
            "title": {"": paper.title},
            "share": {"": str(part.share)},
            "slots": {"": str(part.slots)},
            "statements": {s.id: s.text for s in statements},
            "settings": {s.id: "a definition" for s in statements if s.setting},
            "provenance": {s.id: s.provenance for s in statements},
            "rests on": {s.id: ", ".join(sorted(s.rests_on)) for s in statements},
        }
    return found | {claim.id: _of_claim(claim) for claim in record.claims}


def _of_claim(claim: ClaimRow) -> dict[str, dict[str, str]]:
    plain = msgspec.to_builtins(claim)
    texts = {name: plain[name] for name in TEXTS} | plain["rule"] | plain["source"]
    texts["rule"] = texts.pop("name")
    found = {name.replace("_", " "): {"": _text(value)} for name, value in texts.items()}
    found["controls"] = {control.id: control.description for control in claim.controls}
    if claim.declared:
        found["declared"] = claim.declared
    if claim.state == "DECIDED":
        cells = {phrases.parameters(cell.params, {}): cell for cell in claim.cells}
        found["regions"] = {part.name: _text(part.region) for part in claim.components}
        found["regions of controls"] = {c.id: _text(c.region) for c in claim.controls}
        found["predictions"] = {name: _text(cell.predicted) for name, cell in cells.items()}
        found["critical values"] = {name: _text(cell.critical) for name, cell in cells.items()}
        for control in claim.controls:
            wrong = {name: _text(cell.controls.get(control.id)) for name, cell in cells.items()}
            found[f"predictions of control {control.id}"] = wrong
    return found


def _text(value: Any) -> str:
    """Put a value in words; a prediction with four digits, as in a registration."""
    if isinstance(value, Range):
        return f"[{', '.join(f'{end:.9g}' for end in value.ends)}]".replace("inf", "∞")
    if isinstance(value, float):
        return f"{value * (1 + 1e-7):.4g}"  # leaves no tie to rounding errors
    if isinstance(value, list | tuple):
        return ", ".join(value)
    return "" if value is None else phrases.setting(value)


def _edits(
    what: str, old: Mapping[str, str], new: Mapping[str, str], listed: str
) -> Iterator[tuple[str, str, str]]:
    """Compare texts of one kind by subject; merge equal edits, and show a few.

    `listed`: a word for subjects; "" if adding or removing them is no edit.
    """
    gone, added = ("; ".join(sorted(a.keys() - b.keys())) for a, b in ((old, new), (new, old)))
    if listed and (gone or added):
        yield *_apart(gone, added), f"{listed}: {len(old)} before, {len(new)} now"
    both = [name for name in old if name in new]
    pairs: dict[tuple[str, str], list[str]] = {}
    for name in both:
        if old[name] != new[name]:
            pairs.setdefault((old[name], new[name]), []).append(name)
    for texts, names in list(pairs.items())[:PAIRS]:
        note = what if len(names) == len(both) else f"{what}: {names[0]}"
        more = f" and {len(names) - 1} more" if 1 < len(names) < len(both) else ""
        yield *_apart(*texts), f"{note}{more}"
    if len(pairs) > PAIRS:
        yield "–", "–", f"{what}: and {len(pairs) - PAIRS} more"


def _apart(old: str, new: str) -> tuple[str, str]:
    """Cut long texts to the place where they differ."""
    if max(len(old), len(new)) > SHOWN:
        same = (a == b for a, b in zip(old, new, strict=False))
        start = max(0, [*same, False].index(False) - BEFORE)
        old, new = ("…" * (start > 0) + text[start:] for text in (old, new))
        old, new = (text[:SHOWN] + "…" * (len(text) > SHOWN) for text in (old, new))
    return old or "–", new or "–"


def sentence(found: Sequence[Change]) -> str:
    """Count the changes in one sentence."""
    if not found:
        return "Nothing changed beyond rounding."
    counts = Counter(change.kind for change in found)
    no_noun = (Kind.GONE, Kind.ANEW)
    s = {kind: "s" * (counts[kind] > 1 and kind not in no_noun) for kind in Kind}
    return f"{'; '.join(f'{counts[kind]} {kind}{s[kind]}' for kind in Kind if counts[kind])}."


def markdown(found: Sequence[Change]) -> str:
    """Write the changes as Markdown, for the summary of a workflow or a pull request."""
    lines = [f"**{sentence(found)}**", ""]
    if found:
        lines += ["| | claim | old | new | |", "|---|---|---|---|---|"]
    length = 0
    for index, change in enumerate(found):
        texts = (change.kind, change.old, change.new, change.note)
        heading, *rest = (escaped(text[:LONGEST_CELL]) for text in texts)
        # As code, an id such as www.example.org is no link; a text with spaces is escaped.
        named = re.fullmatch(r"[\w./-]{1,200}", change.claim)
        claim = code(change.claim) if named else escaped(change.claim[:LONGEST_CELL])
        lines.append(f"| {' | '.join((heading, claim, *rest))} |")
        length += len(lines[-1])
        if length > LONGEST and index + 1 < len(found):
            lines += ["", f"And {len(found) - index - 1} more: run `diff` on the two reports."]
            break
    return "\n".join(lines) + "\n"


def print_changes(found: Sequence[Change], console: Console) -> None:
    """Print the changes as a table."""
    if found:
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        for header in ("", "claim", "old", "new", "note"):
            table.add_column(header, overflow="fold")
        for change in found:
            cells = (change.claim, change.old, change.new, change.note)
            table.add_row(change.kind, *(Text(line(cell)) for cell in cells))  # no markup of rich
        console.print(table)
    console.print(sentence(found), highlight=False)
