"""How often a claim's rule refutes wrongly, certified claim by claim.

A certificate speaks of one registration: of a declaration and its predictions in a tier. It is
computed once for all runs (`python -m tests.calibration`) and kept as data.
"""

from functools import cache
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

from recall_reports.record import Probability


class Certificate(Struct, kw_only=True):
    """What was certified of a registration.

    `method` is "exact" (by theorem, checked by enumeration), "t" (by importance sampling, in a
    world made of the claim's own evidence) or "deterministic". `refutes` and `supports` are the
    probabilities to do so wrongly, to be compared with `alpha`; `undecided` is the share of
    bootstrapped worlds in which the last look does not end in the expected verdict.
    """

    registration: str
    method: Literal["exact", "t", "deterministic"]
    alpha: Probability
    refutes: Probability
    supports: Probability
    undecided: Probability


class Certificates(Struct, kw_only=True):
    """The committed certificates, by the id of the claim."""

    tier: str
    claims: dict[str, Certificate]


def miss(claim: str, tier: str, registration: str) -> float | None:
    """The certified probability to refute a claim wrongly; None without a certificate of this."""
    committed = certificates()
    found = committed.claims.get(claim)
    if found is None or (committed.tier, found.registration) != (tier, registration):
        return None
    return found.refutes


@cache
def certificates() -> Certificates:
    """The committed file."""
    file = resources.files("recall_reports").joinpath("certificates.json")
    return msgspec.json.decode(file.read_bytes(), type=Certificates)
