"""Why the verdicts can be believed: how the error budget was spent, and how often rules err.

Error rates and power are measured once for all runs (`python -m tests.calibration --json
reports/calibration.json`) and kept as data.
"""

import json
from collections import Counter
from functools import cache
from importlib import resources
from typing import Any

from recall_reports import summary, words
from recall_reports.record import Record


def spending(report: Record) -> list[dict[str, Any]]:
    """Per paper, and for exploratory claims, how many were decided and what that spent."""
    share = report["suite"]["error_budget"]["per_claim"]
    claims, beyond = summary.split(report)
    groups = {f"paper {paper}": members for paper, members in summary.by_paper(claims).items()}
    if beyond:
        groups["what lies beyond the theorems"] = beyond
    counts = {
        name: sum(claim["state"] == "DECIDED" for claim in members)
        for name, members in groups.items()
    }
    return [{"name": n, "claims": count, "spent": count * share} for n, count in counts.items()]


def looks(report: Record) -> list[tuple[int, int]]:
    """At which look claims were decided, and how many at each."""
    found = Counter(claim["looks"] for claim in report["claims"] if claim["state"] == "DECIDED")
    return sorted(found.items())


def reused(report: Record) -> list[dict[str, Any]]:
    """Claims whose evidence was, at least in part, there before the run."""
    return [
        claim
        for claim in report["claims"]
        if claim["blocks"]["reused"] or claim["blocks"].get("why", "").startswith("record of")
    ]


def rules(report: Record) -> list[dict[str, Any]]:
    """Measured error rates and power, each with the number of this run's claims it speaks for."""
    used = Counter(claim["rule"]["name"] for claim in report["claims"])
    return [{**row, "used": used[row["rule"]]} for row in calibration()["rules"]]


@cache
def calibration() -> dict[str, Any]:
    """The committed measurement: rates of each rule in worlds of known truth."""
    text = (
        resources.files("recall_reports").joinpath("calibration.json").read_text(encoding="utf-8")
    )
    found: dict[str, Any] = json.loads(text)
    return found


def rate(measured: dict[str, Any]) -> str:
    """A measured probability with its interval."""
    return words.finding(measured["count"] / measured["runs"], measured["interval"])
