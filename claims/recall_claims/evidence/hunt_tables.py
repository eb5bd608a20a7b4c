"""The tables of a ledger that hunts fill: probes and confirmations.

Confirmations are counted over all claims and runs of a ledger: the j-th has the error probability
1e-3 * 6 / (pi^2 j^2), and these add up to 1e-3. A violation by Student's t is confirmed twice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from recall_claims.evidence.ledger import Ledger
from recall_claims.model.cell import Scalar
from recall_claims.model.errors import LedgerError
from recall_claims.model.region import Verdict

BUDGET = 1e-3


def alpha_of(number: int) -> float:
    """Return the error probability of the confirmation with this number, counted from 1.

    >>> math.isclose(sum(alpha_of(j) for j in range(1, 100_000)), 1e-3, rel_tol=1e-4)
    True
    """
    return BUDGET * 6 / (math.pi * number) ** 2


@dataclass(frozen=True)
class Probe:
    """Cheap evidence at a point.

    Attributes:
        point: the point's parameters.
        key: registration of the claim at this point, by its present declaration.
        discrepancy: distance of bounds at level `probe.DOUBT` from the region, in widths of the
            region; negative if bounds and region overlap. For a critical value, distance of a rate
            from its target, as a share of the target.
        verdict: REFUTED if the point is taken for a violation. For means, a probe uses t
            bounds, as bets need ten times the replicates; the confirmation uses bets.
        seconds: processor time that the probe took.
        patience: processor time that the probe was allowed; not kept.
    """

    point: dict[str, Any]
    key: str
    discrepancy: float
    verdict: Verdict
    seconds: float
    patience: float = 0.0


class HuntTables:
    """The part of a ledger that hunts write; `seed`: the seed of the probes."""

    def __init__(self, ledger: Ledger, seed: int) -> None:
        self._ledger, self._seed = ledger, str(seed)

    def probes(self, claim: str, code: str) -> dict[str, Probe]:
        """Return a claim's probes by key, if simulation code of this fingerprint made them."""
        rows = self._ledger.ask(
            "SELECT key, point, discrepancy, verdict, seconds FROM probes "
            "WHERE claim = ? AND seed = ? AND code = ?",
            (claim, self._seed, code),
        )
        decoded = msgspec.json.Decoder(dict[str, Scalar]).decode
        with self._readable():
            return {
                key: Probe(decoded(point), key, discrepancy, Verdict(verdict), seconds)
                for key, point, discrepancy, verdict, seconds in rows
            }

    def keep(self, claim: str, code: str, probe: Probe) -> None:
        """Keep a probe, which replaces an earlier one with the same key."""
        sql = "INSERT OR REPLACE INTO probes VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        found = (json.dumps(probe.point), probe.discrepancy, str(probe.verdict), probe.seconds)
        self._ledger.ask(sql, (claim, self._seed, code, probe.key, *found))

    def begin_confirmation(self, claim: str, probe: Probe) -> int:
        """Count a confirmation before its evidence is drawn; return its number."""
        sql = "INSERT INTO confirmations (claim, point, key) VALUES (?, ?, ?) RETURNING number"
        [(number,)] = self._ledger.ask(sql, (claim, json.dumps(probe.point), probe.key))
        return int(number)

    def end_confirmation(self, number: int, verdict: Verdict) -> None:
        """Keep the verdict of a confirmation."""
        sql = "UPDATE confirmations SET verdict = ? WHERE number = ?"
        self._ledger.ask(sql, (str(verdict), number))

    def confirmed(self, claim: str, keys: Collection[str]) -> dict[str, tuple[int, Verdict]]:
        """Return number and verdict of a claim's last finished confirmation of each key, if any."""
        rows = self._ledger.ask(
            "SELECT key, number, verdict FROM confirmations "
            "WHERE claim = ? AND verdict IS NOT NULL ORDER BY number",
            (claim,),
        )
        with self._readable():
            return {key: (number, Verdict(verdict)) for key, number, verdict in rows if key in keys}

    def judged_by(self, claim: str, key: str, code: str) -> bool:
        """Whether simulation code of this fingerprint drew evidence of a confirmation of a key."""
        sql = "SELECT 1 FROM blocks WHERE claim = ? AND code = ? AND registration LIKE ? LIMIT 1"
        return bool(self._ledger.ask(sql, (claim, code, f"hunt % {key}")))

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn an error from damaged rows into an error that names cause and remedy."""
        try:
            yield
        except ValueError as error:
            raise LedgerError(
                f"{self._ledger.path}: what a hunt left there is damaged ({error}); choose another "
                "file with --ledger, or leave out --hunt"
            ) from error
