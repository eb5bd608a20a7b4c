"""Test whether predictions keep their stated errors, at random points of their regimes.

`python -m tests.calibration` prints a table, and fails if a prediction misses its error
(`stated_errors.py`). `python -m recall_claims certify` makes certificates of claims.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from recall_claims.evidence import executors
from tests.calibration.stated import checks
from tests.calibration.stated_errors import document, row_of, rows_in


def main() -> int:
    """Run checks and print their rows; return 1 if a stated error is shown to be broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the points and the evidence")
    parser.add_argument("-k", default="", metavar="TEXT", help="only those whose name holds it")
    parser.add_argument("--markdown", type=Path, help="the table; rows not tried again are kept")
    given = parser.parse_args()
    names = [check.name for check in checks()]
    page: Path | None = given.markdown
    kept = rows_in(page.read_text(encoding="utf-8")) if page and page.exists() else {}
    rows = {name: line for name, line in kept.items() if name in names}
    broken = False
    with executors.make(executors.resolve("auto", "cpu")) as workers:
        chosen = [name for name in names if given.k in name]
        for row in workers.map(partial(row_of, seed=given.seed), chosen):
            rows |= rows_in(row)
            broken |= "FAILS" in row
            print(row, flush=True)
            if page:
                page.write_text(document(rows.values(), given.seed), encoding="utf-8")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
