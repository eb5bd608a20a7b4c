"""Tiles: the part of a large product that is held at a time."""

from collections.abc import Iterator

import torch

from simulation.streams import Streams

TILE_ELEMENTS = {"cpu": 2**18, "cuda": 2**26}
"""Elements of one tile by device type: what fits the level-2 cache of a CPU core, and 0.5 GB."""

LOOK_EVERY = {"cpu": 1, "cuda": 32}
"""Steps of an iteration between two looks at whether it is done, for which a GPU has to wait."""


def groups(replicates: int, size: int, like: torch.Tensor | Streams) -> Iterator[slice]:
    """Slices of as many replicates as fit a tile together.

    Args:
        replicates: how many there are.
        size: numbers that each of them needs.
        like: is on the device that holds them.
    """
    count = max(1, TILE_ELEMENTS[like.device.type] // size)
    return (slice(r, r + count) for r in range(0, replicates, count))
