"""Error probabilities of rules by Student's t, certified claim by claim.

A certificate is about one registration: a declaration and its predictions in a tier. It is computed
once for all runs (`python -m recall_claims certify`) and kept next to the baseline.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from recall_reports.record import Probability
from recall_reports.record.files import ReportError

FILE = "certificates.json"


class Certificate(Struct, kw_only=True, forbid_unknown_fields=True):
    """Certified error probabilities of one registration, by importance sampling.

    They were computed on `worlds` resampled data sets of fresh values of the claim's own
    simulation, a seed each. `refutes` and `supports` are the probabilities to do so wrongly, on the
    worst data set, to be compared with `alpha`. `least` is the probability of refuting on the best.
    `stress` is the probability of refuting where one replicate in five times as many as the claim
    has is 20 standard deviations off. It is shown, and not promised.
    """

    registration: str
    alpha: Probability
    refutes: Probability
    supports: Probability
    worlds: int
    least: Probability
    stress: float

    @property
    def holds(self) -> bool:
        """Whether neither error is more probable than alpha."""
        return max(self.refutes, self.supports) <= self.alpha


class Certificates(Struct, kw_only=True):
    """The certificates of a suite, by the id of the claim."""

    tier: str = ""
    claims: dict[str, Certificate] = {}

    def of(self, claim: str, tier: str, registration: str) -> Certificate | None:
        """The certificate of a claim as it is registered in a tier; None without one."""
        found = self.claims.get(claim)
        fits = found and (self.tier, found.registration) == (tier, registration)
        return found if fits else None


def load(path: Path) -> Certificates:
    """The certificates of a file; none where there is no such file.

    Raises:
        ReportError: the file holds something else.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Certificates)
    except FileNotFoundError:
        return Certificates()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ReportError(
            f"{path} holds no certificates: {error}; remove it, or write it again with "
            "`python -m recall_claims certify`"
        ) from error
