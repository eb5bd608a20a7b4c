"""A bundle: the evidence of a run in one zip, for somebody who does not trust whoever made it.

It holds `manifest.json` (SHA-256 and size of every other part), `record.json` (the record of the
run), `index.json` (what each claim declared, its code, its cells) and, for each decided claim,
`blocks/CLAIM.bin`: its observations, observable after observable of cell after cell, each in the
narrowest of three types that keeps every bit, little-endian, the first bytes of all values before
the second ones. The same run gives the same bytes.

A bundle is a stranger's file: names, sizes and counts are checked before anything is inflated, and
nothing in it is ever run.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from recall_claims.errors import BundleError
from recall_claims.evidence.block import MOST_NAMES
from recall_claims.evidence.draws import Link
from recall_claims.judge.methods import Array
from recall_reports.record import Record
from recall_reports.record.errors import ReportError
from recall_reports.record.files import validated

FORMAT: Final = "recall-claims-bundle/1"
COMMENT = FORMAT.encode()
"""The zip's own comment, by which a bundle is told from any other zip."""
NAME = re.compile(r"(manifest|record|index)\.json|blocks/[A-Za-z0-9][A-Za-z0-9._-]{0,199}\.bin")
MOST_PARTS, LARGEST_PART, LARGEST = 20_000, 2**26, 2**29
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
EPOCH = (1980, 1, 1, 0, 0, 0)

Kind = Literal["u1", "f4", "f8"]
Text = Annotated[str, Meta(min_length=1, max_length=2_000)]
Some = Annotated[int, Meta(ge=1, le=10**9)]


class CellBlocks(Struct, kw_only=True):
    """The blocks 0 to `blocks` - 1 of a cell, and the type in which each observable is kept."""

    cell: Text
    blocks: Some
    observables: Annotated[dict[Text, Kind], Meta(min_length=1, max_length=MOST_NAMES)]


class Evidence(Struct, kw_only=True):
    """The evidence of a claim; `replicates` are those of a block, `declaration` is JSON."""

    registration: str
    declaration: str
    code: str
    replicates: Some
    cells: list[CellBlocks]


class Index(Struct, kw_only=True):
    """What the bundle has of each decided claim, and what its figures' last digits depend on.

    `codes` tells of which modules each fingerprint of code is made, with a digest of each; `chain`
    is the ledger's, of all evidence sets that it has ever drawn.
    """

    versions: str
    processor: str
    chain: list[Link]
    codes: dict[str, dict[str, str]]
    claims: dict[str, Evidence]


class Part(Struct, kw_only=True):
    """What the manifest says of a part."""

    sha256: str
    size: int


class Manifest(Struct, kw_only=True):
    """All other parts, by name."""

    format: Literal["recall-claims-bundle/1"]
    parts: dict[str, Part]


@dataclass(frozen=True)
class Bundle:
    """An open bundle, whose parts are those of its manifest.

    Attributes:
        index: what there is of each claim.
        blocks: the bytes of each claim's observations.
        manifest: as it stands in the file.
    """

    record: Record
    index: Index
    blocks: Mapping[str, bytes]
    manifest: bytes

    @cached_property
    def counts(self) -> dict[str, list[tuple[str, int]]]:
        """The blocks of each claim: their cells and numbers."""
        return {
            name: [(part.cell, block) for part in held.cells for block in range(part.blocks)]
            for name, held in self.index.claims.items()
        }

    def observations(self, claim: str) -> dict[str, dict[str, Array]]:
        """The observations of a claim: by cell and observable, each of shape (blocks, replicates).

        Raises:
            BundleError: its bytes are not what the index says of them.
        """
        held, data = self.index.claims[claim], self.blocks[claim]
        found: dict[str, dict[str, Array]] = {}
        for part in held.cells:
            shape = (part.blocks, held.replicates)
            found[part.cell] = {}
            for name, kind in part.observables.items():
                size = int(kind[1]) * part.blocks * held.replicates
                if size > len(data):
                    raise BundleError(f"the blocks of {claim} end early")
                values = _values(data[:size], kind).reshape(shape)
                if not np.isfinite(values).all():
                    raise BundleError(f"{claim} has values that are not finite in {part.cell}")
                found[part.cell][name], data = values, data[size:]
        if data or len(found) < len(held.cells):
            raise BundleError(f"{claim} has more blocks than cells, or a cell twice")
        return found


