"""The engine: regions, intervals, verdicts, and what it takes to run a claim.

A claim file needs the names below and nothing else.
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
    "Share",
    "Source",
    "Verdict",
    "add_paper",
    "cells",
    "claim",
    "grid",
    "judge",
]
