"""Means and probabilities."""

import math

import numpy as np

import recall_claims as rc

from . import NEAR, Array, theorem

RATE = rc.ProportionDifference(rc.Region(-0.04, 0.04))


@theorem(
    "zoo.coupons",
    cells=rc.grid(n=(20, 60)),
    rule=rc.MeanRatio(NEAR),
    predict=lambda cell: cell["n"] * (math.log(cell["n"]) + np.euler_gamma) + 0.5,
    controls=(rc.times(1.15), rc.power("squared", n=0.2)),
)
def coupons(cell: rc.Cell, block: rc.Block) -> Array:
    """All of n coupons were drawn after n log n + 0.577 n draws."""
    n = cell["n"]
    return block.each(lambda rng: np.unique(rng.integers(n, size=40 * n), True)[1].max() + 1)


@theorem(
    "zoo.gaps",
    cells=rc.grid(n=(10, 40)),
    rule=rc.MeanRatio(NEAR),
    predict=lambda cell: (math.log(cell["n"]) + np.euler_gamma + 0.5 / cell["n"]) / cell["n"],
    controls=(rc.times(1.15), rc.power("no-logarithm", n=0.1)),
)
def gaps(cell: rc.Cell, block: rc.Block) -> Array:
    """The longest of n random parts of an interval is (log n + 0.577) / n of it."""
    return block.each(lambda rng: rng.dirichlet(np.ones(cell["n"])).max())


@theorem(
    "zoo.no-return",
    cells=rc.grid(n=(4, 32)),
    rule=RATE,
    predict=lambda cell: math.comb(2 * cell["n"], cell["n"]) / 4.0 ** cell["n"],
    controls=(rc.at("half", n=lambda cell: cell["n"] // 2),),
)
def no_return(cell: rc.Cell, block: rc.Block) -> Array:
    """The probability that a walk of 2 n steps never returns is C(2n, n) / 4^n."""
    return block.each(lambda rng: np.cumsum(rng.choice((-1, 1), 2 * cell["n"])).all())


@theorem(
    "zoo.least-norm",
    cells=rc.grid(n=(10, 20), p=(40,)),
    rule=rc.MeanRatio(NEAR),
    predict=lambda cell: cell["n"] / cell["p"],
    controls=(rc.times(1.15),),
)
def least_norm(cell: rc.Cell, block: rc.Block) -> Array:
    """The shortest solution of n random equations in p > n unknowns finds n / p of the signal."""

    def kept(rng: np.random.Generator) -> float:
        design = rng.normal(size=(cell["n"], cell["p"]))
        return float(np.linalg.lstsq(design, design[:, 0])[0][0])

    return block.each(kept)


@theorem(
    "zoo.arc-cosine",
    cells=rc.grid(correlation=(0.0, 0.6)),
    rule=rc.MeanDifference(rc.Region(-0.01, 0.01)),
    predict=lambda cell: (
        lambda c: (math.sqrt(1 - c * c) + c * (math.pi - math.acos(c))) / (2 * math.pi)
    )(cell["correlation"]),
    controls=(rc.times(1.15),),
)
def arc_cosine(cell: rc.Cell, block: rc.Block) -> Array:
    """Two inputs of correlation c have the arc-cosine kernel, in a layer of any width."""
    c = cell["correlation"]

    def kernel(rng: np.random.Generator) -> float:
        one, other = rng.normal(size=(2, 128))
        other = c * one + math.sqrt(1 - c * c) * other
        return float((np.maximum(one, 0) * np.maximum(other, 0)).mean())

    return block.each(kernel)
