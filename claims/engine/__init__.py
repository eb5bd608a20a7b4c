"""The engine: a claim is a region, evidence is an interval.

A claim file needs the names in `__all__` and nothing else:

* `claim` makes a claim of a function that simulates a `Block` of replicates in a `Cell`; `grid` and
  `cells` make the cells.
* `Source` says where the statement comes from; `add_paper` makes a paper of your own known.
* A rule turns observations into intervals and has a `Region` for them:
  `MeanRatio`, `MeanDifference`, `Probability` (a mean against its prediction),
  `OneSided`, `Ordering`, `Identity` (bounds),
  `Exponents` (how a mean scales),
  `CriticalLocation`, `CriticalExponents` (where a success rate crosses a target, how that scales),
  `Share` (which of several is largest, cell by cell).
* `Control` plants a wrong theory, which the same data must refute.
* `Plot` says how the report draws the cells.

`python -m claims new NAME` writes an example. A rule can be tried without pytest, on any data:

>>> import numpy as np
>>> rule = MeanRatio(Region(0.9, 1.1))
>>> data = Sample(Cell(dim=2), {"value": np.random.default_rng(0).normal(4, 1, size=1000)})
>>> print(judge(rule.components([data], predict=lambda cell: cell["dim"] ** 2, alpha=1e-6)))
SUPPORTED
>>> print(judge(rule.components([data], predict=lambda cell: 3 * cell["dim"], alpha=1e-6)))
REFUTED
"""

from claims.engine.budget import Budget
from claims.engine.cell import Block, Cell, cells, grid
from claims.engine.claim import Claim, Control, Plot, Source, claim
from claims.engine.papers import add_paper
from claims.engine.region import Component, Interval, Region, Verdict, judge
from claims.engine.rules import (
    CriticalExponents,
    CriticalLocation,
    Exponents,
    Identity,
    MeanDifference,
    MeanRatio,
    OneSided,
    Ordering,
    Probability,
    Sample,
    Share,
)

__all__ = [
    "Block",
    "Budget",
    "Cell",
    "Claim",
    "Component",
    "Control",
    "CriticalExponents",
    "CriticalLocation",
    "Exponents",
    "Identity",
    "Interval",
    "MeanDifference",
    "MeanRatio",
    "OneSided",
    "Ordering",
    "Plot",
    "Probability",
    "Region",
    "Sample",
    "Share",
    "Source",
    "Verdict",
    "add_paper",
    "cells",
    "claim",
    "grid",
    "judge",
]
