"""The corners of a regime, where a formula fails first.

A corner is where two sizes, or ratios of sizes, are at their ends together, as far as the regime
goes: the fewest dimensions with the most samples, say, or the most samples a dimension with the
narrowest layer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from random import Random

from recall_claims.model.cell import Cell
from recall_claims.model.regime import Regime

DRAWN = 256
"""Points that are drawn, besides the ends of all ranges, to climb from."""
STRIDES = (1, 4)
"""Steps of a range that one or two sizes are moved by in a climb, besides going to its ends."""
Place = tuple[int, ...]
"""A point: which step of its range each size is at."""


def corners(regime: Regime, reachable: Callable[[Cell], bool], random: Random) -> Iterator[Cell]:
    """The corners of the reachable part of a regime, for each kind of cell.

    Sizes are parameters whose values are positive numbers; all others tell kinds of cells apart.
    Where ends leave other sizes open, these are at the first values of their ranges. Corners are
    found by climbing on the steps of the ranges, so that one or the other may be missed.
    """
    steps = {name: values.steps for name, values in regime.ranges.items()}
    sizes = [n for n, s in steps.items() if len(s) > 1 and all(map(_is_size, s))]
    others = [name for name in steps if name not in sizes]
    kinds = list(itertools.product(*(steps[name] for name in others)))
    random.shuffle(kinds)
    for kind in kinds:

        def cell(place: Place, kind: Sequence[int | float | str | bool] = kind) -> Cell:
            at = dict(zip(others, kind, strict=True))
            at |= {name: steps[name][i] for name, i in zip(sizes, place, strict=True)}
            return Cell(**{name: at[name] for name in steps})

        ranges = [[math.log(value) for value in steps[name]] for name in sizes]
        found = _vertices(ranges, lambda place, c=cell: _lies(regime, c(place), reachable), random)
        yield from map(cell, found)


def _is_size(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _lies(regime: Regime, cell: Cell, reachable: Callable[[Cell], bool]) -> bool:
    try:
        return regime.admits(cell) and reachable(cell)
    except (ArithmeticError, ValueError):  # of a theory that gives no number there
        return False


def directions(count: int) -> list[Place]:
    """Signed sums of any two of so many sizes' logarithms and their differences."""
    units = [tuple(int(i == j) for j in range(count)) for i in range(count)]
    ratios = [_sum(a, b, -1) for a, b in itertools.combinations(units, 2)]
    ends = [*units, *ratios]
    pairs = [_sum(a, b, sign) for a, b in itertools.combinations(ends, 2) for sign in (1, -1)]
    both = (tuple(sign * n for n in one) for one in (*ends, *pairs) for sign in (1, -1))
    reduced = (tuple(n // (math.gcd(*one) or 1) for n in one) for one in both)
    return [one for one in dict.fromkeys(reduced) if any(one)]


def _sum(a: Place, b: Place, sign: int) -> Place:
    return tuple(x + sign * y for x, y in zip(a, b, strict=True))


def _vertices(
    ranges: Sequence[Sequence[float]], lies: Callable[[Place], bool], random: Random
) -> Iterator[Place]:
    """The places that are furthest in some direction, of those that lie in a regime."""
    known: dict[Place, bool] = {}

    def inside(place: Place) -> bool:
        if place not in known:
            known[place] = lies(place)
        return known[place]

    lengths = [len(steps) for steps in ranges]
    moves = _moves(lengths)
    drawn = [tuple(random.randrange(n) for n in lengths) for _ in range(DRAWN)]
    ends = itertools.product(*((0, n - 1) for n in lengths))
    begin = [place for place in dict.fromkeys((*ends, *drawn)) if inside(place)]
    given: set[Place] = set()
    for direction in directions(len(ranges)) if begin else ():

        def far(place: Place, along: Place = direction) -> tuple[float, int]:
            total = sum(a * ranges[i][place[i]] for i, a in enumerate(along))
            return round(total, 9), -sum(place)

        best = max(begin, key=far)
        while True:
            tried = (move(best) for move in moves)
            higher = sorted((p for p in tried if far(p) > far(best)), key=far, reverse=True)
            step = next(filter(inside, higher), None)
            if step is None:
                break
            best = step
        begin.append(best)
        if best not in given:
            given.add(best)
            yield best


def _moves(lengths: Sequence[int]) -> list[Callable[[Place], Place]]:
    """Ways from a place to another: one size, or two, by a few steps or to an end."""
    by = [sign * n for n in (*STRIDES, max(lengths, default=1)) for sign in (1, -1)]
    sizes = range(len(lengths))
    single = [{i: n} for i in sizes for n in by]
    double = [{i: n, j: m} for i, j in itertools.combinations(sizes, 2) for n in by for m in by]

    def moved(place: Place, change: dict[int, int]) -> Place:
        at = (min(max(p + change.get(i, 0), 0), lengths[i] - 1) for i, p in enumerate(place))
        return tuple(at)

    return [lambda place, change=change: moved(place, change) for change in (*single, *double)]
