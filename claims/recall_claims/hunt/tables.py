"""What hunts leave in the ledger: probes and confirmations.

Confirmations are counted over all claims and runs of a ledger: the j-th has the error probability
1e-3 * 6 / (pi^2 j^2), and these add up to 1e-3.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from recall_claims.declare.cell import Scalar
from recall_claims.errors import LedgerError
from recall_claims.evidence.ledger import Ledger
from recall_claims.hunt.probe import Probe
from recall_claims.judge.region import Verdict

BUDGET = 1e-3


def alpha_of(number: int) -> float:
    """Error probability of the confirmation of this number, from 1.

    >>> math.isclose(sum(alpha_of(j) for j in range(1, 100_000)), 1e-3, rel_tol=1e-4)
    True
    """
    return BUDGET * 6 / (math.pi * number) ** 2


class HuntTables:
    """The part of a ledger that hunts write; `seed` is that of the probes."""

    def __init__(self, ledger: Ledger, seed: int) -> None:
        self._ledger, self._seed = ledger, str(seed)

    def probes(self, claim: str, code: str) -> dict[str, Probe]:
        """Probes of a claim by key, made by simulation code of this fingerprint."""
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
        """Keep a probe, in place of an earlier one of the same key."""
        point, verdict = json.dumps(probe.point), str(probe.verdict)
        told = (point, probe.discrepancy, verdict, probe.seconds)
        sql = "INSERT OR REPLACE INTO probes VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        self._ledger.ask(sql, (claim, self._seed, code, probe.key, *told))

    def begin_confirmation(self, claim: str, probe: Probe) -> int:
        """Count a confirmation before its evidence is drawn; its number."""
        sql = "INSERT INTO confirmations (claim, point, key) VALUES (?, ?, ?) RETURNING number"
        [(number,)] = self._ledger.ask(sql, (claim, json.dumps(probe.point), probe.key))
        return int(number)

    def end_confirmation(self, number: int, verdict: Verdict) -> None:
        """Keep its verdict."""
        sql = "UPDATE confirmations SET verdict = ? WHERE number = ?"
        self._ledger.ask(sql, (str(verdict), number))

    def confirmed(self, claim: str, keys: Mapping[str, object]) -> dict[str, tuple[int, Verdict]]:
        """Number and verdict of the confirmations of a claim, by those of these keys it has."""
        rows = self._ledger.ask(
            "SELECT key, number, verdict FROM confirmations "
            "WHERE claim = ? AND verdict IS NOT NULL ORDER BY number",
            (claim,),
        )
        with self._readable():
            return {key: (number, Verdict(verdict)) for key, number, verdict in rows if key in keys}

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn what reading damaged rows raises into one error that names cause and remedy."""
        try:
            yield
        except ValueError as error:
            raise LedgerError(
                f"{self._ledger.path}: what a hunt left there is damaged ({error}); choose another "
                "file with --ledger, or leave out --hunt"
            ) from error
