"""What a run calls grows with its claims and no faster: counted, for seconds are not the same."""

import cProfile
from dataclasses import replace
from functools import partial

import pytest

from tests.benchmarks.growth import EDITS, RUNS, exponent
from tests.faults.conftest import HEAD, Suite, written

SIZES = (6, 12, 24)
MOST = 1.02
"""Exponent: a run is noticed that makes 40 calls for each pair of claims, beside 17,000 a claim."""


@pytest.mark.parametrize("kind", RUNS)
def test_calls_of_a_run_are_linear_in_its_claims(suite: Suite, kind: str) -> None:
    made = {size: replace(suite, file=f"{size}_{suite.file}") for size in SIZES}
    for size, one in made.items():
        names = [f"claim_{number}" for number in range(size)]
        one.write_text(HEAD + "".join(written(name, *EDITS) for name in names))
    counts = {}
    for size, one in made.items():
        kept = ("--ledger", f"{size}.sqlite", "--report-dir", f"reports/{size}", "--no-plots")
        one.run(*kept)
        run = partial(one.run, *kept, "--baseline", f"reports/{size}/report.json", *RUNS[kind])
        run()  # what is done once a process is done
        profile = cProfile.Profile()
        profile.runcall(run)
        counts[size] = float(sum(entry.callcount for entry in profile.getstats()))
    assert exponent(counts) <= MOST
