"""Several steps as in paper E: a regularised polar factor of thresholded gradients (E3).

Item i has a frequency proportional to i^-a, and embeddings in d dimensions.
"""

import math
from dataclasses import replace
from functools import partial

import torch

import recall_claims as rc
from claims.common import claim, relaxing, table
from simulation.spectral import one_step as measured
from theory.spectral import several_steps as theory

DERIVED = rc.Source("E", "E3", provenance="derived", reference="theory/spectral/several_steps.py")
REPORTED = rc.Source("E", "E3", provenance="reported", reference="theory/spectral/several_steps.md")
RECALLED = rc.on(theory.recalled)
PLOT = rc.Plot(x="dim", group=("exponent", "steps"), y_label="items recalled", log="xy")
regularised = partial(measured.several_steps, rule="regularised")


def sizes(*rows: tuple[int, float, int]) -> tuple[rc.Cell, ...]:
    """Make cells of these dimensions, exponents and steps, with d^2 items."""
    return tuple(
        cell.replace(items=cell["dim"] ** 2) for cell in table("dim exponent steps", *rows)
    )


def one_fewer(cell: rc.Cell) -> float:
    """Predict the count after one fewer step or, if the cell has one step, half of the count."""
    if cell["steps"] == 1:
        return float(RECALLED(cell) / 2)
    return float(RECALLED(cell.replace(steps=cell["steps"] - 1)))


COUNTS = sizes((48, 1.5, 1), (48, 1.5, 2), (48, 2.0, 2), (64, 1.5, 3), (64, 2.0, 2), (64, 2.0, 3))


