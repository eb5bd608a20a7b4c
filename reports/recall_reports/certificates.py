"""How often a claim's rule refutes wrongly, certified claim by claim.

A certificate speaks of one registration: of a declaration and its predictions in a tier. It is
computed once for all runs (`python -m tests.calibration --claims`) and kept as data.
"""

from functools import cache
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

from recall_reports.record import Probability


class Certificate(Struct, kw_only=True):
    """What was certified of a registration.

    `method` is "exact" (by enumeration or theorem), "t" (by importance sampling, in a world made
    of the claim's own evidence) or "deterministic"; `miss` the probability to refute wrongly,
    `power` that to decide by the last look.
    """

    registration: str
    method: Literal["exact", "t", "deterministic"]
    miss: Probability
    power: Probability


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
    return found.miss


@cache
def certificates() -> Certificates:
    """The committed file."""
    file = resources.files("recall_reports").joinpath("certificates.json")
    return msgspec.json.decode(file.read_bytes(), type=Certificates)