def packed(values: Array) -> tuple[Kind, bytes]:
    """The narrowest type that keeps every bit of these values, and their bytes in it.

    >>> packed(np.array([0.0, 1.0]))[0], packed(np.array([0.5]))[0], packed(np.array([0.1]))[0]
    ('u1', 'f4', 'f8')
    """
    whole = values.astype("<f8").ravel()
    kinds: tuple[Kind, ...] = ("u1", "f4", "f8")
    with np.errstate(all="ignore"):  # a cast that overflows does not keep every bit
        for kind in kinds:
            narrow = whole.astype(f"<{kind}")
            if narrow.astype("<f8").tobytes() == whole.tobytes():
                break
    return kind, narrow.reshape(-1, 1).view(np.uint8).T.tobytes()


def _values(data: bytes, kind: Kind) -> Array:
    planes = np.frombuffer(data, np.uint8).reshape(int(kind[1]), -1)
    return planes.T.copy().view(f"<{kind}").ravel().astype(float)


def written(record: Record, index: Index, blocks: Mapping[str, bytes]) -> bytes:
    """The bytes of a bundle."""
    parts = {
        "record.json": msgspec.json.encode(record),
        "index.json": msgspec.json.encode(index),
        **{f"blocks/{name}.bin": data for name, data in blocks.items()},
    }
    listed = {n: Part(sha256=_hash(data), size=len(data)) for n, data in sorted(parts.items())}
    manifest = msgspec.json.encode(Manifest(format=FORMAT, parts=listed))
    parts["manifest.json"] = msgspec.json.format(manifest, indent=1) + b"\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.comment = COMMENT
        for name, data in sorted(parts.items()):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            archive.writestr(entry, data)
    return buffer.getvalue()


def read(path: Path) -> Bundle:
    """Open a bundle, and hold every part against the manifest.

    Raises:
        BundleError: it cannot be read, is none, or has a part that is not what the manifest says.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            parts = _parts(archive)
    except BundleError as error:
        raise BundleError(f"{path}: {error}") from None
    except OSError as error:
        raise BundleError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # an archive that is damaged on purpose may raise anything
        raise BundleError(f"{path}: no bundle, or a damaged one ({error!s:.200})") from error
    try:
        manifest = msgspec.json.decode(parts["manifest.json"], type=Manifest)
        others = {name: data for name, data in parts.items() if name != "manifest.json"}
        listed = {n: Part(sha256=_hash(d), size=len(d)) for n, d in others.items()}
        wrong = [n for n in {**listed, **manifest.parts} if listed.get(n) != manifest.parts.get(n)]
        if wrong:
            raise BundleError(f"not what its manifest says: {_few(sorted(wrong))}")
        index = msgspec.json.decode(parts["index.json"], type=Index)
        record = validated(msgspec.json.decode(parts["record.json"]))
    except (KeyError, ValueError, RecursionError, msgspec.MsgspecError, ReportError) as error:
        raise BundleError(f"{path}: a damaged bundle, or no bundle ({error!s:.500})") from error
    blocks = {n[7:-4]: data for n, data in parts.items() if n.startswith("blocks/")}
    if blocks.keys() != index.claims.keys():
        odd = _few(sorted(blocks.keys() ^ index.claims.keys()))
        raise BundleError(f"{path}: blocks and index do not have the same claims: {odd}")
    return Bundle(record, index, blocks, parts["manifest.json"])


def _parts(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """All parts; nothing is inflated before names and sizes are known to be a bundle's."""
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    odd = [name for name in names if not NAME.fullmatch(name)]
    if archive.comment != COMMENT or odd:
        raise BundleError(f"no bundle{': it holds ' + _few(odd) if odd else ''}")
    if len(set(names)) < len(names) or len(names) > MOST_PARTS:
        raise BundleError(f"more than {MOST_PARTS} parts, or one of them twice")
    if any(entry.compress_type not in PACKED for entry in entries):
        raise BundleError("its parts are not packed as those of a bundle are")
    sizes = [entry.file_size for entry in entries]
    if max(sizes) > LARGEST_PART or sum(sizes) > LARGEST:
        raise BundleError(f"{sum(sizes)} bytes where a bundle has at most {LARGEST}")
    return {entry.filename: archive.read(entry) for entry in entries}


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _few(names: list[str]) -> str:
    """The first of some names, as one line without control characters."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(f"{name[:100]!r}" for name in names[:3]) + more
