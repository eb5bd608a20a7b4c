"""Limits, exponents, where something sets in, and bounds."""

import math

import numpy as np

import recall_claims as rc

from . import NEAR, Array, theorem


@theorem(
    "zoo.half-life",
    cells=rc.grid(n=(5, 11, 21)),
    rule=rc.Limit(NEAR, along="n"),
    predict=lambda cell: math.log(2),
    controls=(rc.times(1.15), rc.times(0.87)),
)
def half_life(cell: rc.Cell, block: rc.Block) -> Array:
    """The mean of the median of n exponential times tends to log 2."""
    return block.each(lambda rng: np.median(rng.exponential(size=cell["n"])))


@theorem(
    "zoo.wishart-edge",
    cells=rc.grid(n=(16, 32, 64)),
    rule=rc.Limit(NEAR, along="n", order=2 / 3),
    predict=lambda cell: (1 + math.sqrt(0.5)) ** 2,
    controls=(rc.times(1.2), rc.times(0.85)),
    replicates=(256, 8192),
)
def wishart_edge(cell: rc.Cell, block: rc.Block) -> Array:
    """The largest eigenvalue of a sample covariance of n / 2 coordinates tends to 2.914."""
    n = cell["n"]
    return block.each(
        lambda rng: np.linalg.norm(rng.normal(size=(n // 2, n)) / math.sqrt(n), 2) ** 2
    )


@theorem(
    "zoo.spike",
    cells=rc.grid(spike=(2.0, 3.0), n=(16, 32, 64)),
    rule=rc.Limit(NEAR, along="n"),
    predict=lambda cell: (1 - 0.5 / cell["spike"] ** 2) / (1 + 0.5 / cell["spike"]),
    controls=(rc.times(1.15), rc.Control("few", "as if p << n", predict=lambda cell: 1.0)),
    regime="p = n / 2; s above the threshold sqrt(p / n) of Baik, Ben Arous and Peche",
)
def spike(cell: rc.Cell, block: rc.Block) -> Array:
    """The first eigenvector's squared overlap with a spike s is (1 - g/s^2)/(1 + g/s), g = p/n."""
    n = cell["n"]
    scales = np.sqrt(1 + cell["spike"] * (np.arange(n // 2) == 0))[:, None]
    return block.each(
        lambda rng: np.linalg.svd(scales * rng.normal(size=(n // 2, n)))[0][0, 0] ** 2
    )


@theorem(
    "zoo.hopfield",
    cells=rc.ladder(
        [{"neurons": 800}], "patterns", lambda cell: 0.138 * cell["neurons"], (0.9, 1.1, 1.35)
    ),
    rule=rc.CriticalLocation(rc.Region(0.9, 1.35), scan="patterns", rising=False),
    predict=lambda cell: 0.138 * cell["neurons"],
    controls=(rc.times(0.65), rc.times(1.6)),
    regime="800 neurons: the limit is approached from above, and still a fifth away",
    replicates=(32, 1024),
)
def hopfield(cell: rc.Cell, block: rc.Block) -> Array:
    """A Hopfield network of n neurons recalls 0.138 n patterns, each to an overlap above 0.9."""
    n = cell["neurons"]

    def recalled(rng: np.random.Generator) -> bool:
        stored = rng.choice((-1.0, 1.0), (cell["patterns"], n))
        state = stored[0]
        for _ in range(20):
            state = np.where(stored.T @ (stored @ state) > cell["patterns"] * state, 1.0, -1.0)
        return bool(state @ stored[0] > 0.9 * n)

    return block.each(recalled)


@theorem(
    "zoo.random-walk",
    cells=rc.grid(steps=(64, 256, 1024)),
    rule=rc.Exponents({"steps": 0.5}, half_width=0.05),
    controls=(rc.power(steps=0.15), rc.power(steps=-0.15)),
)
def random_walk(cell: rc.Cell, block: rc.Block) -> Array:
    """A random walk ends at a mean distance of sqrt(2 steps / pi) from its start."""
    return block.each(lambda rng: abs(2 * rng.binomial(cell["steps"], 0.5) - cell["steps"]))


def crowd(cell: rc.Cell) -> float:
    return 0.5 + math.sqrt(0.25 + 2 * math.log(2) * cell["days"])


def shared(cell: rc.Cell, block: rc.Block) -> Array:
    people, days = cell["people"], cell["days"]
    return block.each(lambda rng: np.unique(rng.integers(days, size=people)).size < people)


@theorem(
    "zoo.birthday-exponent",
    cells=lambda: rc.ladder(
        [{"days": 64}, {"days": 4096}], "people", crowd, (0.75, 0.85, 1.15, 1.3)
    ),
    rule=rc.CriticalExponents({"days": 0.5}, half_width=0.15, scan="people"),
    controls=(rc.power(days=0.3), rc.power(days=-0.3)),
)
def birthday_exponent(cell: rc.Cell, block: rc.Block) -> Array:
    """The crowd in which two share a birthday half of the time grows as the root of the days."""
    return shared(cell, block)


@theorem(
    "zoo.hoeffding",
    cells=rc.grid(n=(25, 50), t=(0.1,)),
    rule=rc.OneSided(upper=0.0, method=rc.Betting(0, 1)),
    predict=lambda cell: math.exp(-2 * cell["n"] * cell["t"] ** 2),
    controls=(rc.times(0.25),),
)
def hoeffding(cell: rc.Cell, block: rc.Block) -> Array:
    """A mean of n coins is at least 1/2 + t with probability at most exp(-2 n t^2)."""
    n = cell["n"]
    return block.each(lambda rng: rng.binomial(n, 0.5) >= n * (0.5 + cell["t"]))


@theorem(
    "zoo.two-choices",
    cells=rc.grid(bins=(32,)),
    rule=rc.Ordering(smaller="two", larger="one", margin=0.5),
    controls=(
        rc.Control("reversed", "choices harm", rule=rc.Ordering(smaller="one", larger="two")),
    ),
    replicates=(256, 8192),
)
def two_choices(cell: rc.Cell, block: rc.Block) -> dict[str, Array]:
    """The fullest of n bins holds fewer balls if each of n balls takes the emptier of two random
    bins than if it takes one random bin.
    """
    n = cell["bins"]

    def fullest(rng: np.random.Generator, choices: int) -> int:
        load = np.zeros(n, dtype=int)
        for bins in rng.integers(n, size=(n, choices)).tolist():
            load[min(bins, key=load.__getitem__)] += 1
        return int(load.max())

    drawn = np.array([[fullest(rng, 1), fullest(rng, 2)] for rng in block.rngs], dtype=float)
    return {"one": drawn[:, 0], "two": drawn[:, 1]}


@theorem(
    "zoo.parseval",
    cells=rc.grid(n=(64, 100)),
    rule=rc.Identity(1e-12),
    controls=(rc.reads("unscaled", "without the factor 1 / n", "unscaled"),),
    replicates=16,
)
def parseval(cell: rc.Cell, block: rc.Block) -> dict[str, Array]:
    """A Fourier transform multiplies the sum of squares by the number of values."""

    def off(rng: np.random.Generator) -> tuple[float, float]:
        values = rng.normal(size=cell["n"])
        energy = (abs(np.fft.fft(values)) ** 2).sum() / (values**2).sum()
        return energy / cell["n"] - 1, energy - 1

    error, unscaled = block.each(off).T
    return {"error": error, "unscaled": unscaled}


DICE = ((2, 4, 9), (1, 6, 8), (3, 5, 7))


@theorem(
    "zoo.dice",
    cells=rc.grid(first=(0, 1, 2)),
    rule=rc.WinnerShare(rc.Region(0.9, 1.0), method=rc.Betting(0, 1)),
    predict=lambda cell: "first",
    controls=(
        rc.Control(
            "transitive",
            "the first beats the last",
            predict=lambda cell: "second" if cell["first"] == 2 else "first",
        ),
    ),
)
def dice(cell: rc.Cell, block: rc.Block) -> dict[str, Array]:
    """Each of the dice 2 4 9, 1 6 8 and 3 5 7 shows more than the next with probability 5/9."""
    one, next_one = DICE[cell["first"]], DICE[(cell["first"] + 1) % 3]
    wins = block.each(lambda rng: rng.choice(one) > rng.choice(next_one))
    return {"first": wins, "second": 1 - wins}
