"""What a run calls grows with its claims and no faster: counted, for seconds are not the same."""

import cProfile
from dataclasses import replace
from functools import partial

import pytest

from tests.faults.conftest import HEAD, Suite, written

SIZES = (6, 12, 24)
MOST = 2**1.02
"""Calls of twelve more claims by those of six: a run is noticed that makes 40 calls for each pair
of claims, beside 17,000 a claim."""
EDITS = (
    ("(1.0, 2.0, 5.0)", "(1.0, 2.0)"),
    ("controls=[", 'controls=[Control("half", "half", predict=lambda cell: predict(cell) / 2), '),
    ("0.95, 1.05", "0.8, 1.2"),
    ("0.1)", "0.01)"),
)
"""Make a claim of the faults' suite one that its first look decides."""


@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["warm", "dry run"])
def test_calls_of_a_run_are_linear_in_its_claims(suite: Suite, options: tuple[str, ...]) -> None:
    made = {size: replace(suite, file=f"{size}_{suite.file}") for size in SIZES}
    for size, one in made.items():
        names = [f"claim_{number}" for number in range(size)]
        one.write_text(HEAD + "".join(written(name, *EDITS) for name in names))
    counts = []
    for size, one in made.items():
        kept = ("--ledger", f"{size}.sqlite", "--report-dir", f"reports/{size}")
        one.run(*kept)
        run = partial(one.run, *kept, "--baseline", f"reports/{size}/report.json", *options)
        run()  # what is done once a process is done
        profile = cProfile.Profile()
        profile.runcall(run)
        counts.append(sum(entry.callcount for entry in profile.getstats()))
    few, some, many = counts
    assert many - some <= MOST * (some - few)
