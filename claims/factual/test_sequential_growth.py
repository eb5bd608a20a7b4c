"""Sequential learning: conservation laws of gradient flow, and growth from a small start.

There are S subjects, and R relations with D answers each. A token z has the attention weight w_z.
"""

import math
from collections.abc import Callable, Iterable
from functools import partial

from torch import Tensor

import recall_claims as rc
from claims.common import measuring
from claims.factual.common import Triple, shapes
from claims.factual.sequential import FLOW_STEPS, SEQUENTIAL, along_flow, end, shifted, task, timed
from simulation.factual import sequential_learning as learning
from simulation.streams import Streams
from theory.factual import sequential_learning as theory

growth_claim = partial(rc.claim, source=SEQUENTIAL)
CONSERVED = shapes((4, 2, 2), (8, 4, 4), dictionary="random", duration=100.0)


@growth_claim(
    "B.flow-conservation",
    "Each token conserves its squared attention weight less the squared norm of its values",
    latex=r"\frac{\mathrm{d}}{\mathrm{d}t}\left(w_z^2-|V_z|^2\right) = 0",
    regime=theory.RANDOM.searched(
        "noise and EOS move too; the whole flow, from a random start of order 0.1 until the facts "
        "are learned",
        duration=(100.0, 50.0, 25.0),
    ),
    size=lambda c: 16 * along_flow(c),
    cells={"smoke": CONSERVED[:1], "standard": CONSERVED},
    replicates=4,
    rule=rc.Identity(1e-7),
    why="the integrator's steps of h at rates up to 0.5 add at most (0.5 h)^4/120 times the "
    "growth: 1e-8, a tenth of the region",
    controls=(
        rc.reads("sum", "the sum of the squares is conserved", "sum"),
        rc.reads("values", "values stay as they are", "values"),
        rc.reads(
            "large-steps", "large steps of gradient descent conserve the difference too", "descent"
        ),
    ),
)
def conservation(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """Along gradient flow the square of each token's attention weight, less the squared norm of its
    values, stays constant."""
    problem = task(cell, block)
    shape = problem.start(0.1).values.shape[1:]
    start = problem.start(0.1, 0.1 * Streams.like(block.rngs, problem.target).normal(*shape))
    uniform = 1 / (problem.subjects * problem.relations)
    last = end(learning.flow(problem, start, duration=cell["duration"], steps=1500))
    one_step = start.moved(problem.gradient(start, uniform), 1.0)
    squares = 2 * (last.attention**2 - start.attention**2)
    return {
        "error": (last.imbalance - start.imbalance).abs().amax(1),
        "sum": (squares - (last.imbalance - start.imbalance)).abs().amax(1),
        "values": (last.values - start.values).abs().amax((1, 2)),
        "descent": (one_step.imbalance - start.imbalance).abs().amax(1),
    }


RATES: dict[str, Callable[[rc.Cell], float]] = {
    "relation": lambda cell: theory.relation_rate(theory.Sizes.of(cell)) ** 2,
    "subject": lambda cell: theory.subject_rate(theory.Sizes.of(cell)) ** 2,
    "relation, random": rc.on(theory.Sizes, theory.random_relation_square_rate),
    "EOS, random": rc.on(theory.Sizes, theory.background_square_rate),
    "noise, random": rc.on(theory.Sizes, theory.background_square_rate, count=29 / 20),
}
OTHER = {"relation": "subject", "subject": "relation"}
EVEN, RANDOM = tuple(RATES)[:2], tuple(RATES)[2:]


def square_rate(cell: rc.Cell) -> float:
    """Predict the mean square growth rate of the cell's token."""
    return RATES[cell["token"]](cell)


def growth_time(cell: rc.Cell) -> float:
    """Estimate the e-folding time of the cell's token; the true time is up to 1.5 times as long."""
    name, S, R, D = cell["token"], cell["subjects"], cell["relations"], cell["answers"]
    if name in OTHER:
        return theory.growth_time(cell, name)
    if name == "relation, random":
        return float(R / math.sqrt(1 / D + 1 / S))
    return float(math.sqrt(S * R) * (20 / 29 if name == "noise, random" else 1))


def growing(tokens: Iterable[str], *triples: Triple, **more: str) -> tuple[rc.Cell, ...]:
    """Make cells for tokens, with the time in which each grows by a factor of about cosh(2)."""
    found = [cell for token in tokens for cell in shapes(*triples, token=token, **more)]
    return tuple(c.replace(duration=round(2 / math.sqrt(square_rate(c)), 2)) for c in found)


def observed_square_rate(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Measure the mean square growth rate over the tokens of one kind."""
    problem, duration = task(cell, block), cell["duration"]
    start = problem.start(1e-9)
    last = end(learning.flow(problem, start, duration=duration, steps=12))
    squares = learning.growth_rates(start, last, duration) ** 2
    first = ("subject", "relation", "EOS", "noise").index(cell["token"].split(",")[0])
    bounds = (0, problem.subjects, problem.subjects + problem.relations, -1, None)
    return squares[:, bounds[first] : bounds[first + 1]].mean(1)


early = measuring(
    observed_square_rate,
    partial(
        growth_claim,
        predict=square_rate,
        plot=rc.Plot("parity", y_label="square growth rate", log="xy"),
    ),
)


def no_uniform_part(cell: rc.Cell) -> float:
    """Predict the square rate as if the model did not start from a uniform prediction."""
    choices = cell.number("relations" if cell["token"] == "relation" else "answers")
    return square_rate(cell) / (1 - 1 / choices)


early_growth = early(
    "B.flow-early-growth",
    "Relations and subjects grow exponentially from a small start, at their own rates",
    """From a small start the attention weight of a token grows as cosh(lambda t). The rate lambda
    measures how much the token alone says about the answer, times how often it occurs.""",
    latex=r"w_z = w_0\cosh\lambda_zt,\quad \lambda_r=\frac1R\sqrt{\frac{1-1/R}D},\quad "
    r"\lambda_s=\frac1S\sqrt{\frac{1-1/D}R}",
    regime=theory.EARLY.searched(
        "lambda t of at most 3, when predictions are still uniform to 1e-10",
        holds=lambda cell: 1.45 <= cell["duration"] / growth_time(cell) <= 2.9,
        token=EVEN,
    ),
    size=along_flow,
    cells={
        "smoke": growing(EVEN, (16, 4, 8)),
        "standard": growing(EVEN, (16, 4, 8), (8, 2, 4), (4, 16, 4)),
        "full": growing(EVEN, (16, 4, 8), (8, 2, 4), (4, 64, 4)),
    },
    replicates=2,
    rule=rc.MeanRatio(rc.Region(0.999, 1.001), method=rc.Deterministic()),
    why="the integrator's error is 1e-5 on the grid and below 1e-4 in the regime; 0.1% is the "
    "resolution asked for",
    controls=(
        rc.times(1.0025),
        rc.at("swapped", "subjects and relations change places", token=lambda c: OTHER[c["token"]]),
        rc.Control("no-uniform-part", "|p(.|z)| instead of |p(.|z) - 1/RD|", no_uniform_part),
    ),
)


def even_dictionary(cell: rc.Cell) -> float:
    """Predict a relation's square rate as in a product dictionary, and other tokens' as 1/(S R)."""
    if cell["token"] == "relation, random":
        return square_rate(cell.replace(token="relation"))
    return 1 / (cell.number("subjects") * cell.number("relations"))


early_growth_random = early(
    "B.flow-early-growth-random",
    "With random dictionaries noise and EOS grow too, at rates set by their frequency",
    """A random dictionary uses answers unevenly. Then relations grow faster than in a product
    dictionary, and tokens that say nothing grow too, by how often they occur in a prompt. A
    prompt has 29 noise tokens, of 20 kinds.""",
    latex=r"\lambda_z^2 = E[n_z]^2\frac{1-1/D}{SR},\quad \lambda_r^2 = \frac1{R^2}\left(\frac1D+"
    r"\frac{1-1/D}S-\frac1{RD}\right)",
    regime=theory.EARLY_RANDOM.searched(
        "lambda t of at most 3, when predictions are still uniform",
        holds=lambda cell: 1.45 <= cell["duration"] / growth_time(cell) <= 2.9,
        token=RANDOM,
    ),
    size=lambda c: 5 * along_flow(c),
    cells={
        "smoke": growing(RANDOM, (8, 2, 4), dictionary="random"),
        "standard": growing(RANDOM[:1], (8, 2, 4), (12, 4, 3), dictionary="random")
        + growing(RANDOM[1:2], (12, 4, 3), dictionary="random")
        + growing(RANDOM[2:], (8, 2, 4), dictionary="random"),
        "full": growing(RANDOM, (8, 2, 4), (12, 4, 3), (16, 4, 4), dictionary="random"),
    },
    replicates=(512, 8192),
    rule=rc.MeanRatio(rc.Region(0.92, 1.08)),
    why="the means over dictionaries are exact; 8% is what the replicates resolve. A dictionary's "
    "rate varies by half of the mean, and can be S times the mean. On such a range bets would need "
    "far more than the 512 dictionaries of a t interval",
    controls=(
        rc.times(1.18),
        rc.Control(
            "even-dictionary",
            "relations as in a product dictionary; noise as fast as EOS, and EOS without 1 - 1/D",
            even_dictionary,
        ),
    ),
)


@growth_claim(
    "B.flow-background",
    "In a product dictionary noise tokens and EOS learn nothing",
    latex=r"G_z = E[n_z]\left(p(a)-E\hat p_a\right) = 0",
    regime=theory.BOTH_STAGES.searched("all answers equally frequent"),
    size=lambda c: 2 * along_flow(c),
    cells={"standard": timed(shapes((16, 4, 8), (4, 16, 4))), "full": timed(shapes((16, 4, 8)))},
    replicates=2,
    rule=rc.Identity(1e-9),
    why="rounding errors in sums over answers, relative to the start",
    controls=(
        rc.reads("relation", "relations learn nothing either", "relation"),
        rc.reads("subject", "subjects learn nothing either", "subject"),
        rc.reads(
            "random-dictionary",
            "noise tokens and EOS learn nothing in random dictionaries either",
            "random_dictionary",
        ),
    ),
)
def background(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """If answers are equally frequent, tokens without information keep their attention weights.
    So neither the length of a prompt nor the number of noise tokens matters."""

    def growth(cell: rc.Cell) -> Tensor:
        problem = task(cell, block)
        start = shifted(problem)
        path = learning.flow(problem, start, duration=cell["duration"], steps=FLOW_STEPS)
        return (end(path).attention / start.attention - 1).abs()

    even, s, r = growth(cell), cell["subjects"], cell["relations"]
    return {
        "error": even[:, s + r :].amax(1),
        "subject": even[:, :s].amin(1),
        "relation": even[:, s : s + r].amin(1),
        "random_dictionary": growth(cell.replace(dictionary="random"))[:, s + r :].amin(1),
    }
