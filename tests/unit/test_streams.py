"""Random numbers of many replicates: words, laws, and generators."""

import math
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
import torch
from scipy import stats

from recall_claims.evidence.block import replicate_generators
from simulation import streams
from simulation.embeddings import unit_vectors
from simulation.streams import Streams
from tests.pretended import pretended_gpu

MANY = pytest.mark.parametrize(
    "each", [10**4, pytest.param(10**6, marks=pytest.mark.thorough)], ids=["few", "many"]
)
"""Count of random numbers that each of ten replicates draws."""
LAW = np.arange(1, 13) ** -1.5 / (np.arange(1, 13) ** -1.5).sum()
RARE = 1e-4
"""A p-value below it fails a test; the seeds are fixed."""


def generators(count: int, seed: int = 0) -> list[np.random.Generator]:
    seeds = ([seed, index] for index in range(count))
    return [np.random.Generator(np.random.SFC64(one)) for one in seeds]


def drawn(count: int = 10, dtype: torch.dtype = torch.float64) -> Streams:
    return Streams(generators(count), dtype=dtype)


DRAWS: dict[str, Callable[[Streams], torch.Tensor]] = {
    "normal": lambda s: s.normal(7, 3),
    "uniform": lambda s: s.uniform(21),
    "integers": lambda s: s.integers(1000, 3, 7),
    "signs": lambda s: s.signs(131),
    "category": lambda s: s.category(LAW.tolist(), 9),
    "counts": lambda s: s.counts(50, LAW, 2),
    "permutation": lambda s: s.permutation(9, 2),
    "one permutation": lambda s: s.permutation(9),
    "one number": lambda s: s.normal(),
    "nothing": lambda s: s.normal(0, 3),
}
EVERY = pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)


def test_the_first_word_of_a_replicate_is_that_of_sfc64() -> None:
    (rng,) = replicate_generators(0, "claim", "registration", "dim=2", 0, [0])
    assert rng.bit_generator.random_raw() == 10844004066818039163


def test_numbers_follow_from_the_words() -> None:
    words = [int(word) for word in generators(1)[0].bit_generator.random_raw(5)]
    halves = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]
    signed = [half - (half >> 31 << 32) for half in halves]
    radii = [math.sqrt(-2 * math.log((abs(k) + 0.5) / 2**31)) for k in signed[::2]]
    angles = [math.pi * k / 2**31 for k in signed[1::2]]
    pairs = zip(radii, angles, strict=True)
    normal = [r * turn(angle) for r, angle in pairs for turn in (math.cos, math.sin)]
    assert drawn(1).normal(9)[0].tolist() == pytest.approx(normal[:9], rel=1e-5, abs=1e-6)
    assert drawn(1).uniform(9)[0].tolist() == [(half >> 8) / 2**24 for half in halves[:9]]
    for high in (1, 1000, 2**31):
        shifted = [(half + 2**31) % 2**32 * high >> 32 for half in halves[:9]]
        assert drawn(1).integers(high, 9)[0].tolist() == shifted
    bits = [word >> place & 1 for word in words[:3] for place in range(64)]
    assert drawn(1).signs(131)[0].tolist() == [2 * bit - 1 for bit in bits[:131]]
    ends = np.cumsum(LAW)
    categories = [int((ends <= (word >> 11) / 2**53).sum()) for word in words]
    assert drawn(1).category(LAW, 5)[0].tolist() == categories


@EVERY
def test_a_replicate_has_its_own_numbers(draw: Callable[[Streams], torch.Tensor]) -> None:
    whole = draw(drawn())
    for some in ([5, 2, 2], [0]):
        part = Streams([generators(10)[i] for i in some])
        assert torch.equal(draw(part), whole[some])
    with patch.object(streams, "CPU_TILE", 2):
        assert torch.equal(draw(drawn()), whole)


@EVERY
def test_both_dtypes_have_the_same_numbers(draw: Callable[[Streams], torch.Tensor]) -> None:
    single, double = (draw(drawn(dtype=dtype)) for dtype in (torch.float32, torch.float64))
    assert torch.equal(single.double(), double.double())
    assert double.dtype in (torch.float64, torch.int64)
    assert single.dtype in (torch.float32, torch.int64)


