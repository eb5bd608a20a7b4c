"""Sequential learning: the plateau between the stages, and what the model answers on it."""

import math
from collections import deque
from collections.abc import Iterable

import torch

from claims.factual.test_sequential_stages import (
    SOURCE,
    half_time,
    several,
    shifted,
    sizes,
    task,
    timed,
    whole_flow,
)
from recall_claims import Block, Cell, Control, MeanDifference, Plot, Region, claim
from simulation.factual import sequential_learning as learning
from theory.factual import sequential_learning as theory


@claim(
    "B.flow-plateau",
    "Between the stages the loss stays at log D, or at log R in the reversed order",
    source=SOURCE,
    latex=r"L_{plateau}=\log D\ (t_R<t_S),\qquad \log R\ (t_S<t_R)",
    regime="product dictionaries; times of the stages at least a factor 2 apart",
    cells={
        "smoke": timed(several((8, 2, 4))),
        "standard": timed(several((16, 4, 8), (8, 2, 4), (32, 4, 4), (4, 24, 4))),
        "full": timed(several((16, 4, 8), (8, 2, 4), (32, 4, 4), (4, 64, 4))),
    },
    replicates=2,
    looks=1,
    predict=lambda cell: theory.plateau(sizes(cell)),
    rule=MeanDifference(Region(-0.03, 0.03)),
    why="the first stage leaves (1 - 1/K)/(2 lambda q t) of its loss, 0.01 to 0.02 at these sizes",
    controls=(
        Control(
            "other-stage",
            "log R where relations come first, log D where subjects do",
            predict=lambda cell: (
                math.log(cell["answers"] * cell["relations"]) - theory.plateau(sizes(cell))
            ),
        ),
        Control(
            "half-way",
            "half of the initial loss",
            predict=lambda cell: math.log(cell["answers"] * cell["relations"]) / 2,
        ),
    ),
    plot=Plot(kind="parity", y_label="flattest loss"),
)
def flow_plateau(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Once the first of relation and subject is learned, the loss stays at the logarithm of the
    number of answers that it leaves open."""
    return {"value": learning.flattest(whole_flow(cell, block))}


UNEVEN = timed(several((24, 2, 6), (16, 4, 4), dictionary="random"), past=1.4)


@claim(
    "B.flow-plateau-random",
    "With random dictionaries the plateau is the entropy of the answer given the relation",
    source=SOURCE,
    latex=r"L_{plateau} = E\,H(p(\cdot|r)) \approx \log D-\frac{D-1}{2S}",
    regime="random dictionaries; relations at least four times as fast as subjects",
    cells={"smoke": UNEVEN[:1], "standard": UNEVEN, "full": UNEVEN},
    replicates=64,
    looks=4,
    predict=lambda cell: theory.random_plateau(sizes(cell)),
    rule=MeanDifference(Region(-0.04, 0.04)),
    why="the remainder of the first stage, 0.01 to 0.02 as for product dictionaries, and "
    "what the replicates can tell; log D is 0.1 away",
    controls=(
        Control("log-D", "log D", predict=lambda cell: math.log(cell["answers"])),
        Control("log-R", "log R", predict=lambda cell: math.log(cell["relations"])),
    ),
    plot=Plot(kind="parity", y_label="flattest loss"),
)
def flow_plateau_random(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """A random dictionary uses the answers of a relation unevenly. The plateau is then at the
    entropy that remains once the relation is known, clearly below log D."""
    return {"value": learning.flattest(whole_flow(cell, block))}


def between(points: Iterable[Cell]) -> tuple[Cell, ...]:
    """The cells at the geometric mean of the half times."""
    return tuple(
        cell.replace(
            duration=round(math.sqrt(half_time(cell, "relation") * half_time(cell, "subject")))
        )
        for cell in points
    )


HALLUCINATION = MeanDifference(Region(-0.04, 0.04))


@claim(
    "B.flow-hallucination",
    "On the plateau the model answers from the relation alone",
    source=SOURCE,
    latex=r"\frac1{SR}\sum_{s,r}\left|\hat p(\cdot|s,r)-p(\cdot|r)\right|_{TV}\approx 0",
    regime="the geometric mean of the half times, which are a factor 2 or more apart; product "
    "and random dictionaries",
    cells={
        "smoke": between(several((8, 2, 4))),
        "standard": between(
            several((16, 4, 8), (8, 2, 4), (32, 4, 4)) + several((32, 4, 4), dictionary="random")
        ),
        "full": between(
            several((16, 4, 8), (8, 2, 4), (32, 4, 4)) + several((32, 4, 4), dictionary="random")
        ),
    },
    replicates=16,
    looks=1,
    predict=lambda cell: 0.0,
    rule=HALLUCINATION,
    why="the remainder of the relations' loss, 0.01 to 0.02, is about the probability "
    "outside the block; the subjects' first growth adds as much",
    controls=tuple(
        Control(
            name,
            f"the model answers {words}",
            rule=MeanDifference(HALLUCINATION.region, observable=name),
        )
        for name, words in (
            ("subject", "from the subject alone"),
            ("nothing", "from the frequencies of answers alone"),
            ("fact", "with the right answer"),
        )
    ),
    plot=Plot(kind="parity", y_label="total variation"),
)
def hallucination(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Between the stages the model's prediction for every fact is that of its relation: uniform
    over the relation's D answers in a product dictionary, whoever the subject is."""
    problem = task(cell, block)
    path = learning.flow(problem, shifted(problem, block), duration=cell["duration"], steps=400)
    (end,) = deque(path, maxlen=1)
    found = learning.distances(problem, end)
    return {
        "value": found.relation,
        "subject": found.subject,
        "nothing": found.nothing,
        "fact": found.fact,
    }
