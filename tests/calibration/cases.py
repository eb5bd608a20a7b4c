"""Synthetic worlds for every decision rule."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from recall_claims import (
    Cell,
    CriticalExponents,
    CriticalLocation,
    Exponents,
    Identity,
    MeanDifference,
    MeanRatio,
    OneSided,
    Ordering,
    ProportionDifference,
    Region,
    WinnerShare,
    cells,
    grid,
)
from recall_claims.judge.methods import Array
from tests.calibration.harness import Case

ONE = grid(dim=16)
TWO = grid(dim=(16, 32))
PLANE = grid(length=(4, 16), dim=(8, 32))
MAP = grid(length=tuple(range(2, 12)))
# Both round to a whole number of points of the map: 9 and 8 of 10.
BARELY_TRUE, BARELY_FALSE = 0.901, 0.799
Noise = Callable[[np.random.Generator, int], Array]


def normal(rng: np.random.Generator, count: int) -> Array:
    """Mean 1, coefficient of variation 0.5."""
    return rng.normal(1.0, 0.5, count)


def lognormal(rng: np.random.Generator, count: int) -> Array:
    """Mean 1, log sd 0.5: skewness 1.75."""
    return rng.lognormal(-0.125, 0.5, count)


def squares(rng: np.random.Generator, count: int) -> Array:
    """Mean 1, one degree of freedom: skewness 2.8."""
    return rng.chisquare(1, count)


def mean_ratio(noise: Noise, first: int = 32, by: tuple[str, ...] | None = None) -> Case:
    """Observed over predicted; cells differ in scale."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        return {"value": truth * cell.number("dim") * noise(rng, count)}

    return Case(
        rule=MeanRatio(Region(0.8, 1.25), by=by),
        cells=TWO,
        draw=draw,
        predict=lambda cell: cell.number("dim"),
        true_edges=(0.8, 1.25),
        centre=1.0,
        first=first,
    )


def mean_difference(noise: Noise, first: int = 32) -> Case:
    """Observed minus predicted."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        return {"value": 3.0 + truth + noise(rng, count) - 1}

    return Case(
        rule=MeanDifference(Region(-0.2, 0.2)),
        cells=ONE,
        draw=draw,
        predict=lambda _: 3.0,
        true_edges=(-0.2, 0.2),
        centre=0.0,
        first=first,
    )


def probability(predicted: float, half_width: float, directions: tuple[int, ...] = (-1, 1)) -> Case:
    """Coin tosses."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        return {"value": (rng.random(count) < predicted + truth).astype(float)}

    return Case(
        rule=ProportionDifference(Region.around(0.0, half_width)),
        cells=ONE,
        draw=draw,
        predict=lambda _: predicted,
        true_edges=(-half_width, half_width),
        centre=0.0,
        directions=directions,
        first=64,
    )


def rates_in_the_unit_interval() -> Case:
    """Success rates of replicates, spread over [0, 1]."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        mean = 0.9 + truth
        return {"value": rng.beta(4 * mean, 4 * (1 - mean), count)}

    return Case(
        rule=ProportionDifference(Region.around(0.0, 0.03)),
        cells=ONE,
        draw=draw,
        predict=lambda _: 0.9,
        true_edges=(-0.03, 0.03),
        centre=0.0,
        directions=(-1,),
        first=64,
    )


def exponents(noise: Noise, first: int = 32) -> Case:
    """value ~ length^(-2 + truth) dim^1."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        mean = cell.number("length") ** (-2 + truth) * cell.number("dim")
        return {"value": mean * noise(rng, count)}

    return Case(
        rule=Exponents({"length": -2.0, "dim": 1.0}, half_width=0.2),
        cells=PLANE,
        draw=draw,
        true_edges=(-0.2, 0.2),
        centre=0.0,
        first=first,
    )


def critical_location() -> Case:
    """Success rates cross one half at samples = 100 truth, with a probit law in log samples.

    Replicates differ: each tosses five coins of its own shifted law.
    """

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        x = math.log(cell.number("samples") / (100 * truth))
        rate = stats.norm.cdf(2 * x + 0.5 * rng.normal(size=count))
        return {"value": rng.binomial(5, rate) / 5}

    return Case(
        rule=CriticalLocation(Region(0.9, 1 / 0.9)),
        cells=grid(samples=(50, 70, 100, 140, 200)),
        draw=draw,
        predict=lambda _: 100.0,
        true_edges=(0.9,),
        centre=1.0,
        directions=(-1,),
        first=12,
    )


