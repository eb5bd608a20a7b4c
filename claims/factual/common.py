"""What all claims about factual recall share: cells of given sizes."""

from typing import Any

from claims.common import table
from recall_claims import Cell

NAMES = ("subjects", "relations", "answers")
Triple = tuple[int, int, int]


def shapes(*triples: Triple, **more: Any) -> tuple[Cell, ...]:
    """Cells of these S, R, D."""
    return table(" ".join(NAMES), *triples, **more)
