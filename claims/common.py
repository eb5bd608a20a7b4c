"""Shared parts of the claims in several folders: tables of cells, and families of claims."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import recall_claims as rc
from recall_claims.declare.claim import Observe
from recall_claims.model.cell import Scalar

claim = partial(rc.claim, dtype="float32")
"""Declare a claim that is simulated in float32.

Identities up to rounding, flows, decompositions and convex solvers need float64, which `rc.claim`
has."""


def table(names: str, *rows: tuple[Scalar, ...], **same: Scalar) -> tuple[rc.Cell, ...]:
    """Make cells from rows of values of the named parameters."""
    return rc.grid((dict(zip(names.split(), row, strict=True)) for row in rows), **same)


def rungs(
    scanned: str, predicted: Callable[[rc.Cell], float], edge: float, *settings: rc.Cell
) -> tuple[rc.Cell, ...]:
    """Make cells around a predicted critical value.

    They lie at the edges 1 - edge and 1 + edge of a region, between the edges, and once beyond
    either edge.
    """
    factors = (1 - 2.2 * edge, 1 - edge, 1 - 0.4 * edge, 1 + 0.4 * edge, 1 + edge, 1 + 2.2 * edge)
    return rc.ladder(settings, scanned, predicted, factors)


def tiers(
    make: Callable[..., tuple[rc.Cell, ...]], **given: Iterable[Any]
) -> dict[Any, Callable[[], tuple[rc.Cell, ...]]]:
    """Return, for each tier, a function that makes the tier's cells from its arguments."""
    return {tier: partial(make, *values) for tier, values in given.items()}


def relaxing(theorem: str, **common: Any) -> Callable[..., Callable[[Observe], rc.Claim]]:
    """Return a function that makes decorators for claims on one theorem, which share fields.

    ``theorem``: name of a word or two. The function takes a claim's id, its title, the assumption
    with its replacement, and further fields. Such a claim is exploratory, and never fails a run.
    """

    def relaxed(id: str, title: str, assumption: str, **own: Any) -> Callable[[Observe], rc.Claim]:
        return claim(id, title, relaxes=(assumption, theorem), **{**common, **own})

    return relaxed


def measuring(
    observe: Observe, declare: Callable[..., Callable[[Observe], rc.Claim]] = claim
) -> Callable[..., rc.Claim]:
    """Return a function that declares claims with the same simulation and different statements.

    The function takes a claim's id, its title, the assumption if `relaxing` made ``declare``, the
    theorem in words, and fields of this claim. ``declare`` has the common fields;
    ``observe`` is in the file of the claims, where workers find it.
    """

    def claimed(id: str, title: str, *told: str, **own: Any) -> rc.Claim:
        *assumption, statement = told
        made = declare(id, title, *assumption, **own)(observe)
        return replace(made, statement=" ".join(statement.split()))

    return claimed
