"""Search one claim's regime for a while: what a worker process does.

Hypothesis draws points, keeps those that come closest to a violation, and varies them; once one is
found it shrinks it, parameter by parameter, towards the first values of its ranges.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from hypothesis import Phase, find, reject, settings, target
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.errors import NoSuchExample, Unsatisfiable

from recall_claims.declare.cell import Cell
from recall_claims.declare.claim import Claim
from recall_claims.declare.regime import Regime
from recall_claims.declare.registration import registration
from recall_claims.evidence import simulate
from recall_claims.hunt.probe import TIER, Probe, alone, probe
from recall_claims.judge.region import Verdict

Example = tuple[bytes, bytes]


@dataclass(frozen=True)
class Hunt:
    """What a worker is asked to search.

    Attributes:
        module: of the claim's file.
        claim: its id.
        seed: of the evidence.
        device: where it is simulated.
        seconds: to search for.
        turn: how often this claim was searched before; every turn draws other points.
        examples: of earlier turns, as Hypothesis keeps them.
        known: earlier probes, by key.
    """

    module: str
    claim: str
    seed: int
    device: str
    seconds: float
    turn: int = 0
    examples: tuple[Example, ...] = ()
    known: Mapping[str, Probe] = field(default_factory=dict)


@dataclass(frozen=True)
class Catch:
    """What a search brings home.

    Attributes:
        probes: of points that were not known.
        violation: the smallest point that is taken for a violation, if there is one.
        shrunk: whether no parameter of it can be one step simpler.
        exhausted: whether every point of the regime has been tried.
        refused: at how many points theory or simulation broke down, by what was said.
        examples: for the next turn.
    """

    probes: tuple[Probe, ...]
    violation: Probe | None
    shrunk: bool
    exhausted: bool
    refused: Mapping[str, int]
    examples: tuple[Example, ...]


class TimeIsUp(BaseException):
    """No exception of a test, so that Hypothesis passes it on."""


def search(hunt: Hunt) -> Catch:
    """Search until a violation is found and shrunk, the time is up, or no point is left."""
    claim, _ = simulate.find(hunt.module, hunt.claim)
    searched = _Search(claim, hunt)
    database = _database(hunt.examples)
    shrunk = exhausted = False
    try:
        find(
            points(searched.regime),
            searched.violates,
            settings=settings(
                max_examples=10**6,
                database=database,
                deadline=None,
                phases=(Phase.reuse, Phase.generate, Phase.target, Phase.shrink),
            ),
            random=Random(_named(hunt)),
            database_key=hunt.claim.encode(),
        )
        shrunk = True
    except (NoSuchExample, Unsatisfiable):
        exhausted = True
    except TimeIsUp:
        pass
    return Catch(
        tuple(searched.probes.values()),
        searched.violation,
        shrunk,
        exhausted,
        searched.refused,
        tuple((key, value) for key, values in database.data.items() for value in values),
    )


def points(regime: Regime) -> st.SearchStrategy[Cell]:
    """Cells of the ranges; each parameter shrinks to its first value."""
    drawn = {name: st.sampled_from(values.steps) for name, values in regime.ranges.items()}
    return st.fixed_dictionaries(drawn).map(lambda params: Cell(**params))


class _Search:
    def __init__(self, claim: Claim, hunt: Hunt) -> None:
        assert claim.domain is not None
        self.claim, self.hunt, self.regime = claim, hunt, claim.domain
        self.probes: dict[str, Probe] = {}
        self.refused: Counter[str] = Counter()
        self.violation: Probe | None = None
        self._end = time.monotonic() + hunt.seconds

    def violates(self, point: Cell) -> bool:
        """Whether a point is taken for a violation; Hypothesis asks."""
        if not self.regime.searchable(point):
            reject()
        found = self._probed(point)
        target(max(found.discrepancy, -1e6))
        if found.verdict is not Verdict.REFUTED:
            return False
        self.violation = found  # Hypothesis accepts only what is simpler than the last
        return True

    def _probed(self, point: Cell) -> Probe:
        try:
            key = registration(alone(self.claim, point), TIER)
            if key in self.hunt.known:
                return self.hunt.known[key]
            if key not in self.probes:
                if time.monotonic() > self._end:
                    raise TimeIsUp
                self.probes[key] = probe(
                    self.claim, point, seed=self.hunt.seed, device=self.hunt.device
                )
        except Exception as error:  # of theory or simulation: the search goes on elsewhere
            self.refused[f"{type(error).__name__}: {error}"] += 1
            reject()
        return self.probes[key]


def _named(hunt: Hunt) -> int:
    text = f"hunt\0{hunt.seed}\0{hunt.claim}\0{hunt.turn}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _database(examples: tuple[Example, ...]) -> InMemoryExampleDatabase:
    database = InMemoryExampleDatabase()
    for key, value in examples:
        database.save(key, value)
    return database
