"""Synthetic worlds in which designs are compared: a rule, its grid, and a truth that is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from recall_claims import (
    Cell,
    CriticalLocation,
    MeanDifference,
    MeanRatio,
    OneSided,
    Ordering,
    ProportionDifference,
    Region,
    grid,
)
from recall_claims.judge.methods import Array
from recall_claims.judge.rules import Predict, Rule

ONE = grid(dim=16)
TWO = grid(dim=(16, 32))
SKEWED = 512
"""Of powers of two, the first look from which a t rule keeps its promise at a skewness of 1.75."""
CRITICAL = 1000.0
SLOPES: Mapping[str, float] = {"CriticalLocation, slope 2": 2.0, "CriticalLocation, slope 9": 9.0}
"""Of a success rate's probit in the logarithm of the samples."""

Noise = Callable[[np.random.Generator, int], Array]
Draw = Callable[[np.random.Generator, Cell, int, float], Mapping[str, Array]]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A rule, a grid, and synthetic worlds in which the truth is known.

    Attributes:
        rule: the decision rule.
        cells: its grid.
        draw: ``draw(rng, cell, count, truth)`` gives `count` replicates of a world whose estimand
            has the value `truth`, on the scale of the rule's components.
        centre: the truth for which the theory is exactly right.
        edge: of the region, on the side on which the truth can lie.
        predict: the theory's prediction.
        first: replicates a cell at the first look.
        looks: how often the data may double, as a claim says it.
    """

    rule: Rule
    cells: tuple[Cell, ...]
    draw: Draw
    centre: float
    edge: float
    predict: Predict | None = None
    first: int = 16
    looks: int = 7

    @property
    def truths(self) -> tuple[float, float, float]:
        """Where the theory is right, wrong by twice what the region allows, and by four times."""
        margin = self.edge - self.centre
        return self.centre, self.centre + 2 * margin, self.centre + 4 * margin


def normal(rng: np.random.Generator, count: int) -> Array:
    """Mean 1, coefficient of variation 0.5."""
    return rng.normal(1.0, 0.5, count)


def lognormal(rng: np.random.Generator, count: int) -> Array:
    """Mean 1, log sd 0.5: skewness 1.75."""
    return rng.lognormal(-0.125, 0.5, count)


def mean_ratio(noise: Noise) -> Case:
    """Observed over predicted; cells differ in scale."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        return {"value": truth * cell.number("dim") * noise(rng, count)}

    return Case(
        rule=MeanRatio(Region(0.8, 1.25)),
        cells=TWO,
        draw=draw,
        predict=lambda cell: cell.number("dim"),
        centre=1.0,
        edge=1.25,
    )


def mean_difference(noise: Noise) -> Case:
    """Observed minus predicted, from as many replicates as skewed data need."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        return {"value": 3.0 + truth + noise(rng, count) - 1}

    return Case(
        rule=MeanDifference(Region(-0.2, 0.2)),
        cells=ONE,
        draw=draw,
        predict=lambda _: 3.0,
        centre=0.0,
        edge=0.2,
        first=SKEWED,
        looks=3,
    )


def one_sided(noise: Noise) -> Case:
    """A mean of at most 1, from as many replicates as skewed data need."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        return {"value": truth + noise(rng, count) - 1}

    rule = OneSided(upper=1.0)
    return Case(rule=rule, cells=ONE, draw=draw, centre=0.5, edge=1.0, first=SKEWED, looks=3)


def ordering(noise: Noise) -> Case:
    """A paired difference above 0, of strongly correlated observables."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        common = 10 * rng.normal(size=count)
        return {"less": common, "more": common + truth + noise(rng, count) - 1}

    return Case(rule=Ordering("less", "more"), cells=TWO, draw=draw, centre=0.5, edge=0.0)


def coin(predicted: float, half_width: float, side: int, first: int, looks: int) -> Case:
    """Coin tosses; the truth lies above (1) or below (-1) what is predicted."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        return {"value": (rng.random(count) < predicted + truth).astype(float)}

    return Case(
        rule=ProportionDifference(Region.around(0.0, half_width)),
        cells=ONE,
        draw=draw,
        predict=lambda _: predicted,
        centre=0.0,
        edge=side * half_width,
        first=first,
        looks=looks,
    )


def rates(concentration: float) -> Case:
    """Success rates of replicates of mean 0.9, spread over [0, 1] by a beta law."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        mean = 0.9 + truth
        return {"value": rng.beta(concentration * mean, concentration * (1 - mean), count)}

    return Case(
        rule=ProportionDifference(Region.around(0.0, 0.03)),
        cells=ONE,
        draw=draw,
        predict=lambda _: 0.9,
        centre=0.0,
        edge=-0.03,
        looks=8,
    )


def critical_location(slope: float) -> Case:
    """Success rates cross one half at samples = CRITICAL truth, by a probit law in log samples."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        rate = stats.norm.cdf(slope * math.log(cell.number("samples") / (CRITICAL * truth)))
        return {"value": (rng.random(count) < rate).astype(float)}

    return Case(
        rule=CriticalLocation(Region(0.8, 1.25)),
        cells=grid(samples=(790, 800, 1250, 1260)),
        draw=draw,
        predict=lambda _: CRITICAL,
        centre=1.0,
        edge=0.8,
        looks=8,
    )


CASES: dict[str, Case] = {
    "MeanRatio, normal": mean_ratio(normal),
    "MeanDifference, skewness 1.75": mean_difference(lognormal),
    "OneSided, skewness 1.75": one_sided(lognormal),
    "Ordering, normal": ordering(normal),
    "Probability, coin of 0.5": coin(0.5, 0.1, side=1, first=16, looks=8),
    "Probability, coin of 0.98": coin(0.98, 0.015, side=-1, first=64, looks=9),
    "Probability, rates of sd 0.13": rates(4),
    "Probability, rates of sd 0.03": rates(100),
    **{name: critical_location(slope) for name, slope in SLOPES.items()},
}
