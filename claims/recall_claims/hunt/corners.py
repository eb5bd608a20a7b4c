"""The corners of a regime, where a formula fails first.

At a corner two sizes, or ratios of sizes, are as small or as large as the regime allows. Examples
are the fewest dimensions with the most samples, or the most samples per dimension with the
narrowest layer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import TypeGuard

from recall_claims.model.cell import Cell, Scalar
from recall_claims.model.regime import Regime

DRAWN = 256
"""Number of random starting points of climbs, in addition to the ends of all ranges."""
STRIDES = (1, 4)
"""Number of steps of a range by which a climb moves a size; it also jumps to the range's ends."""
Place = tuple[int, ...]
"""A point: the index of each size among the steps of its range."""


def corners(regime: Regime, reachable: Callable[[Cell], bool], random: Random) -> Iterator[Cell]:
    """Yield the corners of the reachable part of a regime, for each kind of cell.

    Sizes are parameters whose values are positive numbers; other parameters separate kinds of
    cells. Sizes that a corner leaves open take the first values of their ranges. The search climbs
    on the steps of the ranges, so it may miss some corners.
    """
    steps = {name: values.steps for name, values in regime.ranges.items()}
    sizes = {
        n: list(map(float, s)) for n, s in steps.items() if len(s) > 1 and all(map(is_size, s))
    }
    logs = [[math.log(value) for value in values] for values in sizes.values()]
    others = [name for name in steps if name not in sizes]
    kinds = list(itertools.product(*(steps[name] for name in others)))
    random.shuffle(kinds)
    for kind in kinds:
        rest = dict(zip(others, kind, strict=True))

        def cell(place: Place, rest: Mapping[str, Scalar] = rest) -> Cell:
            at = {name: steps[name][i] for name, i in zip(sizes, place, strict=True)}
            return Cell(**{name: at[name] if name in at else rest[name] for name in steps})

        def lies(place: Place, cell: Callable[[Place], Cell] = cell) -> bool:
            try:
                return regime.admits(cell(place)) and reachable(cell(place))
            except (ArithmeticError, ValueError):  # the theory gives no number there
                return False

        yield from map(cell, _vertices(logs, lies, random))


def is_size(value: object) -> TypeGuard[float]:
    """Whether a value is a positive number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def directions(count: int) -> list[Place]:
    """Return the directions of climbs: log sizes, log ratios, and sums or differences of any two.

    A direction is a tuple of `count` coefficients of log sizes; its opposite is also returned.
    """
    units = _units(count)
    ratios = [_sum(a, b, -1) for a, b in itertools.combinations(units, 2)]
    ends = [*units, *ratios]
    pairs = [_sum(a, b, sign) for a, b in itertools.combinations(ends, 2) for sign in (1, -1)]
    both = (tuple(sign * n for n in one) for one in (*ends, *pairs) for sign in (1, -1))
    reduced = (tuple(n // (math.gcd(*one) or 1) for n in one) for one in both)
    return [one for one in dict.fromkeys(reduced) if any(one)]


def _units(count: int) -> list[Place]:
    return [tuple(int(i == j) for j in range(count)) for i in range(count)]


def _sum(a: Place, b: Place, sign: int) -> Place:
    return tuple(x + sign * y for x, y in zip(a, b, strict=True))


def _vertices(
    ranges: Sequence[Sequence[float]], lies: Callable[[Place], bool], random: Random
) -> Iterator[Place]:
    """Yield the points of a regime that are furthest in some direction."""
    known: dict[Place, bool] = {}

    def inside(place: Place) -> bool:
        if place not in known:
            known[place] = lies(place)
        return known[place]

    lengths = [len(steps) for steps in ranges]
    moves = _moves(lengths)
    drawn = [tuple(random.randrange(n) for n in lengths) for _ in range(DRAWN)]
    ends = itertools.product(*((0, n - 1) for n in lengths))
    seen = [place for place in dict.fromkeys((*ends, *drawn)) if inside(place)]
    given: set[Place] = set()
    for direction in directions(len(ranges)) if seen else ():

        def far(place: Place, direction: Place = direction) -> tuple[float, int]:
            along = sum(a * logs[i] for a, logs, i in zip(direction, ranges, place, strict=True))
            return round(along, 9), -sum(place)

        best: Place | None = max(seen, key=far)
        while best is not None:
            seen.append(last := best)
            tried = {_moved(last, move, lengths) for move in moves}
            further = sorted((p for p in tried if far(p) > far(last)), key=far, reverse=True)
            best = next(filter(inside, further), None)
        if last not in given:
            given.add(last)
            yield last


def _moves(lengths: Sequence[int]) -> list[Place]:
    """Return the moves of a climb: one size, or two, by a few steps or to an end."""
    by = [sign * n for n in (*STRIDES, max(lengths, default=1)) for sign in (1, -1)]
    units = _units(len(lengths))
    single = [tuple(n * u for u in unit) for unit in units for n in by]
    return [*single, *(_sum(a, b, 1) for a, b in itertools.combinations(single, 2))]


def _moved(place: Place, move: Place, lengths: Sequence[int]) -> Place:
    each = zip(place, move, lengths, strict=True)
    return tuple(min(max(at + by, 0), length - 1) for at, by, length in each)
