"""Why the verdicts can be believed: how the error budget was spent, and what was certified."""

import math
from collections import Counter
from typing import NamedTuple

from recall_reports import summary
from recall_reports.record import Claim, ErrorBudget, PaperBudget, Record


class Spent(NamedTuple):
    """A paper's part of the error budget: how many claims were decided, and what these own."""

    paper: str
    budget: PaperBudget
    decided: int
    spent: float


def spending(record: Record) -> list[Spent]:
    """What each paper's decided claims own of the error budget, exploratory ones included."""
    claims = summary.by_paper(record.claims)
    found = []
    for key, budget in record.suite.error_budget.papers.items():
        decided = sum(claim.state == "DECIDED" for claim in claims.get(key, ()))
        found.append(Spent(key, budget, decided, decided * budget.per_claim))
    return found


def kept_back(budget: ErrorBudget) -> float:
    """The share of the error budget that no paper of this run has."""
    return max(0.0, 1 - sum(paper.share for paper in budget.papers.values()))


class Certified(NamedTuple):
    """Decided claims with a certificate, those whose rule is exact, and those without one."""

    claims: int
    exact: int
    without: int
    total: float


def certified(record: Record) -> Certified:
    """The certificates of decided claims: how many, and the sum of their probabilities."""
    decided = [claim for claim in record.claims if claim.state == "DECIDED"]
    found = [claim for claim in decided if claim.certificate is not None]
    return Certified(
        claims=len(found),
        exact=sum(claim.rule.exact for claim in found),
        without=len(decided) - len(found),
        total=math.fsum(claim.certificate or 0.0 for claim in found),
    )


class Draws(NamedTuple):
    """Evidence sets in the ledger, claims with more than one, and what all of them may err."""

    total: int
    again: int
    at_most: float


def draws(record: Record) -> Draws:
    """How often evidence of this run's claims was drawn, and the error rate of all together."""
    shares = record.suite.error_budget.papers
    return Draws(
        total=sum(claim.draws for claim in record.claims),
        again=sum(claim.draws > 1 for claim in record.claims),
        at_most=math.fsum(
            claim.draws * shares[claim.source.paper].per_claim for claim in record.claims
        ),
    )


def looks(record: Record) -> list[tuple[int, int]]:
    """At which look claims were decided, and how many at each."""
    return sorted(Counter(c.looks for c in record.claims if c.state == "DECIDED").items())


def reused(record: Record) -> list[Claim]:
    """Claims whose evidence was, at least in part, there before the run."""
    return [claim for claim in record.claims if claim.blocks.reused or claim.blocks.kept]
