"""Sequential learning under gradient flow: relations first, then a plateau, then subjects.

The flow is deterministic. Its replicates start from values of every token shifted at random by an
amount that is common to all answers and that the theory says does not matter, or learn random
dictionaries, and so show that nothing but the sizes counts.
"""

import math
from collections import deque
from collections.abc import Iterable
from typing import Any

import torch

from recall_claims import (
    Block,
    Cell,
    Control,
    MeanDifference,
    MeanRatio,
    Plot,
    Region,
    Share,
    Source,
    cells,
    claim,
)
from simulation.factual import sequential_learning as learning
from theory.factual import sequential_learning as theory

SOURCE = Source("B", "B6", provenance="derived", reference="theory/factual/sequential_learning.py")
SMALL = 1e-5  # the published start
NAMES = ("subjects", "relations", "answers")
FLOW_STEPS = 500


def sizes(cell: Cell) -> theory.Sizes:
    """The sizes of a cell, as the theory takes them."""
    return theory.Sizes(**{name: cell[name] for name in NAMES})


def several(*points: tuple[int, int, int], **more: Any) -> tuple[Cell, ...]:
    """Cells of these numbers of subjects, relations and answers."""
    return cells({**dict(zip(NAMES, point, strict=True)), **more} for point in points)


def half_time(cell: Cell, stage: theory.Stage, scale: float = SMALL) -> float:
    """When half of a stage's loss is gone."""
    return theory.half_time(sizes(cell), stage, scale=scale)


def loss(cell: Cell, time: float, scale: float = SMALL) -> float:
    """The predicted loss at a time of the flow."""
    return theory.loss(sizes(cell), time, scale=scale)


def timed(points: Iterable[Cell], past: float = 1.2) -> tuple[Cell, ...]:
    """The cells with a duration of the flow: until well after the second stage."""
    return tuple(
        cell.replace(
            duration=round(past * max(half_time(cell, "relation"), half_time(cell, "subject")))
        )
        for cell in points
    )


def task(cell: Cell, block: Block) -> learning.Task:
    """The cell's task, with the published dictionary or random ones."""
    shape = [cell[name] for name in NAMES]
    if cell.get("dictionary") == "random":
        facts = [learning.random_dictionary(rng, *shape) for rng in block.rngs]
    else:
        facts = [learning.product_dictionary(*shape)] * block.replicates
    return learning.Task(facts, answers=shape[2], device=block.device, dtype=block.dtype)


def shifted(problem: learning.Task, block: Block) -> learning.Weights:
    """The published start, with a random shift of the values of each token."""
    tokens = problem.subjects + problem.relations + 2
    shifts = [torch.from_numpy(rng.standard_normal((tokens, 1))) for rng in block.rngs]
    return problem.start(SMALL, SMALL * torch.stack(shifts).to(problem.target))


def whole_flow(cell: Cell, block: Block) -> learning.Losses:
    """Losses along the flow."""
    problem = task(cell, block)
    start = shifted(problem, block)
    return learning.flow_losses(problem, start, duration=cell["duration"], steps=FLOW_STEPS)


def curve(cell: Cell, fractions: Iterable[float]) -> tuple[Cell, ...]:
    """The cell at these fractions of the second stage's half time."""
    last = max(half_time(cell, "relation"), half_time(cell, "subject"))
    return tuple(cell.replace(time=round(fraction * last, 2)) for fraction in fractions)


CURVE = curve(several((16, 4, 8))[0], (0.2, 0.3, 0.36, 0.385, 0.42, 0.6, 0.9, 1.0, 1.1, 1.3))
REVERSED = curve(several((4, 24, 4))[0], (0.3, 0.42, 0.47, 0.55, 0.75, 0.9, 1.0, 1.1, 1.3))


def common_shift_counts(cell: Cell) -> float:
    """The loss if equal values of all answers counted in the start."""
    return loss(cell, cell["time"], SMALL * math.sqrt(1 + cell["answers"] * cell["relations"]))


