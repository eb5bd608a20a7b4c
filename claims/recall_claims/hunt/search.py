"""Search one claim's regime for some seconds, in a worker process.

A search tries every point of a small regime. In a large regime it first tries the corners. Then it
alternates between random points and neighbours of the best points of all turns. A violation is
shrunk, parameter by parameter, towards the first values of the ranges.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from recall_claims.declare.claim import Claim
from recall_claims.declare.registration import registration
from recall_claims.evidence import simulate
from recall_claims.evidence.hunt_tables import Probe
from recall_claims.hunt.corners import corners
from recall_claims.hunt.probe import SECONDS, TIER, alone, probe
from recall_claims.model.cell import Cell
from recall_claims.model.region import Verdict

DRAWN, TRIES = 10, 200
"""New points to draw at a time, and largest number of draws for them: many miss the regime."""
BEST, NEIGHBOURS = 8, 20
"""Number of best points, over all turns, to climb from, and number of their neighbours to try after
each round of random points."""
PATIENCE = 1.0
"""Seconds for each of a claim's first probes, doubled every five turns up to SECONDS: cheap points
come first. Probes that shrink a violation, or repeat a probe with little evidence, have SECONDS."""
SMALL = 512
"""All points of a regime are tried if it has at most this many."""


@dataclass(frozen=True)
class Turn:
    """Turn of a worker: a claim to search, and for how many seconds.

    Attributes:
        number: number of the claim's earlier turns in this hunt.
        known: earlier probes, by key. Their number and the turn's number select the random stream,
            so every turn draws other points.
        cornered: whether earlier turns have tried all corners.
    """

    module: str
    claim: str
    seed: int
    device: str
    seconds: float
    number: int = 0
    known: Mapping[str, Probe] = field(default_factory=dict)
    cornered: bool = False


@dataclass(frozen=True)
class Catch:
    """Results of a turn: probes, perhaps a violation, and which parts were exhausted.

    Attributes:
        probes: this turn's probes; some repeat earlier probes that had less time.
        violation: the smallest point taken for a violation, if there is one.
        shrunk: whether no parameter of the violation can be one step simpler.
        exhausted: whether every point of the regime has been tried.
        cornered: whether every corner has been tried.
        refused: number of points at which theory or simulation failed, by error message.
    """

    probes: tuple[Probe, ...]
    violation: Probe | None
    shrunk: bool
    exhausted: bool
    cornered: bool
    refused: Mapping[str, int]


class TimeIsUp(BaseException):
    """The turn's time is up; unlike an author's error, this ends the whole search."""


def search(turn: Turn) -> Catch:
    """Search until a violation is found and shrunk, the time is up, or no point is left."""
    claim, _ = simulate.find(turn.module, turn.claim)
    searched = _Search(claim, turn)
    stream = f"hunt\0{turn.seed}\0{turn.claim}\0{len(turn.known)}\0{turn.number}"
    digest = hashlib.sha256(stream.encode()).digest()
    random = Random(int.from_bytes(digest[:8], "little"))
    shrunk = exhausted = False
    cornered = turn.cornered
    try:
        if searched.violation is not None:
            pass  # an earlier turn found it: only shrink it
        elif math.prod(len(values.steps) for values in searched.regime.ranges.values()) <= SMALL:
            exhausted = not searched.everywhere(random)
        elif turn.cornered or not searched.corners(random):
            cornered = True
            while not (searched.draw(random) or searched.climb(random)):
                searched.leave_in_time()
        if not exhausted:
            searched.descend()
            shrunk = True
    except TimeIsUp:
        pass
    return Catch(
        tuple(searched.probes.values()),
        searched.violation,
        shrunk,
        exhausted,
        cornered,
        searched.refused,
    )


class _Search:
    def __init__(self, claim: Claim, turn: Turn) -> None:
        assert claim.regime is not None
        self.claim, self.turn, self.regime = claim, turn, claim.regime
        self.probes: dict[str, Probe] = {}
        self.refused: Counter[str] = Counter()
        refuted = [p for p in turn.known.values() if p.verdict is Verdict.REFUTED]
        self.violation = min(refuted, key=self._height, default=None)
        self._patience = min(SECONDS, PATIENCE * 2 ** (turn.number // 5))
        self._end = time.monotonic() + turn.seconds

    def _height(self, one: Probe) -> float:
        """Add up the parameters' distances from their first values, as shares of the ranges."""
        ranges = self.regime.ranges.items()
        return sum(values.steps.index(one.point[n]) / len(values.steps) for n, values in ranges)

    def everywhere(self, random: Random) -> bool:
        """Try every point, in random order; return whether a violation is found."""
        ranges = self.regime.ranges
        every = list(itertools.product(*(values.steps for values in ranges.values())))
        random.shuffle(every)
        return any(self._fails(Cell(**dict(zip(ranges, at, strict=True)))) for at in every)

    def corners(self, random: Random) -> bool:
        """Try the corners not tried yet; return whether a violation is found."""
        known = {Cell(**probe.point) for probe in self.turn.known.values()}
        found = corners(self.regime, lambda point: reachable(self.claim, point), random)
        return any(point not in known and self._fails(point) for point in found)

    def draw(self, random: Random) -> bool:
        """Try random points of the ranges; return whether a violation is found."""
        enough, ranges = len(self.probes) + DRAWN, self.regime.ranges.items()
        for _ in range(TRIES):
            if self._fails(Cell(**{name: random.choice(v.steps) for name, v in ranges})):
                return True
            if len(self.probes) >= enough:
                break
        return False

    def climb(self, random: Random) -> bool:
        """Try neighbours of the best points; return whether a violation is found.

        A best point with scarce evidence is first probed again: it may owe its place to luck.
        """
        ranges = self.regime.ranges
        for _ in range(NEIGHBOURS):
            every = {**self.turn.known, **self.probes}.values()
            unsettled = [p for p in every if p.verdict is Verdict.INCONCLUSIVE or p.discrepancy < 0]
            best = sorted(unsettled, key=lambda p: -p.discrepancy)[:BEST]
            if not best:
                return False
            chosen = random.choice(best)
            point = Cell(**chosen.point)
            scarce = chosen.discrepancy > 0 and chosen.seconds < SECONDS / 2
            again = scarce and chosen.patience < SECONDS
            if not again:
                count = random.choice((1, 1, 2))
                for name in random.sample(list(ranges), min(count, len(ranges))):
                    steps = ranges[name].steps
                    place = steps.index(point[name]) + random.choice((-4, -2, -1, 1, 2, 4))
                    point = point.replace(**{name: steps[min(max(place, 0), len(steps) - 1)]})
            if self._fails(point, thorough=again):
                return True
        return False

    def descend(self) -> None:
        """Shrink until no parameter of the violation can be one step simpler."""
        ranges = self.regime.ranges
        lower = True
        while lower:
            assert self.violation is not None
            at = Cell(**self.violation.point)
            places = {name: values.steps.index(at[name]) for name, values in ranges.items()}
            lower = any(
                self._fails(at.replace(**{name: ranges[name].steps[place]}), thorough=True)
                for name, now in places.items()
                for place in dict.fromkeys((0, now // 2, now - 1))
                if 0 <= place < now
            )

    def leave_in_time(self) -> None:
        """Raise TimeIsUp after the turn's end."""
        if time.monotonic() > self._end:
            raise TimeIsUp

    def _fails(self, point: Cell, *, thorough: bool = False) -> bool:
        found = self._probed(point, SECONDS if thorough else self._patience)
        if found is None or found.verdict is not Verdict.REFUTED:
            return False
        self.violation = found
        return True

    def _probed(self, point: Cell, patience: float) -> Probe | None:
        """Probe a point; None outside the regime, or if theory or simulation fails."""
        turn = self.turn
        try:
            if not reachable(self.claim, point):
                return None
            one = alone(self.claim, point)
            key = registration(one, TIER)
            known = self.probes.get(key, turn.known.get(key))
            # A probe that had less than the full patience may show more with it.
            more = known is None or known.patience < patience == SECONDS
            if known is not None and not (more and known.verdict is Verdict.INCONCLUSIVE):
                return known
            self.leave_in_time()
            found = probe(self.claim, point, seed=turn.seed, device=turn.device, patience=patience)
            self.probes[key] = found
        except Exception as error:  # the search goes on elsewhere
            self.refused[f"{type(error).__name__}: {error}"] += 1
            return None
        return found


def reachable(claim: Claim, point: Cell, *, cheap: bool = True) -> bool:
    """Whether the cells that judge a point lie in the regime, and are cheap enough.

    If the rule scans a parameter, only the point itself has to lie in the regime. Test sizes may
    lie outside, since the theorem predicts which size is critical.

    Raises:
        ClaimError, ValueError: as for `alone`.
    """
    assert claim.regime is not None
    scans = hasattr(claim.rule, "scan")
    cells = (point,) if scans else claim.rule.alone(point, claim.predict)
    inside = all(claim.regime.why_outside(cell) is None for cell in cells)
    return inside and not (cheap and any(map(claim.too_large, cells)))
