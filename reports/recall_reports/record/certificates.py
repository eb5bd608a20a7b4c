"""How often a claim's rule refutes wrongly, certified claim by claim.

A certificate speaks of one registration: of a declaration and its predictions in a tier. It is
computed once for all runs (`python -m recall_claims certify`) and kept beside the baseline.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from recall_reports.record import Probability
from recall_reports.record.errors import ReportError

FILE = "certificates.json"


class Certificate(Struct, kw_only=True, omit_defaults=True):
    """What was certified of a registration.

    `method` is "exact" (by theorem, checked by enumeration), "t" (by importance sampling, in
    `worlds` made of fresh values of the claim's own simulation, a seed each) or "deterministic".
    `refutes` and `supports` are the probabilities to do so wrongly, in the worst world, to be
    compared with `alpha`; `least` is that of refuting in the best. `stress` is that of refuting
    where one replicate in five times as many as the claim has is 20 standard deviations off: told
    and not promised. `undecided` is the share of bootstraps in which the last look does not end in
    the expected verdict. `code` is the fingerprint of the simulation, `evidence` a hash of the
    values that it gave; "" where an older certificate does not tell. `seal` is a hash of claim,
    tier and all else, so that a figure edited by hand shows.
    """

    registration: str
    method: Literal["exact", "t", "deterministic"]
    alpha: Probability
    refutes: Probability
    supports: Probability
    undecided: Probability
    worlds: int = 0
    least: Probability | None = None
    stress: float | None = None
    code: str = ""
    evidence: str = ""
    seal: str = ""

    @property
    def holds(self) -> bool:
        """Whether neither error is more probable than alpha says."""
        return max(self.refutes, self.supports) <= self.alpha

    def sealed(self, claim: str, tier: str) -> Certificate:
        """The same with the seal that it has to have."""
        plain = msgspec.json.encode(replace(self, seal=""))
        digest = hashlib.sha256(f"{claim}\0{tier}\0".encode() + plain).hexdigest()[:16]
        return replace(self, seal=digest)


class Certificates(Struct, kw_only=True):
    """The certificates of a suite, by the id of the claim."""

    tier: str = ""
    claims: dict[str, Certificate] = {}

    def of(self, claim: str, tier: str, registration: str) -> Certificate | None:
        """The certificate of a claim as it is registered in a tier; None without a sealed one."""
        found = self.claims.get(claim)
        if found is None or (self.tier, found.registration) != (tier, registration):
            return None
        return found if found == found.sealed(claim, tier) else None


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
