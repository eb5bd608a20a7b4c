"""Random streams, named by seed, claim, registration, cell, block and replicate.

Names are hashed with SHA-256, never with `hash()`, so a stream is the same in every process,
on every platform and whatever else the suite runs.
"""

import hashlib
from collections.abc import Iterable

import numpy as np


def replicate_generators(
    suite_seed: int,
    claim_id: str,
    registration: str,
    cell_id: str,
    block: int,
    replicates: Iterable[int],
) -> tuple[np.random.Generator, ...]:
    """One independent SFC64 generator for each of these replicates of a block.

    Its seed is that which NumPy's `SeedSequence.spawn` gives the replicate. Of NumPy's generators
    SFC64 gives words fastest.

    Args:
        suite_seed: the run's seed, a non-negative integer.
        claim_id: the claim's stable name.
        registration: of the claim's declaration, so that an edited one draws fresh evidence.
        cell_id: the cell's stable text.
        block: index of the block in its cell, from 0.
        replicates: indices in the block, from 0.
    """
    digest = hashlib.sha256(f"{claim_id}\0{registration}\0{cell_id}".encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    names = ((*words, block, replicate) for replicate in replicates)
    seeds = (np.random.SeedSequence(entropy=suite_seed, spawn_key=name) for name in names)
    return tuple(np.random.Generator(np.random.SFC64(seed)) for seed in seeds)
