"""Theorems of other fields as claims, each with a planted error that its data must refute."""

from functools import partial
from typing import Any

import numpy.typing as npt

import recall_claims as rc

Array = npt.NDArray[Any]
NEAR, WIDE = rc.Region(0.94, 1.06), rc.Region(0.9, 1.1)

theorem = partial(
    rc.claim,
    source=rc.Source("zoo", "1", provenance="stated"),
    regime="exact, or with an error below a tenth of the region's width at these sizes",
    why="as narrow as a few thousand replicates resolve",
    replicates=(1024, 32768),
)
