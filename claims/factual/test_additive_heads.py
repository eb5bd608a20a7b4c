"""The limit of attention without an MLP: in which dimensions codes exist at all."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from recall_claims import (
    Block,
    Cell,
    Control,
    CriticalLocation,
    Plot,
    Region,
    Source,
    claim,
    on,
    scan,
)
from simulation.factual import additive_heads as measured
from theory.factual import additive_heads

SUBJECT_DIM = on(additive_heads.subject_dim)
RELATION_DIM = on(additive_heads.relation_dim)
REASON = """The kinematic formula puts the centre of the transition within about one dimension of
    the statistical dimension, 2 to 3% of the 30 to 53 dimensions of the standard grids and 7% of
    the 14 of the smoke tier's one shape; the prediction's own draws add 0.5%."""


def around(dim: Callable[[Cell], float], *shapes: tuple[int, int]) -> tuple[Cell, ...]:
    """Cells of these R and D at multiples of the predicted dimension."""
    settings = [Cell(relations=r, answers=d) for r, d in shapes]
    return scan(settings, "dim", dim, (0.85, 0.93, 1.0, 1.08, 1.17))


SUBJECTS = ((80, 2), (40, 4), (24, 8), (16, 16))
RELATIONS = ((4, 32), (8, 16), (32, 8))


@claim(
    "B.additive-subject-code",
    "A subject's code exists from d = R delta_0(D) on",
    source=Source("B", "B4"),
    predict=SUBJECT_DIM,
    latex=r"d = R\,\delta_0(D),\quad \delta_0 = E\,\mathrm{dist}^2(g,\{x: x_1\ge x_j\})",
    regime="the statistical dimension is sharp for d of 28 and more (the smoke tier's one shape "
    "has 14); D from 2 to 16",
    cells=lambda: {
        "smoke": around(SUBJECT_DIM, (8, 8)),
        "standard": around(SUBJECT_DIM, *SUBJECTS),
        "full": around(SUBJECT_DIM, *SUBJECTS, (64, 8), (32, 32)),
    },
    replicates=32,
    rule=CriticalLocation(Region(0.92, 1.08), scan="dim"),
    why=REASON,
    controls=(
        Control(
            "asymptotic",
            "2 ln D in place of delta_0(D)",
            lambda cell: 2 * cell["relations"] * math.log(cell["answers"]),
        ),
        Control("one-each", "a dimension per answer", lambda cell: cell["relations"]),
    ),
    plot=Plot(x="dim", group=("relations", "answers"), collapse=True, log=""),
)
def subject_code(cell: Cell, block: Block) -> Tensor:
    """Without an MLP, some code prefers a subject's R answers to their D - 1 rivals each if, and up
    to a narrow transition only if, there are R delta_0(D) dimensions: half a dimension per answer
    for D = 2, about 2 ln D for large D."""
    return torch.tensor([measured.subject_code_exists(rng, **cell) for rng in block.rngs])


@claim(
    "B.additive-relation-code",
    "A relation's code exists from its statistical dimension on",
    source=Source("B", "B4"),
    predict=RELATION_DIM,
    regime="the statistical dimension is sharp for d of 30 and more; D from 8 to 32",
    cells=lambda: {
        "standard": around(RELATION_DIM, *RELATIONS),
        "full": around(RELATION_DIM, *RELATIONS, (16, 32), (64, 8)),
    },
    replicates=32,
    rule=CriticalLocation(Region(0.92, 1.08), scan="dim"),
    why=REASON,
    controls=(
        Control("one-each", "a dimension per answer of the block", lambda cell: cell["answers"]),
        Control(
            "separation",
            "half the answers, as for separating them at random",
            lambda cell: cell["relations"] * cell["answers"] / 2,
        ),
    ),
    plot=Plot(x="dim", group=("relations", "answers"), collapse=True, log=""),
)
def relation_code(cell: Cell, block: Block) -> Tensor:
    """Some code puts all D answers of a relation above the (R - 1) D others from the statistical
    dimension of that ordering on: 1.6 D at R = 4, D = 32, and 3.8 D at R = 32, D = 8."""
    return torch.tensor([measured.relation_code_exists(rng, **cell) for rng in block.rngs])
