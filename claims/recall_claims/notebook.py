"""Judge a claim from Python or in a notebook, without pytest."""

from __future__ import annotations

import inspect
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from recall_claims import parse, recording
from recall_claims.declare.check import check
from recall_claims.declare.claim import Claim
from recall_claims.errors import ClaimError
from recall_claims.evidence import executors, scheduler
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.run import Outcome, Settings
from recall_reports import html, phrases
from recall_reports.certificates import load
from recall_reports.record import Claim as Record
from recall_reports.record import Paper

LEDGER = Path(".recall-claims/ledger.sqlite")
"""That of `pytest claims/`: what either has simulated, the other reads."""
CERTIFICATES = Path("reports/certificates.json")


@dataclass(frozen=True)
class Judged:
    """A claim's outcome; a notebook shows it as the report does, with its plot.

    Attributes:
        outcome: the decision with its evidence.
        record: what the report says of it.
    """

    outcome: Outcome
    record: Record
    _paper: Paper = field(repr=False)

    @property
    def verdict(self) -> str:
        """SUPPORTED, REFUTED or INCONCLUSIVE; SURVIVES or BREAKS of an exploratory claim."""
        return phrases.state(self.record)

    def __str__(self) -> str:
        """Verdict, estimate and reason in a line."""
        return f"{self.record.id}: {self.verdict}, {phrases.reason(self.record)}"

    def _repr_html_(self) -> str:
        """The claim's part of the report, in a frame so that its styles stay there."""
        return html.framed(self.record, self._paper)


def run(
    claim: Claim,
    *,
    tier: str = "standard",
    seed: int = 0,
    device: str = "cpu",
    executor: str = "serial",
    ledger: Path | str = LEDGER,
) -> Judged:
    """Simulate and judge one claim, as `pytest` does, and return what came of it.

    Args:
        claim: as it is imported from its file, such as
            ``from claims.attention.test_signal import trigger_score``.
        tier: "smoke", "standard" or "full".
        seed: of the suite.
        device: "cpu" or "cuda".
        executor: as of `--executor`; "auto" takes a process per core.
        ledger: where evidence is kept and looked for. A claim that is written in a notebook is
            drawn anew each time, since nothing says which cells its evidence depends on.

    Raises:
        ClaimError: the claim is written wrongly, does not run in the tier or on the device, or is
            of a notebook and would be simulated by other processes.
        ValueError: seed, device or executor make no sense, as of pytest's parse.
        SimulationError, LedgerError: as of a run of pytest.
    """
    written_here = claim.module == "__main__"
    if written_here and executor != "serial":
        raise ClaimError(
            f"claim {claim.id} is written in this notebook, which other processes cannot import: "
            'leave executor="serial", or write the claim to a .py file and import it'
        )
    check(claim, [tier])
    parse.seed(str(seed), "seed=")
    device = parse.device(device, local=executors.is_local(executor))
    reason = claim.why_not_run(tier, device)
    if reason is not None:
        raise ClaimError(f"{claim.id} does not run: {reason}")
    settings = Settings(tier=tier, seed=seed, device=device)
    spec = executors.resolve(executor, device, nested=False)
    with tempfile.TemporaryDirectory() as passing:
        path = Path(passing) / "ledger.sqlite" if written_here else Path(ledger)
        with executors.make(spec) as workers, Ledger(path) as kept:
            outcome = scheduler.run_claim(claim, settings, kept, workers)
    file = "a notebook" if written_here else os.path.relpath(inspect.getfile(claim.observe))
    entry = recording.paper(claim, settings.budget)
    return Judged(outcome, recording.decided(outcome, file, load(CERTIFICATES)), entry.paper)
