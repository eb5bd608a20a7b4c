"""Points at which a hunt has refuted a claim: found once, tested for ever.

They stand in the file `counterexamples.toml` beside the claim's own file, and belong to the claim's
grid from then on.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from recall_claims.declare.cell import Cell
from recall_claims.errors import ClaimError

NAME = "counterexamples.toml"
_HEAD = "# Found by hunts (--hunt TIME --keep); each belongs to its claim's grid.\n"


def beside(observe: Callable[..., Any]) -> Path:
    """The file of the room that a claim's function stands in."""
    return Path(observe.__code__.co_filename).with_name(NAME)


def kept(file: Path, claim: str) -> tuple[Cell, ...]:
    """Cells of a claim that were kept; none where there is no file.

    Raises:
        ClaimError: the file is damaged.
    """
    return _all(file).get(claim, ())


@cache
def _all(file: Path) -> Mapping[str, tuple[Cell, ...]]:
    if not file.exists():
        return {}
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
        return {
            claim: tuple(Cell(**params) for params in table["cells"])
            for claim, table in tables.items()
        }
    except (tomllib.TOMLDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ClaimError(
            f"{file} is damaged ({type(error).__name__}: {error}); each claim has a table "
            '["its id"] with cells = [{dim = 8, ...}, ...]: mend it, or delete the table and hunt'
            " again"
        ) from error


def keep(file: Path, claim: str, cells: Iterable[Cell]) -> None:
    """Add cells of a claim to the file; those that are there stay.

    Raises:
        ClaimError: the file is damaged, or cannot be written.
    """
    every = {**_all(file)}
    every[claim] = tuple(dict.fromkeys((*every.get(claim, ()), *cells)))
    tables = (f'\n["{name}"]\ncells = [\n{_rows(found)}]\n' for name, found in every.items())
    whole = file.with_suffix(".tmp")  # a full disk must not cost what was kept before
    try:
        whole.write_text(_HEAD + "".join(tables), encoding="utf-8")
        whole.replace(file)
    except OSError as error:
        raise ClaimError(f"cannot write {file}: {error.strerror or error}") from error
    _all.cache_clear()


def _rows(cells: Iterable[Cell]) -> str:
    inline = (", ".join(f"{k} = {json.dumps(v)}" for k, v in cell.items()) for cell in cells)
    return "".join(f"    {{ {row} }},\n" for row in inline)