@EVERY
def test_a_fork_gives_the_same_once_more(draw: Callable[[Streams], torch.Tensor]) -> None:
    here = drawn()
    draw(here)
    there = here.fork()
    assert torch.equal(draw(there), draw(here))
    assert torch.equal(draw(there), draw(here))


def test_what_is_drawn_together_takes_one_copy_and_changes_no_number() -> None:
    table = np.arange(6.0).reshape(2, 3)

    def all_drawn(streams: Streams) -> list[torch.Tensor]:
        with streams.together():
            with streams.together():
                found = [draw(streams) for draw in DRAWS.values()]
            found += [streams.moved(table), streams.moved(table, torch.float32)]
            found.append(unit_vectors(streams, 5, 3))
        return found

    apart = drawn(4)
    expected = [draw(apart) for draw in DRAWS.values()]
    expected += [torch.from_numpy(table), torch.from_numpy(table).float()]
    expected.append(unit_vectors(apart, 5, 3))
    for size, copies in ((streams.GPU_TILE, 1), (300, 2)):
        with pretended_gpu() as count, patch.object(streams, "GPU_TILE", size):
            there = Streams(generators(4), "cuda")
            found = [x.cpu() for x in all_drawn(there)]
            after = there.normal(3).cpu()
        assert count.uploads == copies + 1
        for mine, its in zip(found, expected, strict=True):
            assert mine.dtype == its.dtype
            assert torch.equal(mine, its)
        assert torch.equal(after, apart.fork().normal(3))
    for mine, its in zip(all_drawn(drawn(4)), expected, strict=True):
        assert torch.equal(mine, its)


def test_some_replicates_go_on_where_all_were() -> None:
    all_along, here = drawn(), drawn()
    whole = [all_along.normal(4) for _ in range(3)]
    assert torch.equal(here.normal(4), whole[0])
    assert torch.equal(here[[1, 3]].normal(4), whole[1][[1, 3]])
    assert torch.equal(here[1:3].normal(4), torch.stack([whole[2][1], whole[1][2]]))
    assert here[-1] is [*here][9]
    assert here[-1].random() != here[-2].random()


@MANY
def test_normals_are_normal(each: int) -> None:
    found = drawn(dtype=torch.float32).normal(each)
    sample = found.double().flatten()
    assert stats.kstest(sample.numpy(), stats.norm.cdf).pvalue > RARE
    for bound in (2.0, 3.0, 3.5, 4.0, 4.5, 5.0):
        for beyond in (sample > bound, sample < -bound):
            rate = float(stats.norm.sf(bound))
            assert stats.binomtest(int(beyond.sum()), len(sample), rate).pvalue > RARE, bound
    # The two numbers from one word, and numbers in succession, are as independent as any two.
    rows = found.double()
    for function in (lambda x: x, torch.square, torch.abs):
        apart = function(rows) - function(rows).mean(1, keepdim=True)
        apart /= apart.square().mean(1, keepdim=True).sqrt()
        for lag in (1, 2, each // 2):
            serial = (apart[:, lag:] * apart[:, :-lag]).mean(1) * math.sqrt(each - lag)
            assert float(serial.abs().max()) < 4.5, lag
        between = apart @ apart.mT / math.sqrt(each)
        assert float(between.fill_diagonal_(0).abs().max()) < 4.5


@MANY
def test_categories_have_their_law(each: int) -> None:
    single = torch.bincount(drawn().category(LAW, each).flatten(), minlength=len(LAW)).numpy()
    assert stats.chisquare(single, LAW * single.sum()).pvalue > RARE
    draws = 100
    counts = drawn().counts(draws, LAW, each // draws)
    assert (counts.sum(2) == draws).all()
    together = counts.sum((0, 1)).numpy()
    assert stats.chisquare(together, LAW * together.sum()).pvalue > RARE
    spread = counts[..., 0].var().item() / (draws * LAW[0] * (1 - LAW[0]))
    assert abs(spread - 1) < 5 * math.sqrt(2 / (10 * each / draws))


@MANY
def test_all_orders_are_equally_frequent(each: int) -> None:
    for orders in (drawn().permutation(4, each // 4), Streams(generators(10**4)).permutation(4)):
        numbers = (orders.view(-1, 4) * torch.tensor([64, 16, 4, 1])).sum(1)
        counts = torch.unique(numbers, return_counts=True)[1]
        assert len(counts) == 24
        assert stats.chisquare(counts.numpy()).pvalue > RARE
