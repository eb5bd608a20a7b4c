"""How often a rule by Student's t refutes wrongly, certified claim by claim.

A certificate speaks of one registration: of a declaration and its predictions in a tier. It is
computed once for all runs (`python -m recall_claims certify`) and kept beside the baseline.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from recall_reports.record import Probability
from recall_reports.record.errors import ReportError

FILE = "certificates.json"


class Certificate(Struct, kw_only=True, forbid_unknown_fields=True):
    """What was certified of a registration, by importance sampling.

    It was done in `worlds` made of fresh values of the claim's own simulation, a seed each.
    `refutes` and `supports` are the probabilities to do so wrongly, in the worst world, to be
    compared with `alpha`; `least` is that of refuting in the best. `stress` is that of refuting
    where one replicate in five times as many as the claim has is 20 standard deviations off: told
    and not promised.
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
        """Whether neither error is more probable than alpha says."""
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
            f"{path} holds no certificates: {error}; take it away, or write it anew with "
            "`python -m recall_claims certify`"
        ) from error