@claim(
    "E.several-steps-count",
    "One, two and three steps recall the predicted number of items, within 8%",
    source=DERIVED,
    predict=RECALLED,
    regime=theory.STEPS,
    size=lambda c: 0.012 * c["items"] ** 2,
    cells={"smoke": COUNTS[1:2], "standard": COUNTS},
    rule=rc.MeanRatio(rc.Region(0.92, 1.08)),
    why="""pilots (seed 1002) find 1.00 to 1.03 of the theory after one and two steps and 0.97 to
        1.02 after three; the rest is statistical""",
    replicates={"smoke": (48, 384), "standard": (64, 512)},
    controls=(
        rc.times(1.2),
        rc.times(0.8),
        rc.Control("one-fewer", "as after one fewer step", one_fewer),
    ),
    plot=PLOT,
)
def count(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """Recalled items drop out of the gradient. Each step recalls further items, whose signal comes
    from a self-consistent resolvent, and adds noise to all items."""
    return block.draw(regularised, cell)[0][:, -1]


@claim(
    "E.second-step-exponent",
    "At a = 1.5 two steps recall d^1.556 items",
    source=REPORTED,
    latex=r"N(2)\propto d^{2-(1-\frac1{2a})^2}",
    regime="a = 1.5, d^2 items, d = 32 and 96",
    cells={"standard": sizes((32, 1.5, 2), (96, 1.5, 2))},
    rule=rc.Exponents({"dim": 14 / 9}, 0.1),
    why="""The finite-size theory has 1.571 on this grid, and 1.291 after one step; runs under other
        seeds found 1.59. (At a = 2 the theory has 1.54, where 1.4375 is published: such sizes are
        too small there.)""",
    replicates=(48, 384),
    controls=(
        rc.Control("one-fewer", "as after one step", rule=rc.Exponents({"dim": 4 / 3}, 0.1)),
        rc.Control("limit", "as d^2", rule=rc.Exponents({"dim": 2.0}, 0.1)),
        rc.reads("rising", "no faster than after one step", "over_first"),
    ),
    plot=PLOT,
)
def second_step(cell: rc.Cell, block: rc.Block) -> dict[str, torch.Tensor]:
    """The second step recalls d^(2 - (1 - 1/(2a))^2) items, up to logarithms."""
    found = block.draw(regularised, cell)[0]
    return {"value": found[:, 1], "over_first": cell["dim"] ** (14 / 9) * found[:, 0] / found[:, 1]}


BOUNDED = (
    *sizes((64, 1.5, 3)),
    *(cell.replace(batch=batch) for batch in (64, 256) for cell in sizes((64, 1.5, 3))),
)
BOUND = 3.0
SHARES = rc.Betting(0, 12)
"""Range of a loss divided by its bound. The loss is at most 1. After three steps at d = 64 the
bound is at least 3 / sqrt(d_3), so the quotient is at most sqrt(d_3) / 3 = 11.5. We use no t
interval, because about one run in a thousand loses a head item, and then has a very large loss."""


@claim(
    "E.several-steps-loss",
    "After two steps the loss is at most 3 d_t^(1-a), on the population and batches",
    source=REPORTED,
    latex=r"\sum_{i\text{ missing}}p_i\le 3\,d_t^{1-a},\quad d_t=\min\{d^{2-(1-\frac1{2a})^t},"
    r"B^{1/a}\}",
    regime=theory.STEPS.searched(
        "a = 1.5; the population, and batches",
        exponent=(1.5,),
        steps=(3,),
        batch=(64, 128, 256, 512, 1024),
    ),
    size=lambda c: 0.012 * c["items"] ** 2,
    cells={"standard": BOUNDED},
    rule=rc.OneSided(upper=1.0, method=SHARES),
    why="""the paper has logarithms instead of our 3. In pilots (seed 1005) the loss is 1.7 and
        2.6 times d_t^(1-a) after one and two steps on the population. After three it is 7: some of
        the most frequent items are lost, as in the finite-size theory up to d = 200""",
    from_pilot=True,
    replicates=(64, 4096),
    controls=(
        rc.reads("third", "the bound holds after a third step, too", "third"),
        rc.reads("no-cap", "the bound needs no cap on batches", "no_cap"),
    ),
)
def loss(cell: rc.Cell, block: rc.Block) -> dict[str, torch.Tensor]:
    """The loss after t steps is at most of the order of d_t^(1-a). Here d_t is
    d^(2 - (1 - 1/(2a))^t), and at most B^(1/a) on batches of B samples. The control without this
    cap shows that there is a cap, but not that its exponent is exact: on batches the bound has a
    factor of 3.5 to spare."""
    missing = block.draw(regularised, cell)[1]
    dim, a, batch = cell["dim"], cell["exponent"], cell.get("batch", 0)

    def share(step: int, cap: float) -> torch.Tensor:
        rank = dim ** (2 - (1 - 1 / (2 * a)) ** step)
        found: torch.Tensor = missing[:, step - 1] / (BOUND * min(rank, cap) ** (1 - a))
        return found

    cap = batch ** (1 / a) if batch else float("inf")
    return {"value": share(2, cap), "third": share(3, cap), "no_cap": share(2, float("inf"))}


EXACT = sizes((32, 1.5, 2), (32, 1.5, 3), (32, 2.0, 3), (48, 1.5, 3), (48, 2.0, 2))
CAPPED = 1.5
"""Number of items per dimension at which each replicate's figure is cut off. The figures then have
a range, as betting requires, and betting needs no certificate. Means are at most 1.3 in the
standard cells, and 1.2 to 1.45 at d = 64. The cut can only lower them."""


@relaxing(
    "several thresholded steps",
    source=DERIVED,
    predict=lambda cell: float(RECALLED(cell) / cell["dim"]),
    latex=r"\frac1d\sum_iP\Big(\sum_{s<t}u_i^\top h_{\lambda_s}(G_s)v_i>\max_{j\ne i}"
    r"\sum_{s<t}u_j^\top h_{\lambda_s}(G_s)v_i\Big)",
    plot=replace(PLOT, y_label="items recalled per dimension", log="x"),
)(
    "E.beyond-thresholded",
    "Two or three steps along exact gradients recall at least 80% as many items",
    "thresholded gradients: exact ones",
    regime="the published schedule: lambda_t = p_1 d_(t+1)^(-a) sqrt(d), steps of 2 sqrt(d) at all "
    "d and t; d = 32 and 48, in the full tier d = 64; d^2 items",
    cells={"standard": EXACT, "full": (*EXACT, *sizes((64, 1.5, 3), (64, 2.0, 3)))},
    rule=rc.MeanRatio(rc.Region(0.8, math.inf), method=rc.Betting(0, CAPPED)),
    why="""A conjecture of the authors, for rates and up to logarithms; more items than thresholded
        steps recall would not contradict it. Of 32 pairs of constants in pilots (seed 1011, d = 32
        and 48, a = 1.5 and 2) this pair has the largest minimum of the ratio over one to four
        steps, 0.9. At d = 64 (seed 1012) the ratio is 0.9 to 1.04 after two and three steps. The
        rest, 0.1, is what the replicates resolve. Beyond this grid the third step's ratio at
        a = 1.5 falls: it is 0.82 at d = 96, and this step adds no items from d = 64 to 128. From
        d = 192 on the ratio is 0.93 and more, by one memory for each d.""",
    from_pilot=True,
    replicates=(96, 768),
    controls=(
        rc.reads("one-fewer", "as many after one fewer step", "before"),
        rc.times(1.4),
    ),
)
def exact(cell: rc.Cell, block: rc.Block) -> dict[str, torch.Tensor]:
    """Steps along exact gradients recall at least four fifths as many items as thresholded
    steps."""
    found = block.draw(regularised, cell, rate=2.0)[0] / cell["dim"]
    return {"value": found[:, -1].clamp(max=CAPPED), "before": found[:, -2].clamp(max=CAPPED)}
