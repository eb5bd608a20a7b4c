"""Random streams named by what they are for: seed, claim, registration, cell, block, replicate.

Names are hashed with SHA-256, never with `hash()`, so a stream is the same in every process,
on every platform and whatever else the suite runs.
"""

import gc
import hashlib
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray


def replicate_generators(
    suite_seed: int, claim_id: str, registration: str, cell_id: str, block: int, replicates: int
) -> tuple[np.random.Generator, ...]:
    """One independent PCG64 generator per replicate of a block.

    Args:
        suite_seed: the run's seed, a non-negative integer.
        claim_id: the claim's stable name.
        registration: of the claim's declaration, so that an edited one draws fresh evidence.
        cell_id: the cell's stable text.
        block: index of the block in its cell, from 0.
        replicates: number of generators.
    """
    digest = hashlib.sha256(f"{claim_id}\0{registration}\0{cell_id}".encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    sequence = np.random.SeedSequence(entropy=suite_seed, spawn_key=(*words, block))
    states: Any = _States(_states(sequence, len(words) + 1, replicates))  # numpy's types know less
    # None of them is garbage: a collection would only walk through all of them, time and again.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return tuple(np.random.Generator(np.random.PCG64(states)) for _ in range(replicates))
    finally:
        if collecting:
            gc.enable()


class _States(ISeedSequence):
    """Seeds one PCG64 after the other, by four numbers each."""

    def __init__(self, states: NDArray[np.uint64]) -> None:
        self._states = iter(states)

    def generate_state(self, n_words: int, dtype: object = np.uint64) -> NDArray[np.uint64]:
        state: NDArray[np.uint64] = next(self._states)
        return state


def _states(sequence: np.random.SeedSequence, length: int, count: int) -> NDArray[np.uint64]:
    """What `generate_state(4, np.uint64)` gives of each of `sequence.spawn(count)`, all at once.

    A spawned sequence mixes its number into the pool of the one that spawned it, as the last of
    its words (M. E. O'Neill, "Developing a seed_seq alternative", 2015). Those before it have
    used up a known part of the hash's multipliers: 4 words of entropy, each into itself and into
    the three others, then each word of the key into all four. Sums and products are modulo 2^32.
    The entropy has at most 4 words, the spawn key `length`.
    """
    used, number = 16 + 4 * length, np.arange(count, dtype=np.uint32)
    pool, state = [], np.empty((count, 8), np.uint32)
    for place, word in enumerate(sequence.pool.tolist()):
        hashed = _hashed(number, 0x43B0D7E5, 0x931E8875, used + place)
        mixed = np.uint32(0xCA01F9DD * word % 2**32) - np.uint32(0x4973F715) * hashed
        pool.append(mixed ^ mixed >> np.uint32(16))
    for place in range(8):
        state[:, place] = _hashed(pool[place % 4], 0x8B51F9DD, 0x58F38DED, place)
    return state.astype("<u4").view("<u8").astype(np.uint64)


def _hashed(words: NDArray[np.uint32], first: int, factor: int, used: int) -> NDArray[np.uint32]:
    constant = first * pow(factor, used, 2**32) % 2**32
    words = (words ^ np.uint32(constant)) * np.uint32(constant * factor % 2**32)
    return words ^ words >> np.uint32(16)
