"""Certify every claim of a tier: how often its verdict errs, and how often it decides.

`python -m tests.calibration` draws evidence under a seed that is not that of the record (or takes
it from the ledger), prints a table, and writes the certificates that the report shows. It fails if
a claim errs more often than its alpha says, or if all together may refute more than the budget.

With `--stated-errors` it tries instead whether predictions keep the errors that they state, at
random points of their regimes, and fails if one does not (`stated_errors.py`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from recall_claims.declare.registration import registration
from recall_claims.errors import SimulationError
from recall_claims.evidence import executors
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Settings
from recall_claims.evidence.scheduler import run
from tests.calibration import stated_errors
from tests.calibration.certify import Certified, certified
from tests.calibration.pools import pool
from tests.every_claim import imported

SEED = 1001
LEDGER = Path(".recall-claims/calibration.sqlite")
CERTIFICATES = Path(__file__).parents[2] / "reports" / "recall_reports" / "certificates.json"


def main() -> int:
    """Certify, print, keep; 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration", description=__doc__)
    parser.add_argument("--tier", default="standard", choices=("smoke", "standard", "full"))
    parser.add_argument("--seed", type=int, help=f"of the evidence ({SEED}; stated errors: 0)")
    parser.add_argument("--ledger", type=Path, default=LEDGER, help=f"default {LEDGER}")
    parser.add_argument("-k", default="", metavar="TEXT", help="only those whose name holds it")
    parser.add_argument("--stale", action="store_true", help="only those whose certificate is")
    parser.add_argument("--json", type=Path, default=CERTIFICATES, metavar="FILE")
    parser.add_argument("--stated-errors", action="store_true", help="try these instead")
    parser.add_argument("--looks", type=int, default=99, help="at most (stated errors)")
    parser.add_argument("--markdown", type=Path, help="the table of stated errors, written anew")
    options = parser.parse_args()
    if options.stated_errors:
        return stated_errors.main(options.k, options.seed or 0, options.looks, options.markdown)
    settings = Settings(tier=options.tier, seed=SEED if options.seed is None else options.seed)
    names = [
        name
        for name, claim in imported().items()
        if options.k in name and claim.why_not_run(options.tier, "cpu") is None
    ]
    if options.stale:
        names = [name for name in names if stale(name, options.tier, options.json)]
    draw(names, settings, options.ledger)
    tasks = [(name, settings, options.ledger) for name in names]
    with pool() as workers:
        results = track(workers.map(certified, tasks), "certifying", total=len(tasks))
        found = dict(zip(names, results, strict=True))
    console = Console(width=120)
    console.print(table(found))
    console.print(json_written(found, options.tier, options.json))
    problems = broken(found, settings.budget.probability)
    for problem in problems:
        console.print(problem, style="red")
    return 1 if problems else 0


def stale(name: str, tier: str, file: Path) -> bool:
    """Whether a claim has no certificate for what it declares now."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if kept.get("tier") != tier or name not in kept["claims"]:
        return True
    return bool(kept["claims"][name]["registration"] != registration(imported()[name], tier))


def draw(names: Iterable[str], settings: Settings, path: Path) -> None:
    """Put what the claims need into the ledger."""
    with (
        executors.make(executors.resolve("auto", settings.device, nested=False)) as executor,
        Ledger(path) as ledger,
    ):
        for name in track(list(names), "drawing evidence"):
            run(imported()[name], settings, ledger, executor)


def broken(found: dict[str, Certified], budget: float) -> list[str]:
    """The promises that are not kept, in words."""
    problems = [
        f"{name}: errs with probability {max(certificate.refutes, certificate.supports):.2g}, "
        f"more than its alpha {certificate.alpha:.2g}"
        for name, (_, certificate) in found.items()
        if not certificate.holds
    ]
    total = sum(certificate.refutes for _, certificate in found.values())
    if total > budget:
        problems.append(f"together they refute true claims with probability {total:.2g}")
    return problems


def json_written(found: dict[str, Certified], tier: str, file: Path) -> str:
    """Keep the certificates beside those of other claims; says where."""
    kept: dict[str, Any] = {}
    if file.exists():
        earlier = json.loads(file.read_text(encoding="utf-8"))
        kept = {n: c for n, c in earlier["claims"].items() if earlier["tier"] == tier}
        kept = {n: c for n, c in kept.items() if n in imported()}
    for name, (named, certificate) in found.items():
        rounded = {
            key: value if isinstance(value, str) else float(f"{value:.3g}")
            for key, value in asdict(certificate).items()
        }
        kept[name] = {"registration": named, **rounded}
    text = json.dumps({"tier": tier, "claims": dict(sorted(kept.items()))}, indent=1)
    file.write_text(text + "\n", encoding="utf-8")
    return f"{len(kept)} certificates in {file}"


def table(found: dict[str, Certified]) -> Table:
    """A row per claim, and their sum."""
    certificates = [certificate for _, certificate in found.values()]
    shown = Table(title="probabilities of errors, and share of worlds without the verdict")
    for heading in ("claim", "rests on", "alpha", "refutes", "supports", "undecided"):
        shown.add_column(heading)
    for name, (_, c) in found.items():
        figures = (f"{value:.2g}" for value in (c.alpha, c.refutes, c.supports, c.undecided))
        shown.add_row(name, c.method, *figures)
    shown.add_section()
    refutes = sum(c.refutes for c in certificates)
    undecided = sum(c.undecided for c in certificates)
    shown.add_row("all", "", "", f"{refutes:.2g}", "", f"{undecided:.2g}")
    return shown


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SimulationError as error:
        sys.exit(str(error))
