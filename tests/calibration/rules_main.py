"""Print the measured error rates and power of every decision rule; keep them for the report."""

from __future__ import annotations

import argparse
import json
import math
import platform
from concurrent.futures import Executor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.calibration import tails
from tests.calibration.cases import CASES, labels
from tests.calibration.harness import ALPHA, CONFIDENCE, RUNS, Rate
from tests.calibration.measure import measure, pool

PACKAGES = ("numpy", "scipy", "statsmodels", "recall-claims")


def main() -> None:
    """Measure everything, print two tables and, if asked to, write the figures to a file."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    file = parser.parse_args().json
    with pool() as executor:
        found = {"rules": rules(executor), "means": means(executor)}
    console = Console(width=140)
    console.print(_rules_table(found["rules"]))
    console.print(_means_table(found["means"]))
    if file is not None:
        file.write_text(json.dumps({**_head(), **found}, indent=1) + "\n", encoding="utf-8")


def rules(executor: Executor) -> list[dict[str, Any]]:
    """Error rates and power of every decision rule."""
    rows = []
    for name in CASES:
        found = measure(name, executor)
        rule, data = labels(name)
        rows.append(
            {
                "rule": rule,
                "data": data,
                "false_refutation": _rate(found.refuted),
                "false_support": _rate(found.supported),
                "error": found.error if math.isfinite(found.error) else None,
                "power": _rate(found.power),
            }
        )
    return rows


def means(executor: Executor) -> list[dict[str, Any]]:
    """How often the interval for a mean misses, at small alpha."""
    return [
        {
            "data": data,
            "values": size,
            "alpha": alpha,
            "missed": _rate(tails.misses(data, size, alpha, executor)),
        }
        for data in tails.DATA
        for size in tails.SIZES
        for alpha in tails.ALPHAS
    ]


def _rate(rate: Rate) -> dict[str, Any]:
    return {"count": rate.count, "runs": rate.runs, "interval": list(rate.interval)}


def _head() -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
        "alpha": ALPHA,
        "confidence": CONFIDENCE,
    }


def _rules_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(
        title=f"{RUNS} runs each, alpha = {ALPHA}; exact {CONFIDENCE:.0%} intervals in brackets"
    )
    for heading in ("rule, data", "false refutation", "false support", "error", "refuted"):
        table.add_column(heading)
    for row in rows:
        table.add_row(
            ", ".join(filter(None, (row["rule"], row["data"]))),
            _text(row["false_refutation"]),
            _text(row["false_support"]),
            "-" if row["error"] is None else f"{row['error']:.3g}",
            _text(row["power"]),
        )
    return table


def _means_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(title=f"intervals for a mean that miss it, {tails.RUNS} runs each")
    for heading in ("data", "values", "alpha", "missed"):
        table.add_column(heading)
    for row in rows:
        missed = _text(row["missed"])
        table.add_row(row["data"], str(row["values"]), f"{row['alpha']:g}", missed)
    return table


def _text(rate: dict[str, Any]) -> str:
    return str(Rate(rate["count"], rate["runs"]))


if __name__ == "__main__":
    main()
