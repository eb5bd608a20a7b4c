"""At large vocabularies nothing holds a V x V matrix."""

import sys

import pytest

from tests.benchmarks.large_vocabulary import Sizes, measure, section
from tests.benchmarks.timing import isolated

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")


def test_recall_holds_two_tables_and_a_tile() -> None:
    sizes = Sizes(task="recall", vocab_size=16384, dim=512, queries=2048)
    found = isolated(1, measure, sizes)
    table = sizes.vocab_size * sizes.dim * 4 / 2**20
    # Two tables, the answers to an eighth as many queries, three quarters for all tiles.
    # All scores of the queries, 128 MiB, would be four tables more.
    assert found.peak - found.start < 3 * table
    assert 0.4 < found.accuracy < 0.56  # predicted: 0.478


@pytest.mark.parametrize("task", [pytest.param("linear MMSE", marks=pytest.mark.thorough), "noise"])
def test_a_large_vocabulary_needs_no_square_of_it(task: str) -> None:
    sizes = Sizes(task, 50_000, dim=16, queries=50_000, load=1)
    assert isolated(1, measure, sizes).peak < 1024  # a square of float32 has 9,537 MiB


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("task", ["recall", "decoding", "linear MMSE", "noise"])
def test_time_and_memory_are_told(task: str) -> None:
    time, memory = section("tiny", 1, [Sizes(task, 64, 16, 32)]).rows
    assert time.ours.endswith(" s")
    assert float(memory.ours.removesuffix(" MiB")) > 10
    assert memory.theirs == "0.0 MiB"