def stages_swapped(cell: Cell, time: float) -> float:
    """The loss if subjects were learned when relations are and vice versa."""
    problem = sizes(cell)
    parts: list[tuple[theory.Stage, theory.Stage]] = [
        ("relation", "subject"),
        ("subject", "relation"),
    ]
    return sum(
        theory.stage_loss(
            problem,
            stage,
            time * half_time(cell, stage) / half_time(cell, other),
            scale=SMALL,
        )
        for stage, other in parts
    )


def steps_only(cell: Cell) -> float:
    """A loss that falls at once at each half time."""
    problem = sizes(cell)
    stages: tuple[theory.Stage, ...] = ("relation", "subject")
    return sum(
        math.log(theory.choices(problem, stage))
        for stage in stages
        if half_time(cell, stage) > cell["time"]
    )


@claim(
    "B.flow-loss-curve",
    "The loss of the full flow is that of two equations solved in closed form",
    source=SOURCE,
    latex=r"L = \log(1+(R-1)e^{-q_R})+\log(1+(D-1)e^{-q_S}),\quad t=\frac1{2\lambda}\left["
    r"\mathrm{arsinh}\frac{2\sqrt c\,q}b+\frac{\mathrm{Ei}(q)-\log q-\gamma}K\right]",
    regime="product dictionaries, a start of 1e-5; sizes at which relations come first, and sizes "
    "at which subjects do",
    cells={"smoke": CURVE[2::4], "standard": CURVE + REVERSED, "full": CURVE + REVERSED},
    replicates=4,
    looks=1,
    predict=lambda cell: loss(cell, cell["time"]),
    rule=MeanDifference(Region(-5e-4, 5e-4)),
    why="the closed form is exact up to the square of the start; the integrator shifts "
    "times by 1e-6 of themselves, and the loss by 1e-4 where it is steepest",
    controls=(
        Control(
            "common-shift",
            "values equal for all answers count in the conserved quantity",
            predict=common_shift_counts,
        ),
        Control(
            "swapped",
            "subjects and relations change places",
            predict=lambda cell: stages_swapped(cell, cell["time"]),
        ),
        Control("plateau-only", "a step at each half time", predict=lambda cell: steps_only(cell)),
    ),
    plot=Plot(x="time", group=NAMES, y_label="loss"),
)
def flow_loss_curve(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """The flow of all attention weights and values reduces to one variable for the relations and
    one for the subjects, which do not see each other; noise, EOS and a common shift of values drop
    out."""
    problem = task(cell, block)
    path = learning.flow(problem, shifted(problem, block), duration=cell["time"], steps=600)
    (end,) = deque(path, maxlen=1)
    return {"value": problem.losses(end).total}


BOTH_ORDERS = several((16, 4, 8), (8, 2, 4), (32, 4, 4), (4, 16, 4), (8, 12, 8))


@claim(
    "B.flow-half-times",
    "When half of the relations' and of the subjects' loss is gone",
    source=SOURCE,
    latex=r"t_{1/2}=\frac1{2\lambda}\left[\mathrm{arsinh}\frac{2\sqrt c\,q_{1/2}}b+"
    r"\frac{\mathrm{Ei}(q_{1/2})-\log q_{1/2}-\gamma}K\right]",
    regime="product dictionaries, a start of 1e-5",
    cells={
        tier: timed(
            cell.replace(stage=stage) for stage in ("relation", "subject") for cell in BOTH_ORDERS
        )
        for tier in ("standard", "full")
    },
    replicates=2,
    looks=1,
    predict=lambda cell: half_time(cell, cell["stage"]),
    rule=MeanRatio(Region(0.998, 1.002)),
    why="the closed form is exact up to the square of the start; the integrator's step "
    "of a 500th of the time is interpolated linearly, an error of order 1e-4",
    controls=(
        Control(
            "growth-only",
            "exponential growth until q = 1 and no saturation",
            predict=lambda cell: (
                math.log(2 / SMALL**2)
                / 2
                / (theory.relation_rate if cell["stage"] == "relation" else theory.subject_rate)(
                    sizes(cell)
                )
            ),
        ),
        Control(
            "ten-times-the-start",
            "from a start of 1e-4",
            predict=lambda cell: half_time(cell, cell["stage"], 10 * SMALL),
        ),
    ),
    plot=Plot(kind="parity", y_label="half time", log="xy"),
)
def half_times(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Each stage takes 1/lambda times the logarithm of the start, plus a time to saturate."""
    path = getattr(whole_flow(cell, block), cell["stage"])
    return {"value": learning.half_step(path) * cell["duration"] / FLOW_STEPS}


@claim(
    "B.flow-time-ratio",
    "The stages are as far apart as their growth rates",
    source=SOURCE,
    latex=r"\frac{t_S}{t_R}\approx\frac{\lambda_R}{\lambda_S}=\frac S{\sqrt{RD}}"
    r"\sqrt{\frac{1-1/R}{1-1/D}}",
    regime="product dictionaries, a start of 1e-5; ratios from 0.5 to 8",
    cells={
        "smoke": timed(several((8, 2, 4))),
        "standard": timed(BOTH_ORDERS),
        "full": timed(BOTH_ORDERS),
    },
    replicates=2,
    looks=1,
    predict=lambda cell: theory.time_ratio(sizes(cell)),
    rule=MeanRatio(Region(0.96, 1.08)),
    why="the theory states -2% to +6% from the logarithms that differ between the stages",
    controls=(
        Control("simultaneous", "both at the same time", predict=lambda cell: 1.0),
        Control(
            "squared",
            "the square of the ratio of rates",
            predict=lambda cell: theory.time_ratio(sizes(cell)) ** 2,
        ),
        Control(
            "frequencies",
            "times inverse to how often a token is seen: S/R",
            predict=lambda cell: cell["subjects"] / cell["relations"],
        ),
    ),
    plot=Plot(kind="parity", y_label="ratio of half times", log="xy"),
)
def time_ratio(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Subjects are learned later than relations by the ratio of the growth rates."""
    losses = whole_flow(cell, block)
    return {"value": learning.half_step(losses.subject) / learning.half_step(losses.relation)}


ORDERS = several(
    (8, 4, 4), (8, 4, 8), (4, 8, 4), (4, 8, 2), (8, 12, 4), (8, 12, 8), (4, 12, 4), (2, 4, 2)
)


@claim(
    "B.flow-order",
    "Relations come first if S^2 (1 - 1/R) > R D (1 - 1/D), and subjects first if not",
    source=SOURCE,
    latex=r"t_R < t_S \iff S^2(1-1/R) > RD(1-1/D)",
    regime="product dictionaries on both sides of the boundary, some with fewer subjects than "
    "relations",
    cells={tier: timed(ORDERS) for tier in ("standard", "full")},
    replicates=2,
    looks=1,
    predict=lambda cell: theory.first(sizes(cell)),
    rule=Share(Region(0.9, 1.0)),
    why="the order is exact but for a few per cent in the ratio of times: it must be "
    "right at every point of this grid, which has none so near to the boundary",
    controls=(
        Control("relations-always", "relations come first", predict=lambda cell: "relation"),
        Control(
            "more-seen-first",
            "what occurs more often comes first: relations if S > R",
            predict=lambda cell: "relation" if cell["subjects"] > cell["relations"] else "subject",
        ),
    ),
    plot=Plot(kind="map", x="relations", group=("subjects",), log="x"),
)
def order(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Which stage comes first depends on the sizes: with many relations and few subjects the model
    learns from the subject alone before it looks at the relation. (Compared: 1/half time.)"""
    losses = whole_flow(cell, block)
    return {
        "relation": 1 / learning.half_step(losses.relation),
        "subject": 1 / learning.half_step(losses.subject),
    }
