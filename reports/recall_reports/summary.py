"""Summary of a run: one sentence, what needs attention, the state of each statement."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from recall_reports import phrases
from recall_reports.record import ClaimRow, PaperRow, Record, Statement, Work
from recall_reports.record.values import Scale

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
WORST_FIRST = ("ERROR", "REFUTED", "INCONCLUSIVE", "SUPPORTED", phrases.AS_EXPECTED, "NOT RUN")
SHARPEST: tuple[Scale, ...] = (
    *("ratio", "exponent", "probability", "share"),
    *("difference", "error"),
)
ORDER = (
    "SUPPORTED",
    "REFUTED",
    "SURVIVES",
    "BREAKS",
    "INCONCLUSIVE",
    "NOT RUN",
    "ERROR",
    phrases.AS_EXPECTED,
)
OUTCOMES = {
    "SUPPORTED": ("holds", "hold"),
    phrases.AS_EXPECTED: ("was expected to be false, and is", "were expected to be false, and are"),
    "REFUTED": ("is refuted", "are refuted"),
    "SURVIVES": ("survives", "survive"),
    "BREAKS": ("breaks", "break"),
    "INCONCLUSIVE": ("is undecided", "are undecided"),
    "NOT RUN": ("was not run", "were not run"),
    "ERROR": ("stopped with an error", "stopped with an error"),
}
"""Phrases for one claim in a state, and for several."""


@dataclass(frozen=True)
class Entry:
    """A statement or a module of formulas, what it rests on, and the claims that test it.

    `setting`: it is a definition, which the claims use and do not test.
    """

    name: str
    text: str
    rests_on: Sequence[str]
    claims: Sequence[ClaimRow]
    provenance: str = ""
    setting: bool = False

    @property
    def indirect(self) -> bool:
        """Whether a paper has the statement, and all claims on it test our own derivations."""
        kinds = {claim.source.provenance for claim in self.claims}
        return self.provenance != "derived" and kinds == {"derived"}


def grouped(things: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Things grouped by key, in the order of first appearance."""
    found: dict[K, list[T]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return found


def count(claims: Iterable[ClaimRow]) -> dict[str, int]:
    """Count the claims in each state."""
    found = Counter(map(phrases.state, claims))
    return {state: found[state] for state in ORDER if found[state]}


def sentence(record: Record) -> str:
    """The outcome of the run in one sentence, with more for an early end and exploratory claims."""
    claims, exploratory = split(record)
    done, ahead = len(record.claims), record.suite.ahead
    sentences = [early(done, done + ahead)] if ahead else []
    sentences += [_outcome(claims)] if claims or not exploratory else []
    if exploratory:
        sentences.append(f"Beyond the theorems: {list_states(exploratory)}.")
    return " ".join(sentences)


def evidence(claims: Iterable[ClaimRow]) -> dict[str, list[ClaimRow]]:
    """The claims by provenance; claims that only reproduce a pilot run are a group of their own."""
    return grouped(claims, lambda c: "pilot" if c.from_pilot else c.source.provenance)


def telling(claims: Sequence[ClaimRow]) -> ClaimRow | None:
    """Choose the claim that says most about the statement that all of them test; None where none
    was judged.

    A failed claim comes before all, then claims on a theorem. Among these comes first the claim
    whose data would have refuted the smallest error in a constant, or else in an exponent, a
    probability and so on.
    """

    def rank(claim: ClaimRow) -> tuple[bool, bool, bool, int, float]:
        return (
            claim.outcome != "failed",
            claim.exploratory,
            phrases.state(claim) == phrases.AS_EXPECTED,
            SHARPEST.index(claim.rule.scale),
            math.inf if claim.resolution is None else claim.resolution,
        )

    return min((claim for claim in claims if claim.head is not None), key=rank, default=None)


def split(record: Record) -> tuple[list[ClaimRow], list[ClaimRow]]:
    """The claims on theorems, and the exploratory ones, which never fail a run."""
    claims = [claim for claim in record.claims if not claim.exploratory]
    return claims, [claim for claim in record.claims if claim.exploratory]


def assumptions(claims: Iterable[ClaimRow]) -> dict[str, dict[str, dict[str, list[ClaimRow]]]]:
    """List exploratory claims by paper, by the assumption that they relax, and by theorem.

    Every assumption of a paper has all of the paper's theorems, without claims where none asks.
    """
    found: dict[str, dict[str, dict[str, list[ClaimRow]]]] = {}
    relaxing = [(*claim.relaxes, claim) for claim in claims if claim.relaxes]
    for paper, members in grouped(relaxing, lambda row: row[-1].source.paper).items():
        theorems = dict.fromkeys(theorem for _, theorem, _ in members)
        found[paper] = {
            assumption: {name: [c for _, of, c in rows if of == name] for name in theorems}
            for assumption, rows in grouped(members, lambda row: row[0]).items()
        }
    return found


def overview(record: Record) -> list[tuple[PaperRow, dict[str, int]]]:
    """Papers in the order of the record's claims, with how many claims are in each state."""
    papers = {paper.key: paper for paper in record.papers}
    found = grouped(record.claims, lambda claim: claim.source.paper)
    return [(papers[key], count(members)) for key, members in found.items()]


def strip(record: Record) -> list[tuple[PaperRow, list[list[ClaimRow]]]]:
    """List by paper the claims on theorems and the exploratory ones, without empty groups.

    The claims closest to a paper's words come first, and claims in one state are together.
    """
    kinds = [*phrases.PROVENANCE, "pilot"]

    def rank(claim: ClaimRow) -> tuple[int, int]:
        kind = "pilot" if claim.from_pilot else claim.source.provenance
        return kinds.index(kind), ORDER.index(phrases.state(claim))

    papers = {paper.key: paper for paper in record.papers}
    found = grouped(record.claims, lambda claim: claim.source.paper)
    return [
        (
            papers[key],
            [
                sorted((c for c in members if c.exploratory is exploratory), key=rank)
                for exploratory in (False, True)
                if any(c.exploratory is exploratory for c in members)
            ],
        )
        for key, members in found.items()
    ]


def alike(claims: Iterable[ClaimRow]) -> list[list[ClaimRow]]:
    """The claims that share verdict and provenance, together."""
    found = grouped(claims, lambda claim: (phrases.label(claim), claim.source.provenance))
    return list(found.values())


def controls(record: Record) -> tuple[int, int]:
    """Planted wrong theories that were refuted, and all that were tried."""
    tried = [phrases.caught(claim) for claim in record.claims if claim.state == "DECIDED"]
    return sum(refuted for refuted, _ in tried), sum(planted for _, planted in tried)


def combined(claims: Sequence[ClaimRow]) -> str:
    """One state for several claims: the worst of those on theorems.

    A statement that is false, as expected, counts as a success; that shows where there is nothing
    else to show. Exploratory claims of different verdicts are "exploratory".
    """
    found = count(claim for claim in claims if not claim.exploratory)
    for state in WORST_FIRST:
        if state in found:
            return state
    states = count(claims)
    return next(iter(states), "no claim") if len(states) < 2 else "exploratory"


def erring(record: Record) -> float:
    """Bound the probability that any of the attempts at this run's claims errs."""
    shares = record.suite.error_budget.papers
    return math.fsum(claim.draws * shares[claim.source.paper].per_claim for claim in record.claims)


def reused(record: Record) -> list[ClaimRow]:
    """Claims whose evidence was at least partly older than the run."""
    return [claim for claim in record.claims if claim.blocks.reused]


def tried(claims: Iterable[ClaimRow]) -> list[ClaimRow]:
    """List the claims that were run. Tables leave out the rest, which `attention` lists with the
    reasons."""
    return [claim for claim in claims if claim.state != "NOT RUN"]


def early(done: int, total: int) -> str:
    """Say that a run ended before it had reached all claims."""
    claims = phrases.claims(total)
    return f"INTERRUPTED, {done} of {claims} done; the same command continues from the ledger."


def _outcome(claims: Sequence[ClaimRow]) -> str:
    if not claims:
        return "No claim was selected."
    tally = list_states(claims)
    outcomes = Counter(claim.outcome for claim in claims)
    total = phrases.claims(len(claims))
    if outcomes["failed"]:
        verb = "fails" if outcomes["failed"] == 1 else "fail"
        return f"{outcomes['failed']} of {total} {verb}: {tally}."
    if outcomes["skipped"] == len(claims):
        return f"No claim was decided: {tally}."
    if outcomes["skipped"]:
        left = [claim for claim in claims if claim.outcome == "skipped"]
        why = "not run" if all(claim.state == "NOT RUN" for claim in left) else "undecided"
        return f"No claim fails, {len(left)} of {total} {why}: {tally}."
    return f"{'The one claim passes' if len(claims) == 1 else f'All {total} pass'}: {tally}."


def list_states(claims: Iterable[ClaimRow]) -> str:
    """The states of at least one claim, counted, for example `8 SUPPORTED and 1 NOT RUN`."""
    return listed([f"{number} {state}" for state, number in count(claims).items()])


def listed(parts: Sequence[str]) -> str:
    """Join at least one part, for example `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def attention(record: Record) -> list[list[ClaimRow]]:
    """The claims that failed or were left undecided, failures first.

    Claims that were not run for the same reason are one entry; every other has its own.
    """
    left = [claim for claim in record.claims if claim.outcome != "passed"]
    entries = grouped(left, lambda c: (c.reason,) if c.state == "NOT RUN" else (c.id, ""))
    return sorted(entries.values(), key=lambda entry: entry[0].outcome != "failed")


def groups(record: Record) -> dict[str, list[ClaimRow]]:
    """The claims by paper, those on theorems first, with headings."""
    papers = {paper.key: paper.title for paper in record.papers}

    def name(claim: ClaimRow) -> str:
        title = f"Paper {claim.source.paper}: {papers[claim.source.paper]}"
        return f"{title}, without an assumption" if claim.exploratory else title

    claims, exploratory = split(record)
    return grouped([*claims, *exploratory], name)


def statements(record: Record) -> dict[str, list[Entry]]:
    """List by paper its statements, each with the claims of this run that test it."""

    def entry(paper: PaperRow, found: Statement) -> Entry:
        claims = [
            claim
            for claim in record.claims
            if claim.source.paper == paper.key and found.id in claim.source.statements
        ]
        return Entry(found.id, found.text, found.rests_on, claims, found.provenance, found.setting)

    return {paper.key: [entry(paper, s) for s in paper.statements] for paper in record.papers}


def carried(entries: Iterable[Entry], name: str) -> list[str]:
    """The entries that rest on the entry of this name."""
    return [entry.name for entry in entries if name in entry.rests_on]


def derivations(record: Record) -> list[Entry]:
    """The modules that formulas come from, each with the claims of this run that test them."""
    return [
        Entry(
            found.module,
            found.text,
            found.rests_on,
            [claim for claim in record.claims if claim.source.module == found.module],
        )
        for found in record.derivations
    ]


def cited(claim: ClaimRow, paper: PaperRow) -> list[Work]:
    """List the publications that a claim's statements come from.

    A group of papers is never cited itself: its title is ours.
    """
    if all(statement.work is None for statement in paper.statements):
        own = Work(authors=paper.authors, title=paper.title, identifier=paper.identifier)
        return [own] if own != Work() else []
    named = set(claim.source.statements)
    works = [s.work for s in paper.statements if s.id in named and s.work is not None]
    return [work for i, work in enumerate(works) if work not in works[:i]]
