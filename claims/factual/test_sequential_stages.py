"""Sequential learning under gradient flow: relations first, then a plateau, then subjects.

The flow is deterministic. Replicates differ in their start: a token's values are shifted by the
same amount for all answers. In the theory this shift does not matter, and replicates test this.
The half time of a stage is the time until half of its loss is gone.
"""

import math
from functools import partial

from torch import Tensor

import recall_claims as rc
from claims.factual import sequential
from claims.factual.common import NAMES, Triple, shapes
from claims.factual.sequential import SMALL, STAGES, end, shifted, task, timed, whole_flow
from simulation.factual import sequential_learning as learning
from theory.factual import sequential_learning as theory

flow_claim = partial(
    rc.claim, source=sequential.SEQUENTIAL, replicates=2, size=sequential.along_flow
)


def curve(sizes: Triple, *parts: float) -> tuple[rc.Cell, ...]:
    """Make a cell of these S, R and D at each of ``parts`` times the later stage's half time."""
    (cell,) = shapes(sizes)
    return tuple(
        cell.replace(time=round(part * max(sequential.stage_times(cell)), 2)) for part in parts
    )


CURVE = curve((16, 4, 8), 0.2, 0.36, 0.385, 0.42, 0.6, 0.9, 1.0, 1.1)
REVERSED = curve((4, 24, 4), 0.3, 0.42, 0.47, 0.55, 0.75, 0.9, 1.0, 1.1)


def steps_only(cell: rc.Cell) -> float:
    """Predict the loss as if it dropped in a step at each half time."""
    parts = zip((cell["relations"], cell["answers"]), sequential.stage_times(cell), strict=True)
    return sum(math.log(choices) for choices, end in parts if end > cell["time"])


