"""How large a mean or a probability is."""

import math

import numpy as np

import recall_claims as rc

from . import Array, each, theorem

NEAR = rc.Region(0.94, 1.06)
RATE = rc.ProportionDifference(rc.Region(-0.04, 0.04))


def harmonic(n: int) -> float:
    return float(np.sum(1 / np.arange(1, n + 1)))


@theorem(
    "zoo.coupons",
    "All of n coupons are there after n log n + 0.577 n draws",
    cells=rc.grid(n=(20, 60)),
    rule=rc.MeanRatio(NEAR),
    predict=lambda cell: cell["n"] * (math.log(cell["n"]) + np.euler_gamma) + 0.5,
    controls=(rc.times(1.15), rc.power("squared", n=0.2)),
)
def coupons(cell: rc.Cell, block: rc.Block) -> Array:
    """The mean number of draws until each of n coupons was drawn is n H_n."""
    n = cell["n"]
    return each(block, lambda rng: np.unique(rng.integers(n, size=40 * n), True)[1].max() + 1)


@theorem(
    "zoo.birthdays",
    "Two of 23 people share a birthday with probability 0.507",
    cells=rc.grid(people=(15, 23)),
    rule=RATE,
    predict=lambda cell: 1 - math.prod(1 - i / 365 for i in range(cell["people"])),
    controls=(rc.at("more-people", people=lambda cell: round(1.3 * cell["people"])),),
)
def birthdays(cell: rc.Cell, block: rc.Block) -> Array:
    """All birthdays differ with probability prod (1 - i / 365)."""
    people = cell["people"]
    return each(block, lambda rng: np.unique(rng.integers(365, size=people)).size < people)


@theorem(
    "zoo.derangements",
    "A permutation has no fixed point with probability 1 / e",
    cells=rc.grid(n=(12,)),
    rule=RATE,
    predict=lambda cell: 1 / math.e,
    controls=(rc.times(1.2),),
)
def derangements(cell: rc.Cell, block: rc.Block) -> Array:
    """The share of permutations without fixed points tends to 1 / e faster than any power."""
    return each(block, lambda rng: (rng.permutation(cell["n"]) != np.arange(cell["n"])).all())


@theorem(
    "zoo.gaps",
    "The longest of n gaps is H_n / n long",
    cells=rc.grid(n=(10, 40)),
    rule=rc.MeanRatio(NEAR),
    predict=lambda cell: harmonic(cell["n"]) / cell["n"],
    controls=(rc.times(1.15), rc.times(0.87)),
)
def gaps(cell: rc.Cell, block: rc.Block) -> Array:
    """n - 1 uniform points cut an interval into n parts, the longest of mean length H_n / n."""
    return each(
        block, lambda rng: np.diff(np.sort(rng.random(cell["n"] - 1)), prepend=0, append=1).max()
    )


@theorem(
    "zoo.no-return",
    "A walk of 2 n steps never returns with probability C(2n, n) / 4^n",
    cells=rc.grid(n=(4, 32)),
    rule=RATE,
    predict=lambda cell: math.comb(2 * cell["n"], cell["n"]) / 4.0 ** cell["n"],
    controls=(rc.at("half", n=lambda cell: cell["n"] // 2),),
)
def no_return(cell: rc.Cell, block: rc.Block) -> Array:
    """The probability not to return to zero in 2 n steps is that of being there at the end."""
    return each(block, lambda rng: np.cumsum(rng.choice((-1, 1), 2 * cell["n"])).all())


@theorem(
    "zoo.least-norm",
    "The interpolator of least norm finds n / p of the signal",
    cells=rc.grid(n=(10, 20), p=(40,)),
    rule=rc.MeanRatio(NEAR),
    predict=lambda cell: cell["n"] / cell["p"],
    controls=(rc.times(1.15),),
)
def least_norm(cell: rc.Cell, block: rc.Block) -> Array:
    """Of n normal equations in p > n unknowns, the least solution keeps n / p of the square."""

    def kept(rng: np.random.Generator) -> float:
        design = rng.normal(size=(cell["n"], cell["p"]))
        return float(np.linalg.lstsq(design, design[:, 0])[0][0])

    return each(block, kept)


@theorem(
    "zoo.arc-cosine",
    "Two inputs of a wide layer have the arc-cosine kernel",
    cells=rc.grid(correlation=(0.0, 0.6)),
    rule=rc.MeanDifference(rc.Region(-0.01, 0.01)),
    predict=lambda cell: (
        lambda c: (math.sqrt(1 - c * c) + c * (math.pi - math.acos(c))) / (2 * math.pi)
    )(cell["correlation"]),
    controls=(rc.times(1.15),),
)
def arc_cosine(cell: rc.Cell, block: rc.Block) -> Array:
    """Rectified normal values of correlation c have this mean product, at any width."""
    c = cell["correlation"]

    def kernel(rng: np.random.Generator) -> float:
        one, other = rng.normal(size=(2, 128))
        other = c * one + math.sqrt(1 - c * c) * other
        return float((np.maximum(one, 0) * np.maximum(other, 0)).mean())

    return each(block, kernel)
