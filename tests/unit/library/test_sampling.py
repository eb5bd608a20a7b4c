"""Sampling of blocks by a check, compared with counts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from scipy.stats import binom

from recall_claims.check.drawing import CONFIDENCE, order, share_at_most

SIZES = {"a": 1, "b": 2, "c": 5, "d": 12, "e": 40, **{f"small {n}": 1 for n in range(8)}}
TOTAL = sum(SIZES.values())


def test_a_claim_is_seen_before_another_is_seen_twice_then_all_at_one_rate() -> None:
    for seed in range(20):
        plan = order(SIZES, seed)
        assert sorted(plan) == sorted((n, at) for n, size in SIZES.items() for at in range(size))
        assert {name for name, _ in plan[: len(SIZES)]} == SIZES.keys()
        for drawn in (15, 30, 45):
            seen = Counter(name for name, _ in plan[:drawn])
            rates = [seen[name] / size for name, size in SIZES.items()]
            assert all(seen[name] - 1 <= min(rates) * size + 1 for name, size in SIZES.items())
    firsts = Counter(order({"e": 40}, seed)[0][1] for seed in range(4000))
    assert all(50 < firsts[n] < 160 for n in range(40)), firsts


WRONG = {
    "one block of the largest": {("e", 3)},
    "all of one claim": {("c", n) for n in range(5)},
    "a twentieth of all": {("e", 0), ("e", 1), ("d", 0)},
    "a third of all": {("e", n) for n in range(20)},
    "half of two claims": {*(("c", n) for n in range(3)), *(("d", n) for n in range(6))},
}


@pytest.mark.parametrize("kind", WRONG)
def test_the_bounds_are_wrong_in_at_most_one_of_a_hundred_samples(kind: str) -> None:
    """A reader who stops at the worst moment, just before the first wrong block, is covered too."""
    wrong, samples, missed, missed_by_claim = WRONG[kind], 3000, 0, 0
    share = len(wrong) / TOTAL
    each = Counter(name for name, _ in wrong)
    by_claim = sum(each[name] / size for name, size in SIZES.items()) / len(SIZES)
    for seed in range(samples):
        plan = order(SIZES, seed)
        first = next(i for i, unit in enumerate(plan) if unit in wrong)
        of_blocks, of_claims = share_at_most(SIZES, plan[:first])
        missed += of_blocks < share
        missed_by_claim += of_claims < by_claim
    most = binom.ppf(1 - 1e-6, samples, 1 - CONFIDENCE)
    assert missed <= most
    assert missed_by_claim <= most


def test_the_bounds_fall_with_each_block_and_end_at_nothing() -> None:
    plan = order(SIZES, 3)
    bounds = [share_at_most(SIZES, plan[:n]) for n in range(TOTAL + 1)]
    assert bounds[0] == (1.0, 1.0)
    assert bounds[-1] == (0.0, 0.0)
    for earlier, later in pairwise(bounds):
        assert later[0] <= earlier[0]
        assert later[1] <= earlier[1]
