"""The limit of attention without an MLP: in which dimensions codes exist at all."""

import math
from collections.abc import Iterable, Mapping

import torch

from recall_claims import Block, Cell, Control, CriticalLocation, Plot, Region, Source, cells, claim
from simulation.factual import additive_heads as measured
from theory.factual import additive_heads

SOURCE = Source("B", "B4", provenance="derived", reference="theory/factual/additive_heads.py")
FACTORS = (0.85, 0.93, 1.0, 1.08, 1.17)
REASON = """The kinematic formula puts the centre of the transition within about one dimension of
    the statistical dimension, 2 to 3% of the 30 to 53 dimensions of the standard grids and 7% of
    the 14 of the smoke tier's one shape; the prediction's own draws add 0.5%."""


def subject_dim(cell: Cell) -> float:
    """The predicted dimension from which a subject's code exists."""
    return additive_heads.subject_dim(cell["relations"], cell["answers"])


def relation_dim(cell: Cell) -> float:
    """The predicted dimension from which a relation's code exists."""
    return additive_heads.relation_dim(cell["relations"], cell["answers"])


def across(shapes: Iterable[tuple[int, int]], *, relation: bool = False) -> tuple[Cell, ...]:
    """Cells at multiples of the predicted dimension."""
    half = relation_dim if relation else subject_dim
    settings = [Cell(relations=r, answers=d) for r, d in shapes]
    return cells(s.replace(dim=round(f * half(s))) for s in settings for f in FACTORS)


SUBJECTS = [(80, 2), (40, 4), (24, 8), (16, 16)]
RELATIONS = [(4, 32), (8, 16), (32, 8)]


@claim(
    "B.additive-subject-code",
    "A subject's code exists from d = R delta_0(D) on",
    source=SOURCE,
    latex=r"d = R\,\delta_0(D),\quad \delta_0 = E\,\mathrm{dist}^2(g,\{x: x_1\ge x_j\})",
    regime="the statistical dimension is sharp for d of 28 and more (the smoke tier's one shape "
    "has 14); D from 2 to 16",
    cells=lambda: {
        "smoke": across([(8, 8)]),
        "standard": across(SUBJECTS),
        "full": across([*SUBJECTS, (64, 8), (32, 32)]),
    },
    replicates=32,
    looks=4,
    rule=CriticalLocation(Region(0.92, 1.08), scan="dim"),
    why=REASON,
    predict=subject_dim,
    controls=(
        Control(
            "asymptotic",
            "2 ln D in place of delta_0(D)",
            predict=lambda cell: 2 * cell["relations"] * math.log(cell["answers"]),
        ),
        Control(
            "one-each",
            "a dimension per answer",
            predict=lambda cell: cell["relations"],
        ),
    ),
    plot=Plot(x="dim", group=("relations", "answers"), collapse=True, log=""),
    critical=subject_dim,
)
def subject_code(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """Without an MLP, some code prefers a subject's R answers to their D - 1 rivals each if, and up
    to a narrow transition only if, there are R delta_0(D) dimensions: half a dimension per answer
    for D = 2, about 2 ln D for large D."""
    found = [measured.subject_code_exists(rng, **cell) for rng in block.rngs]
    return {"value": torch.tensor(found, dtype=block.dtype)}


@claim(
    "B.additive-relation-code",
    "A relation's code exists from its statistical dimension on",
    source=SOURCE,
    latex=r"d = E\,\mathrm{dist}^2(g,\{x: \min_{A_r}x\ge\max_{A_r^c}x\})",
    regime="the statistical dimension is sharp for d of 30 and more; D from 8 to 32",
    cells=lambda: {
        "standard": across(RELATIONS, relation=True),
        "full": across([*RELATIONS, (16, 32), (64, 8)], relation=True),
    },
    replicates=32,
    looks=4,
    rule=CriticalLocation(Region(0.92, 1.08), scan="dim"),
    why=REASON,
    predict=relation_dim,
    controls=(
        Control(
            "one-each", "a dimension per answer of the block", predict=lambda cell: cell["answers"]
        ),
        Control(
            "separation",
            "half the answers, as for separating them at random",
            predict=lambda cell: cell["relations"] * cell["answers"] / 2,
        ),
    ),
    plot=Plot(x="dim", group=("relations", "answers"), collapse=True, log=""),
    critical=relation_dim,
)
def relation_code(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """Some code puts all D answers of a relation above the (R - 1) D others from the statistical
    dimension of that ordering on: 1.6 D at R = 4, D = 32, and 3.8 D at R = 32, D = 8."""
    found = [measured.relation_code_exists(rng, **cell) for rng in block.rngs]
    return {"value": torch.tensor(found, dtype=block.dtype)}
