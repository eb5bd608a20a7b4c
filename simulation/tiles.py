"""Tiles: the part of a large product that is in memory at a time."""

from collections.abc import Iterator

import torch

from simulation.streams import Streams

TILE_ELEMENTS = {"cpu": 2**18, "cuda": 2**26}
"""Elements of a tile by device type: as many as fit a CPU core's level-2 cache, or 0.5 GB."""

LOOK_EVERY = {"cpu": 1, "cuda": 32}
"""Steps between two checks of whether an iteration is done; a GPU waits for each check."""


def groups(replicates: int, size: int, like: torch.Tensor | Streams) -> Iterator[slice]:
    """Split the replicates into slices that fit a tile, or have one replicate.

    Args:
        replicates: number of replicates.
        size: number of values that one replicate needs.
        like: tensor or streams on the device of these values.
    """
    count = max(1, TILE_ELEMENTS[like.device.type] // size)
    return (slice(r, r + count) for r in range(0, replicates, count))
