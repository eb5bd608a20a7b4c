"""What all claims about factual recall share: cells of given sizes."""

from typing import Any

from recall_claims import Cell, cells

NAMES = ("subjects", "relations", "answers")
Triple = tuple[int, int, int]


def shapes(*triples: Triple, **more: Any) -> tuple[Cell, ...]:
    """Cells of these S, R, D."""
    return cells({**dict(zip(NAMES, triple, strict=True)), **more} for triple in triples)
