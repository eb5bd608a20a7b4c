"""Error probabilities of rules by Student's t, certified claim by claim.

A certificate is for one registration: a declaration and its predictions in a tier. `python -m
recall_claims certify` computes it once for all runs, and keeps it next to the baseline.
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

    They were computed on `worlds` resampled data sets of the claim's simulation, one per seed.
    `refutes` and `supports` are the probabilities of wrongly refuting and supporting on the worst
    data set, to compare with `alpha`. `least` is the probability of refuting on the best data set.
    `stress` is the probability of refuting if one of n values is 20 standard deviations off, where
    n is at least 2.5 times a cell's replicates. This probability may exceed `alpha`.
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
        """Whether both error probabilities are at most alpha."""
        return max(self.refutes, self.supports) <= self.alpha


class Certificates(Struct, kw_only=True):
    """The certificates of a suite, by the claim's id."""

    tier: str = ""
    claims: dict[str, Certificate] = {}

    def of(self, claim: str, tier: str, registration: str) -> Certificate | None:
        """Return the certificate of a claim's registration in a tier; None without one."""
        found = self.claims.get(claim)
        fits = found and (self.tier, found.registration) == (tier, registration)
        return found if fits else None


def load(path: Path) -> Certificates:
    """Read the certificates in a file; none if the file does not exist.

    Raises:
        ReportError: the file cannot be read, or holds something else.
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
