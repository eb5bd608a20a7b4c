"""Cheap evidence outside a theorem's regime: how far beyond its edge does the formula hold?

From points inside at which nothing was seen, one parameter at a time goes beyond its last value
inside: to 2, 4 and 8 times that or a half, a quarter and an eighth of it, and an option to another
that the regime leaves out there. It goes on until the formula fails. No verdict follows from it,
and nothing is confirmed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from recall_claims.declare.cell import Cell, Scalar
from recall_claims.declare.claim import Claim
from recall_claims.declare.regime import Regime, Values
from recall_claims.declare.registration import registration
from recall_claims.hunt.probe import TIER, Probe, alone, probe
from recall_claims.judge.region import Verdict

FACTORS = (2, 4, 8)
RAYS = 3
"""How often each way is gone, from other points of the regime."""
TRIES = 20
"""Points of the regime that are looked at for one from which a way can be gone."""


class Way(NamedTuple):
    """One parameter, up or down, or to an option."""

    parameter: str
    up: bool = True
    option: Scalar | None = None


@dataclass(frozen=True)
class Outside:
    """Cheap evidence at a point outside the regime.

    Attributes:
        probe: of the point; REFUTED where the formula is outside its region.
        parameter: the one that is beyond its edge.
        edge: its last value inside, the others as they are.
    """

    probe: Probe
    parameter: str
    edge: Scalar

    @property
    def place(self) -> tuple[str, str]:
        """The parameter, and the point."""
        return self.parameter, Cell(**self.probe.point).id

    @property
    def inside(self) -> Cell:
        """The point at the edge that it was reached from."""
        return Cell(**{**self.probe.point, self.parameter: self.edge})


def explore(
    claim: Claim,
    inside: Sequence[Probe],
    known: Sequence[Outside],
    *,
    seed: int,
    device: str,
    patience: float,
    random: Random,
    until: float,
) -> Iterator[Outside]:
    """Probe points outside the regime, all ways once before one is gone again.

    Where theory or simulation break down, the way is given up from there.

    Args:
        claim: with a regime.
        inside: probes of the regime.
        known: earlier ones outside.
        seed: of the evidence.
        device: where it is simulated.
        patience: of each probe, in seconds.
        random: picks points of the regime.
        until: when no probe begins any more, by `time.monotonic`.
    """
    assert claim.domain is not None
    regime = claim.domain
    found = {one.place: one for one in known}
    clean = [p for p in inside if p.verdict is Verdict.SUPPORTED or p.discrepancy <= 0]
    begun: dict[Way, list[Cell]] = {way: [] for way in _ways(regime)}
    for earlier in known:
        begun[_way(regime, earlier)].append(earlier.inside)
    ways = random.sample(list(begun), len(begun))
    for number in range(RAYS):
        for way in ways:
            bases = list(dict.fromkeys(begun[way]))
            more = number >= len(bases)
            base = _base(regime, way, clean, bases, random) if more else bases[number]
            if base is None:
                continue
            begun[way].append(base)
            for point in _ray(regime, base, way):
                one = found.get((way.parameter, point.id))
                if one is None:
                    if time.monotonic() > until:
                        return
                    try:
                        seen = probe(claim, point, seed=seed, device=device, patience=patience)
                    except Exception:  # of a formula or a simulation where nobody promised any
                        break
                    one = Outside(seen, way.parameter, base[way.parameter])
                    yield one
                if one.probe.verdict is Verdict.REFUTED:
                    break


def stands(claim: Claim, one: Outside) -> bool:
    """Whether the claim, as it is declared and predicted now, would be probed there."""
    assert claim.domain is not None
    point, regime = Cell(**one.probe.point), claim.domain
    try:
        way = _way(regime, one)
        return (
            point.keys() == regime.ranges.keys()
            and one.inside == _to_edge(regime, one.inside, way)
            and regime.draws(one.inside)
            and point in _ray(regime, one.inside, way)
            and registration(alone(claim, point), TIER) == one.probe.key
        )
    except Exception:  # of a formula or a condition that has changed
        return False


def _numbers(values: Values) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values.steps)


def _ways(regime: Regime) -> Iterator[Way]:
    for name, values in regime.ranges.items():
        if _numbers(values):
            yield from (Way(name, up=True), Way(name, up=False))
        else:
            yield from (Way(name, option=step) for step in values.steps)


def _way(regime: Regime, one: Outside) -> Way:
    value = one.probe.point[one.parameter]
    if not _numbers(regime.ranges[one.parameter]):
        return Way(one.parameter, option=value)
    return Way(one.parameter, up=value > one.edge)


def _base(
    regime: Regime, way: Way, clean: Sequence[Probe], begun: Sequence[Cell], random: Random
) -> Cell | None:
    """A point at the edge from which the way leads somewhere, and was not gone; None if none is."""
    for one in random.sample(clean, min(TRIES, len(clean))):
        try:
            base = _to_edge(regime, Cell(**one.point), way)
            if base not in begun and regime.draws(base) and _ray(regime, base, way):
                return base
        except Exception:  # a condition need not be defined beyond the regime
            continue
    return None


def _to_edge(regime: Regime, base: Cell, way: Way) -> Cell:
    """The last point of the regime on the way; an option has no other than where it starts."""
    if way.option is not None:
        return base
    name = way.parameter
    steps = sorted(regime.ranges[name].steps, reverse=not way.up)
    for step in steps[steps.index(base[name]) + 1 :]:
        ahead = base.replace(**{name: step})
        if not _holds(regime, ahead):
            break
        base = ahead
    return base


def _ray(regime: Regime, base: Cell, way: Way) -> list[Cell]:
    """The points outside, from the nearest on, as far as they may be simulated."""
    name, values = way.parameter, regime.ranges[way.parameter]
    if way.option is not None:
        there = base.replace(**{name: way.option})
        return [] if _holds(regime, there) or not _small(regime, there, name) else [there]
    edge, found = base.number(name), []
    whole = all(isinstance(step, int) for step in values.steps)
    for factor in FACTORS:
        value = edge * factor if way.up else edge / factor
        number = round(value) if whole else float(f"{value:.3g}")
        there = base.replace(**{name: number})
        if number <= 0 or not _small(regime, there, name):
            break
        if not (values.between or number in values):
            continue
        if there not in found and not (number in values and _holds(regime, there)):
            found.append(there)
    return found


def _holds(regime: Regime, point: Cell) -> bool:
    """Whether the condition holds; where it is not defined it does not."""
    try:
        return bool(regime.holds(point))
    except Exception:  # a condition need not be defined beyond the regime
        return False


def _small(regime: Regime, point: Cell, name: str) -> bool:
    """Whether it may be simulated; where no size is stated, numbers stay below their largest."""
    if regime.size is not None:
        return regime.size(point) <= regime.largest
    values = regime.ranges[name]
    return not _numbers(values) or point[name] <= max(values.steps)
