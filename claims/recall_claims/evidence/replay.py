"""Check that replicates are independent, and the same when drawn again.

A rule assumes that each replicate depends only on its own generator; without this, its error
probabilities do not hold. A function breaks the assumption if it draws a bias from `block.rngs[0]`
for all replicates, divides by the mean of its block, reads `np.random`, or remembers an earlier
call. So we simulate pairs of replicates again, from the first block in a claim's cheapest cell. If
workers are other processes, we simulate one pair in the judging process too.

A batch of another size rounds differently, and rounding may decide a tie in another way. So if a
replicate differs, we simulate it twice more, in blocks of the same size where all other replicates
have new draws. There, any difference beyond rounding is a fault. After the last look we compare
blocks in every cell: blocks whose replicates share something differ too much.

Faults may remain: nobody sees a rare event that no replicate shows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from scipy import special, stats

from recall_claims.declare.claim import Claim
from recall_claims.judge.methods import Array, Deterministic, Student, heaviest
from recall_claims.judge.rules import Identity, Sample
from recall_claims.model.cell import Cell

TOLERANCE = {"float64": 1e-8, "float32": 1e-3}
"""Rounding tolerance, as a share of the largest figure. Rounding depends on the size of a batch,
and later steps enlarge the error. If replicates share draws, figures differ by more."""
TRIED = 10
"""Largest number of pairs to simulate again; if replicates share a random sign, half the
pairs show it."""
LEAST = 2
"""Least number of pairs to simulate again; a replicate that differs is tried in as many batches."""
CHEAP = 0.2
"""Processor seconds for further pairs, or a tenth of their block's time if that is more."""

Figures = Mapping[str, Array]
Draw = Callable[[Sequence[int]], Figures | None]
"""Function that simulates the replicates of these indices together; None if memory is too small.

An index beyond the block means a stranger: a replicate with other draws.
"""
OWN = "let every replicate draw from its own generator in block.rngs, and from nothing else"


def cheapest(cells: Sequence[Cell]) -> Cell:
    """Return the cell with the smallest product of sizes."""

    def size(cell: Cell) -> float:
        return math.prod(max(1.0, abs(v)) for v in cell.values() if isinstance(v, int | float))

    return min(cells, key=size)


def fault(claim: Claim, block: Figures, seconds: float, draw: Draw) -> str | None:
    """Return why a verdict cannot use a block's replicates; None if it can.

    Args:
        seconds: processor time that the block took.
        draw: simulates some of the block's replicates again.
    """
    count = next(iter(block.values())).size
    until = time.process_time() + max(CHEAP, seconds / 10)
    for number, pair in enumerate(pairs(count)):
        if number >= LEAST and time.process_time() > until:
            break
        suspects = differing(claim, block, pair, draw(pair))
        sets = range(number * LEAST, (number + 1) * LEAST) if suspects else ()
        tried = (among_strangers(suspects[0], count, each) for each in sets)
        if not any(differing(claim, block, places, draw(places)) for places in tried):
            continue
        if differing(claim, block, range(count), draw(range(count))):
            return (
                "simulated twice from the same generators, it has other figures: it reads global "
                f"randomness or a clock, or keeps what an earlier call has made; {OWN}"
            )
        return (
            "a replicate has other figures in another order or batch: it shares draws with others, "
            f"or depends on their figures; {OWN}"
        )
    without = isinstance(claim.rule.method, Deterministic) and not isinstance(claim.rule, Identity)
    if without and any(np.ptp(values) > _slack(claim, block) for values in block.values()):
        return "its figures vary, and method=Deterministic() is for a simulation without chance"
    return None


