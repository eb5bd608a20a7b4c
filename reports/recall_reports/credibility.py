"""Why the verdicts can be believed: how the error budget was spent, and how often rules err.

Error rates and power are measured once for all runs (`python -m tests.calibration --json
reports/recall_reports/calibration.json`) and kept as data.
"""

from collections import Counter
from functools import cache
from importlib import resources

import msgspec
from msgspec import Struct

from recall_reports import phrases, summary
from recall_reports.record import Claim, Range, Record


class Rate(Struct):
    """How often something happened in so many runs, with an exact interval for its probability."""

    count: int
    runs: int
    interval: Range


class RuleRates(Struct):
    """Measured error rates and power of a rule on one kind of data."""

    rule: str
    data: str
    false_refutation: Rate
    false_support: Rate
    power: Rate


class MeanRates(Struct):
    """How often an interval for a mean, from so many values, misses it."""

    data: str
    values: int
    alpha: float
    missed: Rate


class Calibration(Struct):
    """The committed measurement, in worlds of known truth."""

    alpha: float
    confidence: float
    date: str
    versions: dict[str, str]
    rules: list[RuleRates]
    means: list[MeanRates]


def spending(record: Record) -> list[tuple[str, int, float]]:
    """Per paper, and for exploratory claims: how many were decided, and what that spent."""
    share = record.suite.error_budget.per_claim
    claims, beyond = summary.split(record)
    groups = {f"paper {paper}": members for paper, members in summary.by_paper(claims).items()}
    if beyond:
        groups["what lies beyond the theorems"] = beyond
    counts = {
        name: sum(claim.state == "DECIDED" for claim in members) for name, members in groups.items()
    }
    return [(name, count, count * share) for name, count in counts.items()]


def looks(record: Record) -> list[tuple[int, int]]:
    """At which look claims were decided, and how many at each."""
    return sorted(Counter(c.looks for c in record.claims if c.state == "DECIDED").items())


def reused(record: Record) -> list[Claim]:
    """Claims whose evidence was, at least in part, there before the run."""
    return [claim for claim in record.claims if claim.blocks.reused or claim.blocks.kept]


def rules(record: Record) -> list[tuple[RuleRates, int]]:
    """Measured error rates and power, each with the number of claims here that it speaks for."""
    used = Counter(claim.rule.name for claim in record.claims)
    return [(row, used[row.rule]) for row in calibration().rules]


@cache
def calibration() -> Calibration:
    """The committed measurement."""
    file = resources.files("recall_reports").joinpath("calibration.json")
    return msgspec.json.decode(file.read_bytes(), type=Calibration)


def rate(measured: Rate) -> str:
    """A measured probability with its interval."""
    return phrases.with_interval(measured.count / measured.runs, measured.interval)
