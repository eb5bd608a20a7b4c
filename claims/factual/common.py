"""What all claims about factual recall share: cells of given sizes."""

from collections.abc import Callable
from typing import Any

from recall_claims import Cell, cells, ladder

NAMES = ("subjects", "relations", "answers")
Triple = tuple[int, int, int]


def shapes(*triples: Triple, **more: Any) -> tuple[Cell, ...]:
    """Cells of these S, R, D."""
    return cells({**dict(zip(NAMES, triple, strict=True)), **more} for triple in triples)


def rungs(
    scanned: str, predicted: Callable[[Cell], float], edge: float, *settings: Cell
) -> tuple[Cell, ...]:
    """A ladder around a predicted critical value: at the edges 1 - edge and 1 + edge of a region,
    between them, and once beyond either."""
    factors = (1 - 2.2 * edge, 1 - edge, 1 - 0.4 * edge, 1 + 0.4 * edge, 1 + edge, 1 + 2.2 * edge)
    return ladder(settings, scanned, predicted, factors)
