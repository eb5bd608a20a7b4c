"""A block of evidence: its key, random streams and results, and the bytes that the ledger keeps.

The bytes are a number for their format, the observables' names as JSON, a line break, and the
values as exact little-endian float64, packed by zlib. The first bytes of all values, observable by
observable, come before the second bytes of all values, and so on, because zlib packs this order
best.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
import numpy as np

from recall_claims.judge.methods import Array

FORM = b"\x01"
MOST_NAMES, LONGEST_NAME = 1_000, 200
LONGEST_HEAD = MOST_NAMES * 12 * LONGEST_NAME
"""Largest number of bytes before the values; JSON takes up to twelve for a character."""
LARGEST = 2**24
"""Largest number of bytes of a block's values, so that no block exhausts the memory."""


ZERO = 1e-12
"""Largest size of a figure that counts as rounding of 0."""
TOLERANCE = {"float64": 1e-9, "float32": 1e-5}
"""Share of the largest figure by which rounding may move a figure on another processor."""

AMPLIFIED, OF_SPREAD = 10, 1e-4
"""Factor on `TOLERANCE` for differences that move no verdict, as their root mean square is at most
`OF_SPREAD` standard deviations of the replicates."""


@dataclass(frozen=True)
class BlockKey:
    """All that a block's figures depend on."""

    claim: str
    registration: str
    cell: str
    seed: int
    block: int
    replicates: int
    dtype: str
    device: str
    code: str
    versions: str

    def __str__(self) -> str:
        return f"{self.claim} at {self.cell}, block {self.block}"

    @property
    def digest(self) -> str:
        """SHA-256 of the key's fields."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class BlockResult:
    """Results and cost of one block.

    Attributes:
        observations: observables, each of shape (replicates,).
        seconds: time of the simulation.
        parts: number of parts, simulated in turn to fit into memory; not kept in the ledger.
    """

    observations: Mapping[str, Array]
    seconds: float
    parts: int = 1


def pack(observations: Mapping[str, Array]) -> tuple[bytes, str]:
    """Pack a block's observables into bytes; return them with a checksum.

    The checksum covers the bytes before zlib packs them, because zlib's releases pack differently.

    Args:
        observations: arrays of float64, all of shape (replicates,).
    """
    values = np.stack([*observations.values()]).astype("<f8")
    planes = values.reshape(-1, 1).view(np.uint8).T.tobytes()
    head = FORM + json.dumps([*observations]).encode() + b"\n"
    return head + zlib.compress(planes), hashlib.sha256(head + planes).hexdigest()


def unpack(payload: bytes, checksum: str, replicates: int) -> dict[str, Array]:
    """Read the observables in these bytes, whose values may take at most `LARGEST` bytes.

    Raises:
        ValueError: `pack` does not return these bytes and checksum for so many replicates.
    """
    end = payload.find(b"\n", 0, LONGEST_HEAD) + 1
    if not payload.startswith(FORM) or not end:
        raise ValueError("it has none of the forms that this program writes")
    head, body = payload[:end], memoryview(payload)[end:]
    names = msgspec.json.decode(head[len(FORM) :], type=list[str])
    if len(names) > MOST_NAMES or len(set(names)) < len(names):
        raise ValueError(f"more than {MOST_NAMES} observables, or one of them twice")
    size, stream = 8 * len(names) * replicates, zlib.decompressobj()
    if not 0 < size <= LARGEST:
        raise ValueError(f"{size} bytes of values, where a block has at most {LARGEST}")
    try:
        planes = stream.decompress(body, size + 1)
    except zlib.error as error:
        raise ValueError(error) from error
    if len(planes) != size or not stream.eof or stream.unused_data:
        raise ValueError("another number of values than its names and replicates make")
    if hashlib.sha256(head + planes).hexdigest() != checksum:
        raise ValueError("it does not match its checksum")
    numbers = np.frombuffer(planes, np.uint8).reshape(8, -1).T.copy().view("<f8")
    return dict(zip(names, numbers.reshape(len(names), replicates).astype(float), strict=True))


def replicate_generators(
    suite_seed: int,
    claim_id: str,
    registration: str,
    cell_id: str,
    block: int,
    replicates: Iterable[int],
) -> tuple[np.random.Generator, ...]:
    """Make one independent SFC64 generator for each of these replicates of a block.

    Names are hashed with SHA-256, never with `hash()`, so a stream is the same in every process, on
    every platform and whatever else the suite runs.

    A `spawn_key` of NumPy's `SeedSequence` gives each replicate its seed. SFC64 is the fastest of
    NumPy's generators.

    Args:
        suite_seed: the run's seed, a non-negative integer.
        claim_id: the claim's stable name.
        registration: hash of the claim's declaration, so that an edit draws fresh evidence.
        cell_id: the cell's stable text.
        block: index of the block in its cell, from 0.
        replicates: indices in the block, from 0.
    """
    digest = hashlib.sha256(f"{claim_id}\0{registration}\0{cell_id}".encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    names = ((*words, block, replicate) for replicate in replicates)
    seeds = (np.random.SeedSequence(entropy=suite_seed, spawn_key=name) for name in names)
    return tuple(np.random.Generator(np.random.SFC64(seed)) for seed in seeds)


def fault(key: BlockKey, result: object, names: Collection[str] | None = None) -> str | None:
    """Describe the fault of a block's result; None if the result is evidence.

    `Ledger.put` and `Ledger.get` call this for every block, before anybody judges it. If figures
    come from other code, seeds or draws than the key says, only simulating the block again shows
    this.

    Args:
        names: the observables that the result must have, as in the cell's first block; None if
            unknown.
    """
    if type(result) is not BlockResult:
        return f"a {type(result).__name__[:LONGEST_NAME]} instead of a BlockResult"
    observations: Any = result.observations
    if type(observations) is not dict or not 0 < len(observations) <= MOST_NAMES:
        return f"its observables are not a dict of 1 to {MOST_NAMES} arrays"
    if 8 * key.replicates * len(observations) > LARGEST:
        return f"its values take more than {LARGEST} bytes: have the claim's block= be smaller"
    for name in observations:
        if type(name) is not str or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            return f"the name of an observable is not a text of up to {LONGEST_NAME} characters"
    if names is not None and set(names) != set(observations):
        return f"it has the observables {sorted(observations)!s:.200}, not {sorted(names)!s:.200}"
    for name, values in observations.items():
        if type(values) is not np.ndarray or values.dtype != np.float64:
            kind = getattr(values, "dtype", type(values).__name__)
            return f"observable {name!r} is of type {kind!s:.50}, not an array of float64"
        if values.shape != (key.replicates,):
            count = f"one value per replicate ({key.replicates},)"
            return f"observable {name!r} has shape {values.shape}, not {count}"
        if not np.isfinite(values).all():
            count = f"{(~np.isfinite(values)).sum()} values that are not finite"
            return (
                f"observable {name!r} has {count}: what simulates is broken or the cell senseless"
            )
    if not (isinstance(result.seconds, float) and 0 <= result.seconds < math.inf):
        return "its seconds are not a finite number from 0"
    if type(result.parts) is not int or not 1 <= result.parts <= key.replicates:
        return f"its parts are not a whole number from 1 to {key.replicates}"
    return None


def difference(
    kept: Mapping[str, Array], again: Mapping[str, Array], dtype: str, floor: float = ZERO
) -> str | None:
    """Describe how two results for one block differ by more than rounding; None if they do not.

    Args:
        kept: observables of one result.
        again: observables of the other, for as many replicates.
        dtype: floating-point type of the simulation.
        floor: difference allowed for any observable, however small.
    """
    if kept.keys() != again.keys():
        return f"observables {sorted(kept)!s:.200} and {sorted(again)!s:.200}"
    for name, values in again.items():
        off, largest = float(abs(kept[name] - values).max()), float(abs(values).max())
        apart = math.hypot(*(kept[name] - values)) / math.sqrt(values.size)
        share = AMPLIFIED if apart <= OF_SPREAD * float(values.std()) else 1
        if off > max(share * TOLERANCE[dtype] * largest, floor):
            return f"{name!r:.80} is off by {off:.2g}, where its largest is {largest:.2g}"
    return None
