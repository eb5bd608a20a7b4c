"""`python -m recall_claims certify`: how often verdicts by Student's t err.

The command draws evidence under other seeds than the record's, or takes it from the ledger. Then it
prints a table, and writes the certificates that reports show. It fails if a claim errs more often
than its alpha allows, or if all certified claims together wrongly refute more often than the budget
allows.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import track
from rich.table import Table

from recall_claims.certify.certificate import certifiable, certified, worlds
from recall_claims.declare.claim import Claim
from recall_claims.declare.registration import registration
from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.model.papers import papers
from recall_reports.record.certificates import Certificate, Certificates, load

SEEDS = (1001, 1002, 1003)
"""Seeds of the resampled data, not the record's."""


def main(options: argparse.Namespace, collected: Sequence[Claim]) -> int:
    """Certify claims, print and save the results; return 1 if errors are too probable, else 0."""
    settings = Settings(tier=options.tier)
    claims = {claim.id: claim for claim in collected}
    kept = load(options.json)
    if kept.tier != settings.tier:
        kept = Certificates(tier=settings.tier)
    kept.claims = {name: one for name, one in kept.claims.items() if name in claims}
    chosen = {
        name: claim
        for name, claim in claims.items()
        if options.k in name and claim.why_not_run(settings.tier, "cpu") is None
        if not claim.rule.exact
        if not (options.stale and kept.of(name, kept.tier, registration(claim, kept.tier)))
    }
    other = [name for name in chosen if not certifiable(chosen[name])]
    for name in other:
        method = type(chosen.pop(name).rule.method).__name__
        print(f"no certificate of {name}: {method} is neither exact nor Student's t")
    found = certify_all(chosen, settings, options.ledger)
    kept.claims = dict(sorted({**kept.claims, **found}.items()))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    console = Console(width=120)
    console.print(table(found, kept.claims))
    console.print(f"{len(kept.claims)} certificates in {options.json}")
    problems = broken(kept.claims, settings.budget.probability)
    for problem in problems:
        console.print(problem, style="red")
    return 1 if problems else 0


def certify_all(
    claims: Mapping[str, Claim], settings: Settings, path: Path
) -> dict[str, Certificate]:
    """Simulate the blocks that the claims need, and certify each claim from the ledger."""
    modules = [claim.module for claim in claims.values()]
    alphas = [settings.budget.per_claim(papers()[c.source.paper]) for c in claims.values()]
    each = partial(certified, settings=settings, path=path, seeds=SEEDS)
    with executors.make(executors.resolve("auto", settings.device)) as executor:
        with Ledger(path) as ledger:
            for claim in track(list(claims.values()), "drawing evidence"):
                for larger, of_seed in worlds(claim, settings, SEEDS):
                    run_claim(larger, of_seed, ledger, executor)
        drawn = executor.map(each, modules, claims, alphas)
        results = track(drawn, "certifying", total=len(claims))
        return dict(zip(claims, results, strict=True))


def broken(found: Mapping[str, Certificate], budget: float) -> list[str]:
    """Say which error probabilities exceed their limits."""
    problems = [
        f"{name}: errs with probability {max(certificate.refutes, certificate.supports):.2g}, "
        f"more than its alpha {certificate.alpha:.2g}"
        for name, certificate in found.items()
        if not certificate.holds
    ]
    total = sum(certificate.refutes for certificate in found.values())
    if total > budget:
        problems.append(f"together they refute true claims with probability {total:.2g}")
    return problems


def table(found: Mapping[str, Certificate], kept: Mapping[str, Certificate]) -> Table:
    """Tabulate new certificates, and the sum of `refutes` over `kept` ones."""
    shown = Table(title="probabilities of errors of claims by Student's t")
    for heading in ("claim", "worlds", "alpha", "refutes", "at least", "supports", "under stress"):
        shown.add_column(heading)
    for name, c in found.items():
        figures = (f"{value:.2g}" for value in (c.alpha, c.refutes, c.least, c.supports, c.stress))
        shown.add_row(name, str(c.worlds), *figures)
    shown.add_section()
    shown.add_row("all", "", "", f"{sum(c.refutes for c in kept.values()):.2g}")
    return shown