def critical_exponents() -> Case:
    """samples at one half ~ dim^(-1.5 + truth) length^1."""
    scans = [(8, 4), (32, 4), (8, 16)]
    points = [
        {"dim": dim, "length": length, "samples": round(4000 * dim**-1.5 * length * step)}
        for dim, length in scans
        for step in (0.5, 0.7, 1.0, 1.4, 2.0)
    ]

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        dim = cell.number("dim")
        centre = 4000 * dim**-1.5 * (dim / 16) ** truth * cell.number("length")
        rate = stats.norm.cdf(2 * math.log(cell.number("samples") / centre))
        return {"value": (rng.random(count) < rate).astype(float)}

    return Case(
        rule=CriticalExponents({"dim": -1.5, "length": 1.0}, half_width=0.2),
        cells=cells(points),
        draw=draw,
        true_edges=(0.2,),
        centre=0.0,
        directions=(1,),
        first=32,
    )


def one_sided(noise: Noise) -> Case:
    """A mean of at most 1."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        return {"value": truth + noise(rng, count) - 1}

    return Case(
        rule=OneSided(upper=1.0),
        cells=ONE,
        draw=draw,
        true_edges=(1.0,),
        centre=0.5,
        directions=(1,),
    )


def ordering(noise: Noise) -> Case:
    """A paired difference above 0, of strongly correlated observables."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        common = 10 * rng.normal(size=count)
        return {"less": common, "more": common + truth + noise(rng, count) - 1}

    return Case(
        rule=Ordering("less", "more"),
        cells=TWO,
        draw=draw,
        true_edges=(0.0,),
        centre=0.5,
        directions=(-1,),
    )


def share() -> Case:
    """Ten points, three rivals; `truth` is the share of points that the theory gets right.

    At the edges the worlds are as hard as they can be. BARELY_TRUE: one point clearly wrong, all
    others right by nothing at all. BARELY_FALSE: two points wrong by nothing at all, all others
    clearly right.
    """

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        wrong = cell.number("length") < 2 + round((1 - truth) * len(MAP))
        gap = -2.0 if wrong else 2.0
        if (truth == BARELY_TRUE and not wrong) or (truth == BARELY_FALSE and wrong):
            gap = 0.0
        return {
            "first": gap + rng.normal(size=count),
            "second": rng.normal(size=count),
            "third": -5 + rng.normal(size=count),
        }

    return Case(
        rule=WinnerShare(Region(0.9, 1.0)),
        cells=MAP,
        draw=draw,
        predict=lambda _: "first",
        true_edges=(BARELY_TRUE,),
        false_edges=(BARELY_FALSE,),
        centre=1.0,
        first=16,
    )


def identity() -> Case:
    """Rounding errors of at most `truth`, which one replicate in eight reaches."""

    def draw(rng: np.random.Generator, cell: Cell, count: int, truth: float) -> dict[str, Array]:
        errors = rng.uniform(0, truth, count)
        errors[::8] = truth
        return {"error": errors}

    return Case(
        rule=Identity(1e-12),
        cells=TWO,
        draw=draw,
        true_edges=(1e-12,),
        false_edges=(1e-12 * (1 + 1e-9),),
        centre=1e-13,
        directions=(1,),
    )


CASES: dict[str, Case] = {
    "Identity": identity(),
    "MeanRatio, normal": mean_ratio(normal),
    "MeanRatio, skewness 1.75": mean_ratio(lognormal),
    "MeanRatio, skewness 2.8": mean_ratio(squares, first=128),
    "MeanRatio, pooled, skewness 1.75": mean_ratio(lognormal, by=()),
    "MeanDifference, skewness 1.75": mean_difference(lognormal),
    "Probability, coin of 0.5": probability(0.5, 0.1),
    "Probability, coin of 0.98": probability(0.98, 0.015, directions=(-1,)),
    "Probability, rates": rates_in_the_unit_interval(),
    "Exponents, normal": exponents(normal),
    "Exponents, skewness 1.75": exponents(lognormal),
    "CriticalLocation": critical_location(),
    "CriticalExponents": critical_exponents(),
    "OneSided, skewness 1.75": one_sided(lognormal),
    "Ordering, skewness 1.75": ordering(lognormal),
    "Share": share(),
}


def labels(name: str) -> tuple[str, str]:
    """The rule of a case, and its data in words."""
    return type(CASES[name].rule).__name__, name.partition(", ")[2]
