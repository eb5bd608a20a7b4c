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

Most identities up to rounding, flows, decompositions and convex solvers need float64, the default
of `rc.claim`."""


def table(names: str, *rows: tuple[Scalar, ...], **same: Scalar) -> tuple[rc.Cell, ...]:
    """Make a cell of each row of values; ``names`` lists their parameters, ``same`` is in all."""
    return rc.grid((dict(zip(names.split(), row, strict=True)) for row in rows), **same)


def rungs(
    scanned: str, predicted: Callable[[rc.Cell], float], edge: float, *settings: rc.Cell
) -> tuple[rc.Cell, ...]:
    """Make cells in each setting, at multiples of a predicted critical value.

    Two multiples are the edges 1 - edge and 1 + edge of a region, two lie between these edges, and
    one lies beyond either edge. Each multiple is rounded towards the critical value.
    """
    factors = (1 - 2.2 * edge, 1 - edge, 1 - 0.4 * edge, 1 + 0.4 * edge, 1 + edge, 1 + 2.2 * edge)
    return rc.ladder(settings, scanned, predicted, factors)


def tiers(
    make: Callable[..., tuple[rc.Cell, ...]], **given: Iterable[Any]
) -> dict[Any, Callable[[], tuple[rc.Cell, ...]]]:
    """Map each tier to a function without arguments that makes its cells.

    The function calls ``make`` with the arguments that ``given`` has for the tier.
    """
    return {tier: partial(make, *values) for tier, values in given.items()}


def relaxing(theorem: str, **common: Any) -> Callable[..., Callable[[Observe], rc.Claim]]:
    """Return a function that makes decorators for claims on one theorem with common fields.

    ``theorem``: name of a word or two. The function takes a claim's id, its title, the assumption
    with its replacement, and further fields, which override ``common``. Such a claim is
    exploratory, and never fails a run. It is simulated in float32 unless a field says otherwise.
    """

    def relaxed(id: str, title: str, assumption: str, **own: Any) -> Callable[[Observe], rc.Claim]:
        return claim(id, title, relaxes=(assumption, theorem), **{**common, **own})

    return relaxed


def measuring(
    observe: Observe, declare: Callable[..., Callable[[Observe], rc.Claim]] = claim
) -> Callable[..., rc.Claim]:
    """Return a function that declares claims with the same simulation and different statements.

    The function takes a claim's id, its title, the assumption if `relaxing` made ``declare``, the
    theorem in words, and fields of this claim. ``declare`` supplies the other fields.
    Define ``observe`` in the file of the claims, because workers look for it there.
    """

    def claimed(id: str, title: str, *told: str, **own: Any) -> rc.Claim:
        *assumption, statement = told
        made = declare(id, title, *assumption, **own)(observe)
        return replace(made, statement=" ".join(statement.split()))

    return claimed
