"""Grids and predictions of claims, kept in the ledger: most of them take longer than a verdict.

They hold as long as no file changes that they may depend on: the claim's own, every module that it
imports, directly or not, what pytest loads before it, its paper, this library, and the versions of
Python, numpy and scipy. What is kept is text and figures, which a claim is registered by as if they
were new; what is damaged is worked out anew. Nothing is read or kept where such a file is younger
than the process, which may have imported it as it was before.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec

from recall_claims.declare.cell import Cell, Scalar
from recall_claims.declare.claim import Claim
from recall_claims.declare.papers import papers
from recall_claims.evidence.fingerprints import (
    CONFIGURATION,
    LIBRARY,
    folders,
    loaded,
    source,
    upstream,
)
from recall_claims.evidence.ledger import Ledger
from recall_claims.evidence.simulate import versions
from recall_claims.judge.looks import Memo, remembering

Params = dict[str, Scalar]


class Row(msgspec.Struct):
    """What the ledger keeps of a claim: cells by tier, and figures by the name of what predicts."""

    cells: dict[str, list[Params]]
    figures: dict[str, list[tuple[Params, int | float | str]]]


class Predicted:
    """A claim whose grids and predictions are worked out at most once.

    Attributes:
        claim: with what the ledger has kept.

    Args:
        claim: as declared.
        tier: to be judged.
        ledger: where they are kept, if there is one.
        begun: when this process began, in seconds since 1970.
    """

    def __init__(self, claim: Claim, tier: str, ledger: Ledger | None, begun: float) -> None:
        self._memo: Memo = {}
        self._place, self._depends = (claim.id, tier), _depends(*_roots(claim), begun)
        sql = "SELECT kept FROM predicted WHERE claim = ? AND tier = ? AND depends = ?"
        rows = ledger.ask(sql, (*self._place, self._depends)) if ledger and self._depends else []
        for (text,) in rows:
            try:
                row = msgspec.json.decode(text, type=Row)
                cells = {name: _cells(points) for name, points in row.cells.items()}
                memo = {
                    name: {Cell(**params): value for params, value in pairs}
                    for name, pairs in row.figures.items()
                }
            except (ValueError, TypeError):
                continue
            self._memo, claim = memo, replace(claim, cells=cells)
        self._known = self._count
        self.claim = remembering(claim, self._memo)

    @property
    def _count(self) -> int:
        return sum(map(len, self._memo.values()))

    def keep(self, ledger: Ledger) -> None:
        """Keep what was worked out since; nothing, where a figure is none that JSON has."""
        figures = {
            name: [(dict(cell), value) for cell, value in values.items()]
            for name, values in self._memo.items()
        }
        values = [value for pairs in figures.values() for _, value in pairs]
        if not self._depends or self._count == self._known or not all(map(_plain, values)):
            return
        cells = {tier: [dict(cell) for cell in points] for tier, points in self.claim.cells.items()}
        text = msgspec.json.encode(Row(cells, figures)).decode()
        row = (*self._place, self._depends, text)
        ledger.ask("INSERT OR REPLACE INTO predicted VALUES (?, ?, ?, ?)", row, action="write")


def _plain(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value))


def _cells(points: Iterable[Params]) -> tuple[Cell, ...]:
    return tuple(Cell(**params) for params in points)


def _roots(claim: Claim) -> tuple[str, tuple[Path, ...]]:
    """A claim's module, and the files beside modules that its predictions may depend on."""
    return claim.module, (papers()[claim.source.paper].file,)


@cache
def _depends(module: str, files: tuple[Path, ...], begun: float) -> str:
    """SHA-256 of what predictions may depend on; "" if some of it is younger than the process."""
    names = {module, *upstream(module), *loaded(module)}
    paths = {*files, *filter(None, map(source, names))}
    for library in filter(None, map(source, LIBRARY)):  # where it is developed here too
        paths.update(library.parent.rglob("*.py"))
    paths |= {above / n for above in folders(module) for n in ("conftest.py", *CONFIGURATION)}
    there = sorted(filter(Path.is_file, paths))
    if any(path.stat().st_mtime > begun for path in there):
        return ""
    told = [versions(), version("recall-claims"), *(f"{p} {_digest(p, begun)}" for p in there)]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


@cache
def _digest(path: Path, _: float) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