@flow_claim(
    "B.flow-loss-curve",
    "Two equations solved in closed form give the loss of the full flow",
    predict=sequential.loss,
    latex=r"L = \log(1+(R-1)e^{-q_R})+\log(1+(D-1)e^{-q_S}),\quad t=\frac1{2\lambda}\left["
    r"\mathrm{arsinh}\frac{2\sqrt c\,q}b+\frac{\mathrm{Ei}(q)-\log q-\gamma}K\right]",
    regime=theory.CURVES.searched("on the grid, relations come first, or subjects do"),
    cells={"smoke": CURVE[2::4], "standard": CURVE + REVERSED},
    rule=rc.MeanDifference(rc.Region(-5e-4, 5e-4), method=rc.Deterministic()),
    why="nothing is drawn. The closed form is exact up to the square of the start; the integrator "
    "adds at most 1e-7 on the grid, and 5e-4 is the resolution asked for",
    controls=(
        rc.at(
            "common-shift",
            "the common shift of values counts in the conserved quantity",
            scale=lambda cell: SMALL * math.sqrt(1 + cell["answers"] * cell["relations"]),
        ),
        rc.Control("swapped", "subjects and relations change places", sequential.stages_swapped),
        rc.Control("plateau-only", "the loss drops in a step at each half time", steps_only),
        rc.at(
            "early",
            "the loss at a time earlier by a part in 12,500",
            time=lambda c: c["time"] * (1 - 8e-5),
        ),
    ),
    plot=rc.Plot(x="time", group=NAMES, y_label="loss (nats)"),
)
def flow_loss_curve(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The flow of all attention weights and values reduces to one variable for the relations and
    one for the subjects, which do not interact. Noise, EOS and a common shift of values drop
    out."""
    problem = task(cell, block)
    steps = max(600, round(cell["time"]))  # longer steps than 1 are unstable at the smallest sizes
    path = learning.flow(problem, shifted(problem), duration=cell["time"], steps=steps)
    return problem.losses(end(path)).total


BOTH_ORDERS = shapes((16, 4, 8), (8, 2, 4), (32, 4, 4), (4, 16, 4), (8, 12, 8))


def growth_only(cell: rc.Cell) -> float:
    """Predict the time at which a stage that grows exponentially has a logit q of order 1.

    There is no saturation in this growth.
    """
    rate = theory.relation_rate if cell["stage"] == "relation" else theory.subject_rate
    return math.log(2 / SMALL**2) / 2 / rate(theory.Sizes.of(cell))


@flow_claim(
    "B.flow-half-times",
    "The losses of relations and of subjects halve at the predicted times",
    predict=sequential.half_time,
    latex=r"t_{1/2}=\frac1{2\lambda}\left[\mathrm{arsinh}\frac{2\sqrt c\,q_{1/2}}b+"
    r"\frac{\mathrm{Ei}(q_{1/2})-\log q_{1/2}-\gamma}K\right]",
    regime=theory.BOTH_STAGES.searched(stage=STAGES),
    cells={
        "standard": timed(cell.replace(stage=stage) for stage in STAGES for cell in BOTH_ORDERS)
    },
    rule=rc.MeanRatio(rc.Region(0.998, 1.002), method=rc.Deterministic()),
    why="the closed form is exact up to the square of the start; times are interpolated "
    "linearly between the integrator's 500 steps, with an error of order 1e-4",
    controls=(
        rc.Control(
            "growth-only", "exponential growth until q is near 1, no saturation", growth_only
        ),
        rc.at("ten-times-the-start", "from a start of 1e-4", scale=10 * SMALL),
        rc.at("a-larger-start", "from a start 5% larger", scale=1.05 * SMALL),
    ),
    plot=rc.Plot("parity", y_label="half time", log="xy"),
)
def half_times(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The time until half of a stage's loss is gone has two parts. The stage first grows from its
    small start at a rate lambda, which takes 1/lambda times a logarithm. Then the stage
    saturates."""
    path = getattr(whole_flow(cell, task(cell, block)), cell["stage"])
    return learning.half_step(path) * cell.number("duration") / sequential.FLOW_STEPS


TIME_RATIO = rc.on(theory.Sizes, theory.time_ratio)


@flow_claim(
    "B.flow-time-ratio",
    "The half times of the stages are as far apart as their growth rates",
    source=rc.Source("B", "B6"),
    predict=TIME_RATIO,
    cells={"smoke": timed(shapes((8, 2, 4))), "standard": timed(BOTH_ORDERS)},
    rule=rc.MeanRatio(rc.Region(0.98, 1.06), method=rc.Deterministic()),
    why="the theory states errors of -2% to +6%, from logarithms that differ between the stages",
    controls=(
        rc.times(1.1),
        rc.Control("simultaneous", "both stages at the same time", lambda cell: 1.0),
        rc.Control(
            "squared", "the square of the ratio of growth rates", lambda c: TIME_RATIO(c) ** 2
        ),
        rc.Control(
            "frequencies",
            "S/R, the ratio of how often each is seen",
            lambda c: c["subjects"] / c["relations"],
        ),
    ),
    plot=rc.Plot("parity", y_label="ratio of half times", log="xy"),
)
def time_ratio(cell: rc.Cell, block: rc.Block) -> Tensor:
    """The half time of the subjects' loss over the half time of the relations' loss is, to within
    6%, the inverse of the ratio of their growth rates."""
    losses = whole_flow(cell, task(cell, block))
    return learning.half_step(losses.subject) / learning.half_step(losses.relation)


ORDERS = shapes(
    (8, 4, 4), (8, 4, 8), (4, 8, 4), (4, 8, 2), (8, 12, 4), (8, 12, 8), (4, 12, 4), (2, 4, 2)
)


@flow_claim(
    "B.flow-order",
    "Relations come first if S^2 (1 - 1/R) > R D (1 - 1/D), and subjects first if not",
    predict=rc.on(theory.Sizes, theory.first),
    latex=r"t_R < t_S \iff S^2(1-1/R) > RD(1-1/D)",
    regime=theory.ORDERED.searched("the grid has both sides of the boundary"),
    cells={"standard": timed(ORDERS)},
    rule=rc.WinnerShare(rc.Region(0.9, 1.0), method=rc.Deterministic()),
    why="the predicted ratio of times is off by a few per cent. No point of this grid is so near "
    "to the boundary, so the order must be right at every point",
    controls=(
        rc.Control(
            "relations-always", "relations come first at all sizes", lambda cell: "relation"
        ),
        rc.Control(
            "more-seen-first",
            "what occurs more often comes first: relations if S > R",
            lambda cell: "relation" if cell["subjects"] > cell["relations"] else "subject",
        ),
    ),
    plot=rc.Plot("map", x="relations", group=("subjects",), log="x"),
)
def order(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """The sizes decide which stage comes first: with many relations and few subjects the model
    first learns from the subject alone, and then from the relation. (Numbers compared: 1 over each
    half time.)"""
    losses = whole_flow(cell, task(cell, block))
    return {name: 1 / learning.half_step(path) for name, path in vars(losses).items()}
