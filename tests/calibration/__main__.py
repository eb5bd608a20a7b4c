"""Print the measured error rates and power of every decision rule."""

from __future__ import annotations

from concurrent.futures import Executor

from rich.console import Console
from rich.table import Table

from tests.calibration import tails
from tests.calibration.cases import CASES
from tests.calibration.harness import ALPHA, CONFIDENCE, RUNS
from tests.calibration.measure import measure, pool


def main() -> None:
    """Measure everything and print two tables."""
    console = Console(width=140)
    with pool() as executor:
        console.print(rules(executor))
        console.print(means(executor))


def rules(executor: Executor) -> Table:
    """Error rates and power of every decision rule."""
    table = Table(
        title=f"{RUNS} runs each, alpha = {ALPHA}; exact {CONFIDENCE:.0%} intervals in brackets"
    )
    for heading in ("rule, data", "false refutation", "false support", "error", "refuted"):
        table.add_column(heading)
    for name in CASES:
        found = measure(name, executor)
        table.add_row(
            name,
            str(found.refuted),
            str(found.supported),
            f"{found.error:.3g}",
            str(found.power),
        )
    return table


def means(executor: Executor) -> Table:
    """How often the interval for a mean misses, at small alpha."""
    table = Table(title=f"intervals for a mean that miss it, {tails.RUNS} runs each")
    for heading in ("data", "values", *(f"alpha = {alpha:g}" for alpha in tails.ALPHAS)):
        table.add_column(heading)
    for data in tails.DATA:
        for size in tails.SIZES:
            found = [tails.misses(data, size, alpha, executor) for alpha in tails.ALPHAS]
            table.add_row(data, str(size), *map(str, found))
    return table


if __name__ == "__main__":
    main()
