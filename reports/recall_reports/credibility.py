"""Why the verdicts can be believed: how the error budget was spent, and what was certified."""

import math
from collections import Counter
from typing import NamedTuple

from recall_reports.record import Claim, PaperBudget, Record


class Spent(NamedTuple):
    """A paper's part of the error budget: how many claims were decided, and what these own."""

    paper: str
    budget: PaperBudget
    decided: int
    spent: float


def decided(record: Record) -> list[Claim]:
    """The claims with a verdict, exploratory ones included."""
    return [claim for claim in record.claims if claim.state == "DECIDED"]


def spending(record: Record) -> list[Spent]:
    """What each paper's decided claims own of the error budget."""
    counts = Counter(claim.source.paper for claim in decided(record))
    return [
        Spent(key, budget, counts[key], counts[key] * budget.per_claim)
        for key, budget in sorted(record.suite.error_budget.papers.items())
    ]


def certified(record: Record) -> tuple[list[Claim], float]:
    """The decided claims with a certificate, and the sum of their probabilities."""
    found = [claim for claim in decided(record) if claim.certificate is not None]
    return found, math.fsum(claim.certificate or 0.0 for claim in found)


def drawn(record: Record) -> float:
    """The probability that any of the evidence sets that were drawn for this run's claims errs."""
    shares = record.suite.error_budget.papers
    return math.fsum(claim.draws * shares[claim.source.paper].per_claim for claim in record.claims)


def looks(record: Record) -> list[tuple[int, int]]:
    """At which look claims were decided, and how many at each."""
    return sorted(Counter(claim.looks for claim in decided(record)).items())


def reused(record: Record) -> list[Claim]:
    """Claims whose evidence was, at least in part, there before the run."""
    return [claim for claim in record.claims if claim.blocks.reused or claim.blocks.kept]
