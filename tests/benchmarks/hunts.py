"""Rates at which hunts find errors that no grid shows, and at which they refute a true theory.

`python -m tests.benchmarks hunt --planted dim-cut` hunts an error of `tests.mutation.planted` in
the claims that use the changed code, from an empty ledger, for at most `--minutes`. `--true 10`
hunts the right theory in all claims, under ten seeds. HUNTS.md has the results of such hunts.

A hunt uses one core, and minutes are processor time, so other work on the machine does not matter.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from recall_claims import Cell
from recall_claims.evidence.executors import SerialExecutor, one_thread
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Settings
from recall_claims.hunt import campaign
from tests.every_claim import imported
from tests.mutation.mutants import forget
from tests.mutation.planted import PLANTED, Planted

SEED = 1301
"""Seed of the hunts of planted errors; hunts of the right theory have SEED + 1 and following."""


@dataclass(frozen=True)
class Hunt:
    """A hunt: purpose, findings, and whether the findings are exactly the planted errors."""

    case: str
    found: str
    kept: bool

    def __str__(self) -> str:
        return f"| hunt, {self.case} | {self.found} | – | – | – |"


def rows(planted: Sequence[str], right: int, minutes: float) -> Iterator[Hunt]:
    """Hunt for planted errors, by name or for all, and hunt the right theory `right` times."""
    for name in PLANTED if "all" in planted else planted:
        yield hunted(PLANTED[name], minutes, SEED)
    for number in range(right):
        yield hunted(None, minutes, SEED + 1 + number)


def hunted(planted: Planted | None, minutes: float, seed: int) -> Hunt:
    """Hunt an error until it is found, or the right theory of all claims, until the time is up."""
    one_thread()
    claims = [imported()[name] for name in (planted.claims if planted else imported())]
    begin = time.process_time()
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        forget()
        if planted:
            planted.plant(patch)
        with Ledger(Path(folder) / "ledger.sqlite") as ledger:
            given = claims, Settings(seed=seed), ledger, SerialExecutor(), 60 * minutes
            trails = campaign.hunt(*given, clock=time.process_time)
        seconds = time.process_time() - begin
        found = f"not found, {sum(len(trail.probes) for trail in trails)} points"
        confirmed = [trail for trail in trails if trail.confirmation is not None]
        for trail in confirmed[:1]:
            assert trail.confirmation is not None
            violation = trail.confirmation.probe
            at = Cell(**violation.point).id
            found = f"{seconds:.0f} s: {trail.claim.id} at {at}"
    forget()
    case = planted.id if planted else f"right theory, seed {seed}"
    return Hunt(case, found, bool(confirmed) == (planted is not None))
