"""Judge a claim from Python or in a notebook, without pytest."""

import inspect
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from recall_claims import parse, recording
from recall_claims.declare.claim import Claim
from recall_claims.evidence.executors import SerialExecutor
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.precheck import check
from recall_claims.evidence.run import Settings
from recall_claims.evidence.scheduler import run_claim
from recall_claims.model.errors import ClaimError
from recall_reports import html, record
from recall_reports.record.certificates import load

LEDGER = ".recall-claims/ledger.sqlite"
"""The ledger of `pytest claims/`, shared with the notebook."""
CERTIFICATES = Path("reports/certificates.json")


@dataclass(frozen=True)
class Judged:
    """A claim's row of the record. Notebooks show it as the report does, with the plot."""

    claim: record.ClaimRow
    paper: record.PaperRow = field(repr=False)

    def _repr_html_(self) -> str:
        """Render the claim's part of the report, in a frame so that its styles stay inside."""
        return html.framed(self.claim, self.paper)


def run(
    claim: Claim, *, tier: str = "standard", seed: int = 0, ledger: Path | str = LEDGER
) -> Judged:
    """Simulate and judge one claim on the CPU, as `pytest` does, and return its row of the record.

    Args:
        claim: a claim, imported from its file, such as
            ``from claims.attention.test_signal import trigger_score``. First add its papers, here
            by ``import claims.papers``; in pytest, a conftest.py does this.
        tier: "smoke", "standard" or "full".
        seed: the suite's seed.
        ledger: ledger to read evidence from and keep it in. A claim written in a notebook is
            simulated each time and not kept, since nothing shows which code its evidence rests on.

    Raises:
        ClaimError: the claim is written wrongly, or does not run in the tier or on a CPU.
        ValueError: the seed is negative, too long or no whole number.
        SimulationError, LedgerError: as in a run of pytest.
    """
    check(claim, [tier])
    settings = Settings(tier=tier, seed=parse.seed(str(seed), "seed="))
    reason = claim.why_not_run(tier, settings.device)
    if reason is not None:
        raise ClaimError(f"{claim.id} does not run: {reason}")
    written_here = claim.module == "__main__"
    with tempfile.TemporaryDirectory() as passing:
        path = Path(passing) / "ledger.sqlite" if written_here else Path(ledger)
        with SerialExecutor() as executor, Ledger(path) as kept:
            outcome = run_claim(claim, settings, kept, executor)
    file = "a notebook" if written_here else os.path.relpath(inspect.getfile(claim.observe))
    row = recording.decided(outcome, file, load(CERTIFICATES))
    return Judged(row, recording.paper(claim, settings.budget).paper)