def pairs(count: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of a block's indices, the middle and later ones first.

    Index 0 is left out, because a faulty function may use its draws for all replicates.

    >>> list(pairs(4))
    [(3, 1), (1, 2), (2, 3)]
    """
    for number in range(min(TRIED, count - 1)):
        place = count // 2 + number * max(1, count // TRIED)
        yield 1 + place % (count - 1), 1 + (place + count // 3) % (count - 1)


def among_strangers(index: int, count: int, number: int) -> list[int]:
    """Return a block's indices in reverse order; strangers replace all but `index`.

    `number` selects the strangers.

    >>> among_strangers(1, 4, 0)
    [7, 6, 1, 5]
    """
    others = [place + (number + 1) * count for place in range(1, count)]
    return [*others[:index], index, *others[index:]][::-1]


def differing(
    claim: Claim, block: Figures, indices: Sequence[int], found: Figures | None
) -> list[int]:
    """Return the indices whose figures in the block differ from `found`, simulated again.

    Rounding and an identity's tolerance do not count. The list is empty if memory was too small, so
    that `found` is None.
    """
    count = next(iter(block.values())).size
    own = [(n, index) for n, index in enumerate(indices) if index < count]
    if found is None:
        return []
    if found.keys() != block.keys() or any(len(v) != len(indices) for v in found.values()):
        return [index for _, index in own]
    slack = _slack(claim, block)
    return [
        index
        for n, index in own
        if any(abs(values[n] - block[name][index]) > slack for name, values in found.items())
    ]


def _slack(claim: Claim, block: Figures) -> float:
    largest = max(float(np.abs(values).max()) for values in block.values())
    return max(TOLERANCE[claim.dtype] * largest, getattr(claim.rule, "tolerance", 0.0))


def alike(claim: Claim, evidence: Sequence[Sample], size: int, level: float) -> str | None:
    """Return a complaint if replicates of a block have more in common than independent ones.

    If replicates are independent, all orders of a cell's values are equally probable. Then the
    numbers of values above the mean, block by block, are draws without replacement. We bet that
    they vary more (by a beta-binomial law), and win 1/level times our stake with probability at
    most the level. If two independent blocks have the same values, these are in the same order with
    probability prod(m!) / size!, where m counts how often each value occurs. Both tests are exact.

    Args:
        evidence: evidence of one look.
        size: replicates per block.
        level: largest probability of a complaint about independent replicates.
    """
    observed = [(s.cell.id, n, v) for s in evidence for n, v in s.observations.items() if v.size]
    for cell, name, values in () if isinstance(claim.rule.method, Deterministic) else observed:
        blocks, needed = values.reshape(-1, size), math.log(2 * len(observed) / level)
        wealth = _log_wealth((blocks > values.mean()).sum(axis=1), size)
        if wealth >= needed:
            return (
                f"blocks of {cell} differ by more than independent replicates can, in how many "
                f"values of {name!r} are above the mean: they share something; {OWN}"
            )
        if len({block.tobytes() for block in blocks}) < len(blocks):
            seen, times = np.unique(blocks, axis=0, return_counts=True)
            each = np.unique(seen[times.argmax()], return_counts=True)[1]
            chance = special.gammaln(each + 1).sum() - special.gammaln(size + 1)
            if chance + 2 * math.log(len(blocks)) <= -needed:
                return f"two blocks of {cell} have the same values of {name!r} in one order; {OWN}"
    return None


def part(look: int) -> float:
    """Return the share of a level for `alike` to use if this look is the last.

    Any look may be the last. The number of looks is not fixed: a cell may skip some.

    >>> sum(map(part, range(1, 1000))) <= 1
    True
    """
    return 1 / (look * (look + 1))


def _log_wealth(ones: Array, size: int) -> float:
    """Return the log wealth of bets that counts of ones vary more than draws without
    replacement do."""
    share = ones.mean() / size
    excess = ((ones - size * share) ** 2).mean()
    if excess <= size * share * (1 - share) or ones.size < 2:  # nothing to win
        return -math.inf
    left = np.cumsum(ones[::-1])[::-1]
    rest = size * np.arange(ones.size, 0, -1)
    without = stats.hypergeom.logpmf(ones, rest, left, size)
    spread = np.array([[1.0], [10.0], [100.0]])
    more = stats.betabinom.logpmf(ones, size, spread * share, spread * (1 - share))
    return float(special.logsumexp((more - without)[:, :-1].sum(axis=1)) - math.log(3))


def constant(claim: Claim, evidence: Sequence[Sample]) -> str | None:
    """Return a complaint if t intervals judge values that vary in no cell at the first look."""
    observed = [values for sample in evidence for values in sample.observations.values()]
    if not isinstance(claim.rule.method, Student) or any(np.ptp(values) for values in observed):
        return None
    return (
        f"all values of a cell are equal at the first look, such as {observed[0][0]:g}: a t "
        "interval needs values that vary. Fix the simulation, take more replicates if the event "
        "is rare, or say method=Betting(low, high) or method=Deterministic()"
    )


def heavy(claim: Claim, evidence: Sequence[Sample]) -> str:
    """Return a complaint if one value has too much of the spread for a t interval, or else ""."""
    for sample in evidence if isinstance(claim.rule.method, Student) else ():
        for name, values in sample.observations.items():
            squares = (values - values.mean()) ** 2
            if squares.max() > heaviest(values.size) * squares.sum():
                share = squares.max() / squares.sum()
                return (
                    f"one of the {values.size} values of {name!r} at {sample.cell.id} makes "
                    f"{share:.0%} of their sum of squared deviations, too much for a t interval: "
                    "declare a range (method=Betting), take a median (Quantile), or take logarithms"
                )
    return ""
