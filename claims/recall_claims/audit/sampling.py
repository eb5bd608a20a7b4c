"""Which blocks an audit draws again, and what it has shown when it stops.

First one block of every claim is drawn, so that a claim that is wholly invented is found, however
costly or small it is. Then blocks of all claims are drawn at the same rate. Within a claim all
orders are equally probable; what a bundle says of costs does not change them.

Let d_c be the share of wrong blocks of claim c, and n_c how many of its M_c were drawn. None of
these is wrong with probability at most prod (1 - d_c)^n_c. If n_c >= f M_c for all c, that is at
most (1 - d)^(f M), by the inequality of the means, with d the share of all M blocks. So with f the
least n_c / M_c, d exceeds 1 - 0.01^(1/(f M)) with confidence below 1%. Where every claim counts the
same, C min n_c stands in place of f M, or the number of claims seen while some were not (by
Maclaurin's inequality). What holds for the first blocks of an order fixed beforehand also holds for
those drawn when the time is up, however long they took: the bound falls with each block, and can
only err if it errs at the one fixed length at which it first falls below the truth.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import hypergeom

CONFIDENCE = 0.99

Unit = tuple[str, str, int]
"""A block: claim, cell, number."""


def order(blocks: Mapping[str, Sequence[tuple[str, int]]], seed: int) -> list[Unit]:
    """All blocks in the order in which they are to be drawn again.

    Args:
        blocks: cell and number of each claim's.
        seed: of the order; one that whoever made the bundle cannot have known.
    """
    rng = np.random.default_rng(seed)
    placed = [
        (turn / len(own), rng.random(), (name, *own[index]))
        for name, own in sorted(blocks.items())
        for turn, index in enumerate(rng.permutation(len(own)).tolist())
    ]
    return [unit for _, _, unit in sorted(placed)]


def share_at_most(
    blocks: Mapping[str, Sequence[tuple[str, int]]], drawn: Sequence[Unit]
) -> tuple[float, float]:
    """The shares of wrong blocks that these excluded, none of them wrong, at the confidence.

    Returns:
        Of all blocks, and of all claims' blocks if every claim counts the same.
    """
    seen = Counter(name for name, _, _ in drawn)
    rates = [seen[name] / len(own) for name, own in blocks.items()]
    if not rates or min(rates) == 1:
        return 0.0, 0.0
    total = sum(map(len, blocks.values()))
    least = min(seen[name] for name in blocks)
    return _bound(min(rates) * total), _bound(least * len(blocks) if least else len(seen))


def _bound(draws: float) -> float:
    """Clopper and Pearson's upper bound after so many draws, none wrong."""
    return 1 - (1 - CONFIDENCE) ** (1 / draws) if draws else 1.0


def wrong_at_most(blocks: int, drawn: int) -> int:
    """How many of a claim's blocks may be wrong if none of those drawn is, at the confidence.

    >>> wrong_at_most(100, 0), wrong_at_most(100, 50), wrong_at_most(100, 100)
    (100, 6, 0)
    """
    possible = np.arange(blocks - drawn + 1)
    none = hypergeom.sf(-1, blocks, possible, drawn) - hypergeom.sf(0, blocks, possible, drawn)
    return int(possible[none > 1 - CONFIDENCE + math.ulp(1.0)].max(initial=0))
