"""Limits, exponents, where something sets in, and bounds."""

import math

import numpy as np

import recall_claims as rc

from . import Array, each, theorem

NEAR = rc.Region(0.94, 1.06)


@theorem(
    "zoo.semicircle",
    "The fourth moment of a symmetric random matrix tends to Catalan's 2",
    cells=rc.grid(n=(8, 16, 32)),
    rule=rc.Limit(NEAR, along="n"),
    predict=lambda cell: 2.0,
    controls=(rc.times(1.2), rc.times(0.8)),
    replicates=512,
)
def semicircle(cell: rc.Cell, block: rc.Block) -> Array:
    """The mean fourth power of an eigenvalue is 2 + 5 / n + 5 / n^2, and 2 in the limit."""
    n = cell["n"]

    def moment(rng: np.random.Generator) -> float:
        drawn = rng.normal(size=(n, n))
        square = (drawn + drawn.T) @ (drawn + drawn.T) / (2 * n)
        return float((square**2).sum() / n)

    return each(block, moment)


@theorem(
    "zoo.wishart-edge",
    "The largest eigenvalue of a sample covariance tends to (1 + sqrt(p / n))^2",
    cells=rc.grid(n=(16, 32, 64)),
    rule=rc.Limit(NEAR, along="n", order=2 / 3),
    predict=lambda cell: (1 + math.sqrt(0.5)) ** 2,
    controls=(rc.times(1.2), rc.times(0.85)),
    replicates=256,
)
def wishart_edge(cell: rc.Cell, block: rc.Block) -> Array:
    """With p = n / 2 normal coordinates and n samples; the correction is of order n^(-2/3)."""
    n = cell["n"]
    return each(
        block, lambda rng: np.linalg.norm(rng.normal(size=(n // 2, n)) / math.sqrt(n), 2) ** 2
    )


@theorem(
    "zoo.spike",
    "The first eigenvector of a sample covariance finds a spike up to a fixed angle",
    cells=rc.grid(spike=(2.0, 3.0), n=(16, 32, 64)),
    rule=rc.Limit(NEAR, along="n"),
    predict=lambda cell: (1 - 0.5 / cell["spike"] ** 2) / (1 + 0.5 / cell["spike"]),
    controls=(rc.times(1.15), rc.Control("few", "as if p << n", predict=lambda cell: 1.0)),
    regime="p = n / 2; above the spike sqrt(p / n) of Baik, Ben Arous and Peche",
)
def spike(cell: rc.Cell, block: rc.Block) -> Array:
    """The squared overlap tends to (1 - g / s^2) / (1 + g / s), with g = p / n and the spike s."""
    n = cell["n"]
    scales = np.sqrt(1 + cell["spike"] * (np.arange(n // 2) == 0))[:, None]
    return each(
        block, lambda rng: np.linalg.svd(scales * rng.normal(size=(n // 2, n)))[0][0, 0] ** 2
    )


@theorem(
    "zoo.hopfield",
    "A Hopfield network of n neurons recalls 0.138 n patterns",
    cells=rc.ladder(
        [{"neurons": 800}], "patterns", lambda cell: 0.138 * cell["neurons"], (0.9, 1.1, 1.35)
    ),
    rule=rc.CriticalLocation(rc.Region(0.9, 1.35), scan="patterns", rising=False),
    predict=lambda cell: 0.138 * cell["neurons"],
    controls=(rc.times(0.65), rc.times(1.6)),
    regime="800 neurons: the limit is approached from above, and still a fifth away",
    replicates=32,
)
def hopfield(cell: rc.Cell, block: rc.Block) -> Array:
    """From a stored pattern on, the network stays near it, at an overlap above 0.9."""
    n = cell["neurons"]

    def recalled(rng: np.random.Generator) -> bool:
        stored = rng.choice((-1.0, 1.0), (cell["patterns"], n))
        state = stored[0]
        for _ in range(20):
            state = np.where(stored.T @ (stored @ state) > cell["patterns"] * state, 1.0, -1.0)
        return bool(state @ stored[0] > 0.9 * n)

    return each(block, recalled)


@theorem(
    "zoo.random-walk",
    "A random walk gets as far as the square root of its steps",
    cells=rc.grid(steps=(64, 256, 1024)),
    rule=rc.Exponents({"steps": 0.5}, half_width=0.05),
    controls=(rc.power(steps=0.15), rc.power(steps=-0.15)),
)
def random_walk(cell: rc.Cell, block: rc.Block) -> Array:
    """The mean distance from the start is sqrt(2 steps / pi)."""
    return each(block, lambda rng: abs(2 * rng.binomial(cell["steps"], 0.5) - cell["steps"]))


def crowd(cell: rc.Cell) -> float:
    return 0.5 + math.sqrt(0.25 + 2 * math.log(2) * cell["days"])


def shared(cell: rc.Cell, block: rc.Block) -> Array:
    people, days = cell["people"], cell["days"]
    return each(block, lambda rng: np.unique(rng.integers(days, size=people)).size < people)


@theorem(
    "zoo.birthday-crossing",
    "Half of the crowds of sqrt(2 log 2 days) people share a birthday",
    cells=lambda: rc.ladder([{"days": 365}], "people", crowd, (0.7, 0.85, 1.0, 1.15, 1.4)),
    rule=rc.CriticalLocation(rc.Region(0.85, 1.15), scan="people"),
    predict=crowd,
    controls=(rc.times(1.4), rc.times(0.75)),
)
def birthday_crossing(cell: rc.Cell, block: rc.Block) -> Array:
    """The probability that two share a birthday rises through 1/2 at 23 people."""
    return shared(cell, block)


@theorem(
    "zoo.birthday-exponent",
    "The crowd that shares a birthday grows as the square root of the days",
    cells=lambda: rc.ladder(
        [{"days": 64}, {"days": 4096}], "people", crowd, (0.75, 0.85, 1.15, 1.3)
    ),
    rule=rc.CriticalExponents({"days": 0.5}, half_width=0.15, scan="people"),
    controls=(rc.power(days=0.3), rc.power(days=-0.3)),
)
def birthday_exponent(cell: rc.Cell, block: rc.Block) -> Array:
    """Pairs of people count, so that days grow as the square of the crowd."""
    return shared(cell, block)


@theorem(
    "zoo.hoeffding",
    "A mean of n coins exceeds 1/2 + t at most with probability exp(-2 n t^2)",
    cells=rc.grid(n=(25, 50), t=(0.1,)),
    rule=rc.OneSided(upper=0.0, method=rc.Betting(0, 1)),
    predict=lambda cell: math.exp(-2 * cell["n"] * cell["t"] ** 2),
    controls=(rc.times(0.25),),
)
def hoeffding(cell: rc.Cell, block: rc.Block) -> Array:
    """Hoeffding's inequality, which is off by a factor of two to four here."""
    n = cell["n"]
    return each(block, lambda rng: rng.binomial(n, 0.5) >= n * (0.5 + cell["t"]))


@theorem(
    "zoo.two-choices",
    "Who may choose between two bins fills none as high",
    cells=rc.grid(bins=(32,)),
    rule=rc.Ordering(smaller="two", larger="one", margin=0.5),
    controls=(
        rc.Control("reversed", "choices harm", rule=rc.Ordering(smaller="one", larger="two")),
    ),
    replicates=256,
)
def two_choices(cell: rc.Cell, block: rc.Block) -> dict[str, Array]:
    """Of n balls in n bins, the fullest bin has more if balls go to one random bin than to the
    emptier of two."""
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
    "A Fourier transform keeps the sum of squares",
    cells=rc.grid(n=(64, 100)),
    rule=rc.Identity(1e-12),
    controls=(rc.reads("unscaled", "without the factor 1 / n", "unscaled"),),
    replicates=16,
    looks=1,
)
def parseval(cell: rc.Cell, block: rc.Block) -> dict[str, Array]:
    """The squares of a transform add up to n times those of the values."""

    def off(rng: np.random.Generator) -> tuple[float, float]:
        values = rng.normal(size=cell["n"])
        energy = (abs(np.fft.fft(values)) ** 2).sum() / (values**2).sum()
        return energy / cell["n"] - 1, energy - 1

    error, unscaled = each(block, off).T
    return {"error": error, "unscaled": unscaled}


DICE = ((2, 4, 9), (1, 6, 8), (3, 5, 7))


@theorem(
    "zoo.dice",
    "Each of three dice is beaten by another",
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
    """Of 2 4 9, 1 6 8 and 3 5 7 each shows more than the next with probability 5/9."""
    one, next_one = DICE[cell["first"]], DICE[(cell["first"] + 1) % 3]
    wins = each(block, lambda rng: rng.choice(one) > rng.choice(next_one))
    return {"first": wins, "second": 1 - wins}
