"""What the claims of several rooms share: tables of cells, and theorems without an assumption."""

from collections.abc import Callable
from typing import Any

import recall_claims as rc
from recall_claims.declare.cell import Scalar
from recall_claims.declare.claim import Observe


def table(names: str, *rows: tuple[Scalar, ...], **same: Scalar) -> tuple[rc.Cell, ...]:
    """Cells with these values of the named parameters, a row each."""
    return rc.cells({**dict(zip(names.split(), row, strict=True)), **same} for row in rows)


def rungs(
    scanned: str, predicted: Callable[[rc.Cell], float], edge: float, *settings: rc.Cell
) -> tuple[rc.Cell, ...]:
    """A ladder around a predicted critical value: at the edges 1 - edge and 1 + edge of a region,
    between them, and once beyond either."""
    factors = (1 - 2.2 * edge, 1 - edge, 1 - 0.4 * edge, 1 + 0.4 * edge, 1 + edge, 1 + 2.2 * edge)
    return rc.ladder(settings, scanned, predicted, factors)


def relaxing(theorem: str, **common: Any) -> Callable[..., Callable[[Observe], rc.Claim]]:
    """Declares claims on a theorem, told in a word or two, that have these fields in common.

    What it returns takes a claim's id, its title, the assumption with what replaces it, and the
    fields that it has of its own. Such a claim is exploratory, and never fails a run.
    """

    def relaxed(id: str, title: str, assumption: str, **own: Any) -> Callable[[Observe], rc.Claim]:
        return rc.claim(id, title, relaxes=(assumption, theorem), **{**common, **own})

    return relaxed
