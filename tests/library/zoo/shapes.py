"""Quantiles, variances, functions of means, and whole laws."""

import math

from scipy import stats

import recall_claims as rc

from . import WIDE, Array, theorem


@theorem(
    "zoo.johnson-lindenstrauss",
    cells=rc.grid(k=(8, 32)),
    rule=rc.Variance(WIDE),
    predict=lambda cell: 2 / cell["k"],
    controls=(rc.times(1.25), rc.times(0.8)),
)
def johnson_lindenstrauss(cell: rc.Cell, block: rc.Block) -> Array:
    """A random projection to k dimensions keeps squared lengths up to a variance of 2 / k."""
    return block.each(lambda rng: (rng.normal(size=cell["k"]) ** 2).mean())


@theorem(
    "zoo.last-coupon",
    cells=rc.grid(n=(50, 200)),
    rule=rc.Quantile(rc.Region(0.975, 1.025)),
    predict=lambda cell: math.log(cell["n"]) - math.log(math.log(2)),
    controls=(rc.times(1.06), rc.at("as-the-mean", n=lambda cell: 1.25 * cell["n"])),
)
def last_coupon(cell: rc.Cell, block: rc.Block) -> Array:
    """The largest of n exponential times has the median log n - log log 2."""
    return block.each(lambda rng: rng.exponential(size=cell["n"]).max())


@theorem(
    "zoo.chi-squared",
    cells=rc.grid(n=(10,)),
    rule=rc.Several({str(level): rc.Quantile(WIDE, level) for level in (0.1, 0.5, 0.9)}),
    predict=lambda cell: {
        str(level): float(stats.chi2(cell["n"]).ppf(level)) for level in (0.1, 0.5, 0.9)
    },
    controls=(rc.times(1.2), rc.at("three-degrees-less", n=7)),
)
def chi_squared(cell: rc.Cell, block: rc.Block) -> Array:
    """The sum of n squared normal values has the quantiles of chi-squared."""
    return block.each(lambda rng: (rng.normal(size=cell["n"]) ** 2).sum())


@theorem(
    "zoo.gumbel",
    cells=rc.grid(n=(200,)),
    rule=rc.Law(0.05),
    predict=lambda cell: stats.gumbel_r().cdf,
    controls=(rc.Control("normal", "normal", predict=lambda cell: stats.norm(0.37, 1.28).cdf),),
)
def gumbel(cell: rc.Cell, block: rc.Block) -> Array:
    """The largest of n exponential times, less log n, has Gumbel's law, up to 1 / n."""
    return block.each(lambda rng: rng.exponential(size=cell["n"]).max() - math.log(cell["n"]))


@theorem(
    "zoo.kurtosis",
    cells=rc.grid(n=(1, 3)),
    rule=rc.Functional(rc.Region(-0.12, 0.12), formula="fourth / second**2"),
    predict=lambda cell: 3 - 1.2 / cell["n"],
    controls=(rc.times(1.15), rc.Control("normal", "normal", predict=lambda cell: 3.0)),
)
def kurtosis(cell: rc.Cell, block: rc.Block) -> dict[str, Array]:
    """The sum of n uniform values has the kurtosis 3 - 1.2 / n, for cumulants add up."""
    total = block.each(lambda rng: (rng.random(cell["n"]) - 0.5).sum())
    return {"second": total**2, "fourth": total**4}


@theorem(
    "zoo.ratio-of-means",
    cells=rc.grid(on=(1.0, 3.0), off=(2.0,)),
    rule=rc.Functional(rc.Region(-0.03, 0.03), formula="on / (on + off)"),
    predict=lambda cell: cell["on"] / (cell["on"] + cell["off"]),
    controls=(rc.times(1.2),),
)
def ratio_of_means(cell: rc.Cell, block: rc.Block) -> dict[str, Array]:
    """A machine that works for a mean time a, and rests for b, works for a share a / (a + b)."""
    return {
        "on": block.each(lambda rng: rng.exponential(cell["on"])),
        "off": block.each(lambda rng: rng.gamma(2, cell["off"] / 2)),
    }
