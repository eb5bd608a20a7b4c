"""Cells, grids and the random streams they name."""

import copy
import gc
import hashlib

import numpy as np
import pytest

from recall_claims.declare.cell import Cell, grid
from recall_claims.evidence.seeds import replicate_generators


def test_a_cell_is_its_parameters_in_any_order() -> None:
    assert len({Cell(a=1, b=2.5), Cell(b=2.5, a=1), Cell(a=2, b=2.5)}) == 2
    assert dict(**Cell(a=np.int64(3))) == {"a": 3}
    assert len(grid(a=(1, 2), b=(1, 2, 3), c=7)) == 6


@pytest.mark.parametrize("axes", [{"a": ()}, {}])
def test_an_empty_grid_is_refused(axes: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match=r"no values|at least one"):
        grid(**axes)


@pytest.mark.parametrize(("seed", "block"), [(0, 0), (2**32 - 1, 1), (2**32 + 5, 2**31)])
def test_streams_are_those_that_numpy_spawns(seed: int, block: int) -> None:
    names = "claim\0reg\0a=1"
    words = np.frombuffer(hashlib.sha256(names.encode()).digest(), dtype="<u4").tolist()
    spawned = np.random.SeedSequence(seed, spawn_key=(*words, block)).spawn(5)
    ours = replicate_generators(seed, "claim", "reg", "a=1", block, 5)
    for sequence, rng in zip(spawned, ours, strict=True):
        assert rng.bit_generator.state == np.random.PCG64(sequence).state
        assert copy.deepcopy(rng).random() == rng.random()


def test_generators_are_made_without_a_walk_through_those_that_are_there() -> None:
    walks = list[object]()

    def note(phase: str, details: object) -> None:
        walks.append(details)

    gc.callbacks.append(note)
    try:
        replicate_generators(0, "T.claim", "registration", "length=4", 0, 20_000)
    finally:
        gc.callbacks.remove(note)
    assert len(walks) <= 2  # the begin and end of one, afterwards; of young objects, more than 50
    assert gc.isenabled()
