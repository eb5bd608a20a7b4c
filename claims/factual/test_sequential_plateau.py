"""Sequential learning: the plateau between the stages, and the model's answers there."""

import math
from collections.abc import Iterable
from functools import partial

from torch import Tensor

import recall_claims as rc
from claims.factual.common import shapes
from claims.factual.sequential import (
    SEQUENTIAL,
    along_flow,
    end,
    shifted,
    stage_times,
    task,
    timed,
    whole_flow,
)
from simulation.factual import sequential_learning as learning
from theory.factual import sequential_learning as theory

plateau_claim = partial(rc.claim, source=SEQUENTIAL, replicates=2, size=along_flow)
PLATEAU = rc.on(theory.Sizes, theory.plateau)


def initial_loss(cell: rc.Cell) -> float:
    """Compute the loss of a uniform prediction."""
    return math.log(cell["answers"] * cell["relations"])


@plateau_claim(
    "B.flow-plateau",
    "Between the stages the loss stays at log D, or at log R in the reversed order",
    source=rc.Source("B", "B6"),
    predict=PLATEAU,
    cells={
        "smoke": timed(shapes((8, 2, 4))),
        "standard": timed(shapes((16, 4, 8), (8, 2, 4), (32, 4, 4), (4, 24, 4))),
        "full": timed(shapes((16, 4, 8), (8, 2, 4), (32, 4, 4), (4, 64, 4))),
    },
    rule=rc.MeanDifference(rc.Region(-0.01, 0.03), method=rc.Deterministic()),
    why="the first stage still leaves up to 0.02 nats at these sizes, less what the second stage "
    "has begun to learn; nothing is drawn",
    controls=(
        rc.Control(
            "other-stage",
            "log R and log D exchanged",
            lambda c: initial_loss(c) - PLATEAU(c),
        ),
        rc.Control("half-way", "half of the initial loss", lambda cell: initial_loss(cell) / 2),
        rc.Control("below", "a plateau lower by 0.03 nats", lambda c: PLATEAU(c) - 0.03),
    ),
    plot=rc.Plot("parity", y_label="loss on the plateau (nats)"),
)
def flow_plateau(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Once the model has learned either the relation or the subject, the loss stays for a while at
    the logarithm of the number of answers still possible."""
    return learning.flattest(whole_flow(cell, task(cell, block)))


UNEVEN = timed(shapes((24, 2, 6), (16, 4, 4), dictionary="random"), past=1.4)


@plateau_claim(
    "B.flow-plateau-random",
    "With random dictionaries the plateau is the entropy of the answer given the relation",
    latex=r"L_{plateau} = \frac1R\sum_r\mathrm{entropy}(p(\cdot|r))",
    regime="random dictionaries; relations at least four times as fast as subjects",
    cells={"smoke": UNEVEN[:1], "standard": UNEVEN},
    replicates=(10, 160),
    rule=rc.OneSided(lower=0.5, method=rc.Betting()),
    why="a plateau counts if it is within 0.03 of its dictionary's entropy. The first stage leaves "
    "up to 0.02, as in product dictionaries. More than half must count: a dictionary has no "
    "plateau if its two stages happen to coincide",
    controls=(
        rc.reads("log-D", "the plateau is log D", "at_log_D"),
        rc.reads("log-R", "the plateau is log R", "at_log_R"),
    ),
    plot=rc.Plot(
        x="subjects", group=("relations", "answers"), y_label="share of runs at the entropy"
    ),
)
def flow_plateau_random(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """A random dictionary uses the answers of a relation unevenly. In most dictionaries the plateau
    is then at the entropy of the answer given the relation, and clearly below log D."""
    problem = task(cell, block)
    flattest = learning.flattest(whole_flow(cell, problem))
    levels: dict[str, Tensor | float] = {
        "value": learning.open_entropy(problem),
        "at_log_D": math.log(cell["answers"]),
        "at_log_R": math.log(cell["relations"]),
    }
    return {name: (flattest - level).abs() <= 0.03 for name, level in levels.items()}


def between(points: Iterable[rc.Cell]) -> tuple[rc.Cell, ...]:
    """Set the durations of cells to the geometric mean of the half times."""
    return tuple(
        cell.replace(duration=round(math.sqrt(math.prod(stage_times(cell))))) for cell in points
    )


THREE = shapes((16, 4, 8), (8, 2, 4), (32, 4, 4))


@plateau_claim(
    "B.flow-hallucination",
    "On the plateau the model answers from the relation alone",
    latex=r"\frac1{SR}\sum_{s,r}\left|\hat p(\cdot|s,r)-p(\cdot|r)\right|_{\mathrm{TV}}\approx 0",
    regime=theory.BETWEEN.searched("on the grid, at the geometric mean of the half times"),
    cells={"smoke": between(THREE[1:2]), "standard": between(THREE)},
    rule=rc.OneSided(upper=0.03, method=rc.Deterministic()),
    why="the remainder of the relations' loss, up to 0.02, is about the probability outside the "
    "block, and the subjects' growth adds 2e-4; nothing is drawn",
    controls=(
        rc.reads("subject", "the model answers from the subject alone", "subject"),
        rc.reads("nothing", "the model answers from the frequencies of answers alone", "nothing"),
        rc.reads("fact", "the model answers with the right answer", "fact"),
    ),
    plot=rc.Plot(x="subjects", group=("relations", "answers"), y_label="total variation distance"),
)
def hallucination(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """Between the stages the model predicts every fact from its relation alone. With a product
    dictionary the prediction is uniform over the relation's D answers, for every subject."""
    problem = task(cell, block)
    path = learning.flow(problem, shifted(problem), duration=cell["duration"], steps=400)
    found = learning.distances(problem, end(path))
    return {"value": found.pop("relation"), **found}
