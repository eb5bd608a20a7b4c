"""What claims beyond a theorem share: the theorem, with one of its assumptions relaxed."""

from collections.abc import Callable
from typing import Any

from recall_claims import Claim, claim
from recall_claims.declare.claim import Observe


def relaxing(theorem: str, **common: Any) -> Callable[..., Callable[[Observe], Claim]]:
    """Declares claims on a theorem, told in a word or two, that have these fields in common.

    What it returns takes a claim's id, its title, the assumption with what replaces it, and the
    fields that it has of its own. Such a claim is exploratory, and never fails a run.
    """

    def relaxed(id: str, title: str, assumption: str, **own: Any) -> Callable[[Observe], Claim]:
        return claim(id, title, relaxes=(assumption, theorem), **{**common, **own})

    return relaxed
