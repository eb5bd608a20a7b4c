"""Cells of given sizes, for all claims about factual recall."""

from typing import Any

import recall_claims as rc
from claims.common import table

NAMES = ("subjects", "relations", "answers")
ALL_FACTS = "share of draws with all facts recalled"
Triple = tuple[int, int, int]


def shapes(*triples: Triple, **more: Any) -> tuple[rc.Cell, ...]:
    """Make a cell for each triple of numbers of subjects S, relations R and answers D."""
    return table(" ".join(NAMES), *triples, **more)
