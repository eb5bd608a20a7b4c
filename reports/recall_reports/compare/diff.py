"""What changed between two records: verdicts, declarations, estimates, resolution, cost.

Every interval of a record misses with at most the probability that the record's error budget
gives it, so the interval of a difference, from the new lower end less the old upper end to the new
upper end less the old lower end, misses with at most twice that, however the two runs depend on
each other. A difference whose interval leaves out 0 is beyond chance. Two runs with one seed and
tier see the same random numbers for a claim that was registered once for both: any difference
there comes from code or versions, or is the rounding of another processor. A claim whose
registration differs was declared anew, and draws anew.

Rounding does not count as a change. It moves an estimate by a small share of the distance to the
ends of its interval, and the error of an identity by a small share of what the claim allows.
Training amplifies rounding; so if both runs are of one commit and the same versions, the share is a
tenth. A slower processor does not count either: a claim is slower only if its time has grown by
more than that of the median claim, and by more than the spread among claims.
"""

import math
import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recall_reports import phrases
from recall_reports.compare import declared
from recall_reports.compare.declared import Change, Kind
from recall_reports.markdown import code, escaped
from recall_reports.record import ClaimRow, ComponentRow, Range, Record, Suite
from recall_reports.record.values import Scale

COARSER = 1.25
SLOWER = 1.5
SLOWER_SECONDS = 5.0
TIMED_SECONDS = 0.5
"""Shorter claims say little about the pace of a run."""
FEWEST_TIMED = 3
ROUNDED = 1e-4
"""Share of the distance to an interval's ends; between AVX-512 and SSE it was 4e-7 at most."""
ROUNDED_SAME_CODE = 0.1
"""The same where code and versions are the same; models trained there moved by 0.08."""
ROUNDED_ERROR = 1e-2
"""Share of the error that an identity is allowed."""

LONGEST_CELL = 300
LONGEST = 50_000
"""Characters of a comment: GitHub takes 65,536."""


def changes(old: Record, new: Record, files: Sequence[str] = ()) -> list[Change]:
    """All changes from `old` to `new`, lost verdicts first.

    `files` changed as well. Those that are not files of claims are listed, for no figure shows
    their effect: conftest.py and data first.

    Claims that either run left out (state NOT RUN) are compared only where both ran the same tier:
    there, one that is no longer judged counts as such.
    """
    before = {claim.id: claim for claim in old.claims}
    after = {claim.id: claim for claim in new.claims}
    same_tier = old.suite.tier == new.suite.tier
    same_draws = same_tier and old.suite.seed == new.suite.seed
    rounded = ROUNDED_SAME_CODE if _same_code(old.suite, new.suite) else ROUNDED
    both = [(before[name], after[name]) for name in before if name in after]
    pace = _pace(both) if same_tier else None
    found = declared.of_run(old, new)
    claims = {claim.file for claim in (*old.claims, *new.claims)}
    others = sorted((name for name in files if not _is_of_claims(name, claims)), key=_rank)
    found += [Change(Kind.FILE, name, "–", "–", "no figure shows its effect") for name in others]
    for name in [*before, *(name for name in after if name not in before)]:
        was, now = before.get(name), after.get(name)
        if was is None:
            assert now is not None
            region = f"region {phrases.region(now.head)}" if now.head else ""
            found.append(Change(Kind.NEW, name, "–", phrases.label(now), region))
            continue
        if now is None:
            found.append(Change(Kind.GONE, name, phrases.label(was), "–"))
            continue
        found += declared.of_claim(was, now, same_tier)
        if now.state == "NOT RUN":
            if was.state != "NOT RUN" and same_tier:
                found.append(Change(Kind.GONE, name, phrases.label(was), phrases.label(now)))
        elif was.state != "NOT RUN":
            found += _changes(was, now, same_tier, same_draws, rounded, pace)
        elif same_tier:
            found.append(Change(Kind.NEW, name, phrases.label(was), phrases.label(now)))
    order = list(Kind)
    return sorted(found, key=lambda change: order.index(change.kind))


def _is_of_claims(name: str, claims: Collection[str]) -> bool:
    """Whether it is a test file in which one of the records has claims."""
    return name in claims and PurePosixPath(name).match("test_*.py")


def _rank(name: str) -> tuple[int, str]:
    """Sort files by what they may do unseen: conftest.py, data, other code, prose."""
    path = PurePosixPath(name)
    kinds = (path.name == "conftest.py", path.suffix not in (".py", ".md"), path.suffix == ".py")
    return (*kinds, True).index(True), name


def lost(found: list[Change]) -> bool:
    """Whether a verdict was lost: a claim does not pass, is not judged, or supports no longer."""
    return any(change.kind in (Kind.LOST, Kind.GONE) for change in found)


def _same_code(old: Suite, new: Suite) -> bool:
    """Whether both runs are of one commit, without edits, and of the same versions."""
    commit = old.commit
    known = commit is not None and not commit.endswith("+")
    return known and commit == new.commit and old.versions == new.versions


class _Pace(NamedTuple):
    """What a run takes of an earlier one's time: the claims' median ratio, and beyond the spread.

    The spread is three standard deviations of log ratios as the median absolute deviation has
    them, for processors differ in more than their clock.
    """

    median: float
    slow: float


