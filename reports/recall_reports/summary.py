"""Summary of a run: a sentence, claims that need attention, the state of each statement."""

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
SHARPEST: list[Scale] = ["ratio", "exponent", "probability", "share", "difference", "error"]
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
"""Phrases for one claim in a state, and for several claims."""
ORDER = (*(state for state in OUTCOMES if state != phrases.AS_EXPECTED), phrases.AS_EXPECTED)


@dataclass(frozen=True)
class Entry:
    """A statement or a module of formulas, the entries it rests on, and the claims that test it.

    `setting`: whether it is a definition, which claims use and do not test.
    """

    name: str
    text: str
    rests_on: Sequence[str]
    claims: Sequence[ClaimRow]
    provenance: str = ""
    setting: bool = False

    @property
    def indirect(self) -> bool:
        """Whether this is a paper's statement, and all its claims test our own derivations."""
        kinds = {claim.source.provenance for claim in self.claims}
        return self.provenance != "derived" and kinds == {"derived"}


def grouped(things: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group things by key, in the order of first appearance."""
    found: dict[K, list[T]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return found


def count(claims: Iterable[ClaimRow]) -> dict[str, int]:
    """Count the claims in each state."""
    found = Counter(map(phrases.state, claims))
    return {state: found[state] for state in ORDER if found[state]}


def sentence(record: Record) -> str:
    """Write a sentence on the outcome, and one each on an early end and exploratory claims."""
    claims, exploratory = split(record)
    done, ahead = len(record.claims), record.suite.ahead
    sentences = [early(done, done + ahead)] if ahead else []
    sentences += [outcome(claims)] if claims or not exploratory else []
    if exploratory:
        sentences.append(f"Beyond the theorems: {list_states(exploratory)}.")
    return " ".join(sentences)


def evidence(claims: Iterable[ClaimRow]) -> dict[str, list[ClaimRow]]:
    """Group claims by provenance; claims that only reproduce a pilot run are a further group."""
    return grouped(claims, lambda c: "pilot" if c.from_pilot else c.source.provenance)


def telling(claims: Sequence[ClaimRow]) -> ClaimRow | None:
    """Choose the claim that says most about the statement that all these claims test; None if none
    was judged.

    Failed claims come before all others, claims on theorems before exploratory claims, and claims
    expected to hold before others. Among equals, claims on a ratio come before claims on an
    exponent, a probability and so on, and then the smallest `resolution` comes first.
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
    """Separate claims on theorems from exploratory claims, which never fail a run."""
    found = grouped(record.claims, lambda claim: claim.exploratory)
    return found.get(False, []), found.get(True, [])


def assumptions(claims: Iterable[ClaimRow]) -> dict[str, dict[str, dict[str, list[ClaimRow]]]]:
    """List exploratory claims by paper, by the assumption that they relax, and by theorem.

    Every assumption of a paper lists the same theorems, some perhaps without claims.
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


def strip(record: Record) -> list[tuple[PaperRow, list[list[ClaimRow]]]]:
    """List by paper the claims on theorems and the exploratory claims, without empty groups.

    Claims closest to a paper's words come first, then claims in the same state are together.
    """
    kinds = [*phrases.PROVENANCE, "pilot"]

    def rank(claim: ClaimRow) -> tuple[bool, int, int]:
        kind = "pilot" if claim.from_pilot else claim.source.provenance
        return claim.exploratory, kinds.index(kind), ORDER.index(phrases.state(claim))

    papers = {paper.key: paper for paper in record.papers}
    found = grouped(record.claims, lambda claim: claim.source.paper)
    return [
        (papers[key], list(grouped(sorted(members, key=rank), lambda c: c.exploratory).values()))
        for key, members in found.items()
    ]


def alike(claims: Iterable[ClaimRow]) -> list[list[ClaimRow]]:
    """Group claims that share verdict and provenance."""
    found = grouped(claims, lambda claim: (phrases.label(claim), claim.source.provenance))
    return list(found.values())


def controls(record: Record) -> tuple[int, int]:
    """Count the refuted controls, and all controls that were tried."""
    tried = [phrases.caught(claim) for claim in record.claims if claim.state == "DECIDED"]
    return sum(refuted for refuted, _ in tried), sum(planted for _, planted in tried)


def combined(claims: Sequence[ClaimRow]) -> str:
    """Return one state for several claims: the worst of the claims on theorems.

    "False, as expected" is a success, returned only if no other claim was run. Exploratory claims
    alone, if states differ, are "exploratory".
    """
    found = count(claim for claim in claims if not claim.exploratory)
    for state in WORST_FIRST:
        if state in found:
            return state
    states = count(claims)
    return next(iter(states), "no claim") if len(states) < 2 else "exploratory"


def erring(record: Record) -> float:
    """Bound the probability that any attempt at this run's claims refutes wrongly."""
    shares = record.suite.error_budget.papers
    return math.fsum(claim.draws * shares[claim.source.paper].per_claim for claim in record.claims)


def tried(claims: Iterable[ClaimRow]) -> list[ClaimRow]:
    """List the claims that were run. Tables leave out other claims, which `attention` lists with
    reasons."""
    return [claim for claim in claims if claim.state != "NOT RUN"]


def early(done: int, total: int) -> str:
    """Say that a run ended before it had reached all claims."""
    claims = phrases.claims(total)
    return f"INTERRUPTED, {done} of {claims} done; the same command continues from the ledger."


def outcome(claims: Sequence[ClaimRow]) -> str:
    """Say in a sentence how many claims on theorems failed, passed or were skipped."""
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
    """Count one or more claims by state, for example `8 SUPPORTED and 1 NOT RUN`."""
    return listed([f"{number} {state}" for state, number in count(claims).items()])


def listed(parts: Sequence[str]) -> str:
    """Join one or more parts, for example `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def attention(record: Record) -> list[list[ClaimRow]]:
    """List the claims that did not pass: failures first, then skipped ones.

    Claims that were not run for the same reason share an entry; every other claim has its own.
    """
    left = [claim for claim in record.claims if claim.outcome != "passed"]
    entries = grouped(left, lambda c: (c.reason,) if c.state == "NOT RUN" else (c.id, ""))
    return sorted(entries.values(), key=lambda entry: entry[0].outcome != "failed")


def groups(record: Record) -> dict[str, list[ClaimRow]]:
    """Group claims by paper under headings, claims on theorems first."""
    papers = {paper.key: paper.title for paper in record.papers}

    def name(claim: ClaimRow) -> str:
        title = f"Paper {claim.source.paper}: {papers[claim.source.paper]}"
        return f"{title}, without an assumption" if claim.exploratory else title

    claims, exploratory = split(record)
    return grouped([*claims, *exploratory], name)


def statements(record: Record) -> dict[str, list[Entry]]:
    """List each paper's statements, with the claims of this run that test them."""

    def entry(paper: PaperRow, found: Statement) -> Entry:
        claims = [
            claim
            for claim in record.claims
            if claim.source.paper == paper.key and found.id in claim.source.statements
        ]
        return Entry(found.id, found.text, found.rests_on, claims, found.provenance, found.setting)

    return {paper.key: [entry(paper, s) for s in paper.statements] for paper in record.papers}


def carried(entries: Iterable[Entry], name: str) -> list[str]:
    """Name the entries that rest on the entry of this name."""
    return [entry.name for entry in entries if name in entry.rests_on]


def derivations(record: Record) -> list[Entry]:
    """List the modules of formulas, each with the claims of this run that test the formulas."""
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

    A group of publications is never cited: its title is ours.
    """
    if all(statement.work is None for statement in paper.statements):
        own = Work(authors=paper.authors, title=paper.title, identifier=paper.identifier)
        return [own] if own != Work() else []
    named = set(claim.source.statements)
    works = [s.work for s in paper.statements if s.id in named and s.work is not None]
    return [work for i, work in enumerate(works) if work not in works[:i]]
