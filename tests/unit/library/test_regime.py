"""Cells and grids, their random streams, and regimes."""

import copy
import hashlib

import numpy as np
import pytest

from recall_claims import Cell, Regime, log_range
from recall_claims.evidence.block import replicate_generators
from recall_claims.model.cell import grid


def test_a_cell_is_its_parameters_in_any_order() -> None:
    assert len({Cell(a=1, b=2.5), Cell(b=2.5, a=1), Cell(a=2, b=2.5)}) == 2
    assert dict(**Cell(a=np.int64(3))) == {"a": 3}
    assert len(grid(a=(1, 2), b=(1, 2, 3), c=7)) == 6
    assert grid(a=np.int64(3)) == (Cell(a=3),)


@pytest.mark.parametrize(("seed", "block"), [(0, 0), (2**32 - 1, 1), (2**32 + 5, 2**31)])
def test_streams_are_those_that_numpy_spawns(seed: int, block: int) -> None:
    names = "claim\0reg\0a=1"
    words = np.frombuffer(hashlib.sha256(names.encode()).digest(), dtype="<u4").tolist()
    spawned = np.random.SeedSequence(seed, spawn_key=(*words, block)).spawn(5)
    ours = replicate_generators(seed, "claim", "reg", "a=1", block, range(5))
    for sequence, rng in zip(spawned, ours, strict=True):
        words = copy.deepcopy(rng.bit_generator).random_raw(4)
        assert words.tolist() == np.random.SFC64(sequence).random_raw(4).tolist()
        assert copy.deepcopy(rng).random() == rng.random()


WIDE = Regime(
    "V >= 8 d",
    {"vocab_size": log_range(64, 512), "dim": log_range(4, 64), "samples": 1},
    holds=lambda cell: cell["vocab_size"] >= 8 * cell["dim"],
)


def test_numbers_in_equal_steps_of_the_logarithm() -> None:
    assert log_range(0.1, 10, per_octave=1).steps[:3] == (0.1, 0.2, 0.4)
    assert log_range(0.1, 10).steps[-1] == 10.0
    assert log_range(1.0, 1.1895).steps == (1.0, 1.1895), "and 1.189 to three digits is beyond"
    assert (20 in log_range(8, 32), 33 in log_range(8, 32)) == (True, False)


def test_values_as_an_author_writes_them() -> None:
    regime = Regime("", {"one": 2, "few": (0, 2), "all": range(3), "share": (0.5, 1.0), "law": "a"})
    assert [values.steps for values in regime.ranges.values()] == [
        *((2,), (0, 2), (0, 1, 2), (0.5, 1.0), ("a",))
    ]
    assert [1 in regime.ranges[name] for name in ("one", "few", "all")] == [False, False, True]
    assert (0.7 in regime.ranges["share"], 1.2 in regime.ranges["share"]) == (True, False)
    assert str(regime.ranges["all"]) == "0 to 2"
    assert str(regime.ranges["few"]) == "0, 2"


def test_a_claim_narrows_the_regime_of_a_formula() -> None:
    narrow = WIDE.searched("d >= 16", holds=lambda cell: cell["dim"] >= 16)
    assert narrow.text == "V >= 8 d; d >= 16"
    inside, sparse, dense = (Cell(vocab_size=v, dim=d) for v, d in ((128, 16), (64, 4), (64, 16)))
    assert narrow.why_outside(inside) is None
    assert narrow.why_outside(sparse)
    assert WIDE.why_outside(sparse) is None
    assert narrow.why_outside(dense)


def test_its_parameters_and_sizes_may_be_others() -> None:
    other = WIDE.searched(dim=range(2, 9), without=("samples",), law=("sphere", "gaussian"))
    assert [*other.ranges] == ["vocab_size", "dim", "law"]
    assert 8 in other.ranges["dim"]
    assert "gaussian" in other.ranges["law"]
    assert other.draws(Cell(vocab_size=512, dim=8, law="sphere"))
    assert not WIDE.draws(Cell(vocab_size=512, dim=8, law="sphere"))
    assert other.text == WIDE.text


def test_a_scanned_parameter_is_as_a_search_has_it() -> None:
    few = WIDE.searched(holds=lambda cell: cell["samples"] == 1)
    assert few.why_outside(Cell(vocab_size=128, dim=8, samples=300), ignoring="samples") is None
    assert few.why_outside(Cell(vocab_size=128, dim=8, samples=300))
    alone = Regime("", {"samples": range(1, 9)})
    assert alone.why_outside(Cell(samples=300), ignoring="samples") is None