def _pace(both: Sequence[tuple[ClaimRow, ClaimRow]]) -> _Pace | None:
    """The pace of claims that were simulated anew; None if they are too few to know it."""
    ratios = [
        math.log(now.seconds / was.seconds)
        for was, now in both
        if min(was.seconds, now.seconds) >= TIMED_SECONDS
    ]
    if len(ratios) < FEWEST_TIMED:
        return None
    median = statistics.median(ratios)
    spread = 3 * 1.4826 * statistics.median(abs(ratio - median) for ratio in ratios)
    return _Pace(math.exp(median), math.exp(median + max(math.log(SLOWER), spread)))


def _changes(
    was: ClaimRow,
    now: ClaimRow,
    same_tier: bool,
    same_draws: bool,
    rounded: float,
    pace: _Pace | None,
) -> Iterator[Change]:
    name = now.id
    if phrases.label(was) != phrases.label(now):
        supports = was.verdict != "SUPPORTED" or now.verdict == "SUPPORTED"
        passed = was.outcome == "passed", now.outcome == "passed" and supports
        kinds = {(True, False): Kind.LOST, (False, True): Kind.GAINED}
        kind = kinds.get(passed, Kind.VERDICT)
        yield Change(kind, name, phrases.label(was), phrases.label(now), phrases.reason(now))
    registered = was.registration == now.registration
    if same_tier and not registered:
        yield Change(Kind.ANEW, name, was.registration or "–", now.registration or "–")
    moved = _moved(was, now, same_draws and registered, rounded)
    if moved is not None:
        yield moved
    if not same_tier:
        return
    before, after = was.resolution, now.resolution
    if before is not None and after is not None and after > COARSER * before:
        yield Change(Kind.COARSER, name, phrases.resolution(was), phrases.resolution(now))
    if pace is not None and now.seconds > max(
        pace.slow * was.seconds, pace.median * was.seconds + SLOWER_SECONDS
    ):
        note = f"the median claim takes {phrases.number(pace.median)} times as long as before"
        times = phrases.seconds(was.seconds), phrases.seconds(now.seconds)
        yield Change(Kind.SLOWER, name, *times, note)


def _moved(was: ClaimRow, now: ClaimRow, same_draws: bool, rounded: float) -> Change | None:
    """The component whose estimate moved most, in widths of the difference's interval, if any."""
    before = {component.name: component for component in was.components}
    worst, size = None, 0.0
    for component in now.components:
        earlier = before.get(component.name)
        if earlier is None or earlier.estimate is None or component.estimate is None:
            continue
        step = component.estimate - earlier.estimate
        if abs(step) <= _rounding(now.rule.scale, earlier, rounded):
            continue
        (least, most), (least_now, most_now) = earlier.interval.ends, component.interval.ends
        low, high = least_now - most, most_now - least
        beyond = low > 0 or high < 0
        if not beyond and not same_draws:
            continue
        share = abs(step) / ((high - low) or abs(step))
        if share >= size:
            size = share
            why = "beyond chance" if beyond else "same seed, so not chance"
            finding = phrases.with_interval(step, Range.of(low, high))
            name = phrases.component_name(now, component, component.params)
            note = f"{name}: difference {finding}, {why}"
            findings = phrases.finding(earlier), phrases.finding(component)
            worst = Change(Kind.MOVED, now.id, *findings, note)
    return worst


def _rounding(scale: Scale, component: ComponentRow, share: float) -> float:
    """What rounding alone may move its estimate by."""
    if scale == "error":
        edges = (component.region.low, component.region.high)
        return ROUNDED_ERROR * max((abs(edge) for edge in edges if edge is not None), default=0.0)
    estimate, ends = component.estimate, (component.interval.low, component.interval.high)
    assert estimate is not None
    reach = max((abs(estimate - end) for end in ends if end is not None), default=0.0)
    return max(share * reach, 1e-9)


def sentence(found: list[Change]) -> str:
    """The outcome in one sentence."""
    if not found:
        return "Nothing changed beyond rounding."
    counts = Counter(change.kind for change in found)
    parts = [f"{counts[kind]} {kind}" for kind in Kind if counts[kind]]
    return f"{'; '.join(parts)}."


def markdown(found: list[Change]) -> str:
    """The changes for a comment on a pull request."""
    lines = [f"**{sentence(found)}**", ""]
    if found:
        lines += ["| | claim | old | new | |", "|---|---|---|---|---|"]
    length = 0
    for index, change in enumerate(found):
        texts = (change.kind, change.old, change.new, change.note)
        heading, *rest = (escaped(text[:LONGEST_CELL]) for text in texts)
        # As code, an id such as www.example.org is no link; else it is neither id nor file.
        named = re.fullmatch(r"[\w./-]{1,200}", change.claim)
        claim = code(change.claim) if named else escaped(change.claim[:LONGEST_CELL])
        lines.append(f"| {' | '.join((heading, claim, *rest))} |")
        length += len(lines[-1])
        if length > LONGEST and index + 1 < len(found):
            lines += ["", f"{len(found) - index - 1} changes more: run `diff` on the two reports."]
            break
    return "\n".join(lines) + "\n"


def print_changes(found: list[Change], console: Console) -> None:
    """The same as a table in the terminal."""
    if found:
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        for header in ("", "claim", "old", "new", "note"):
            table.add_column(header, overflow="fold")
        for change in found:
            cells = (change.claim, change.old, change.new, change.note)
            table.add_row(change.kind, *map(Text, cells))  # no markup of rich
        console.print(table)
    console.print(sentence(found), highlight=False)
