"""Try whether predictions keep the errors that they state, at random points of their regimes.

`python -m tests.calibration` prints a table, and fails if one does not (`stated_errors.py`).
Certificates of claims are made by `python -m recall_claims certify`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.calibration import stated_errors

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.calibration", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the points and the evidence")
    parser.add_argument("-k", default="", metavar="TEXT", help="only those whose name holds it")
    parser.add_argument("--looks", type=int, default=99, help="at most")
    parser.add_argument("--markdown", type=Path, help="the table, written anew")
    options = parser.parse_args()
    sys.exit(stated_errors.main(options.k, options.seed, options.looks, options.markdown))
