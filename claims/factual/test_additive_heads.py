"""Limit of attention without an MLP: the dimensions in which codes exist.

A code is the vector that heads output for a subject or for a relation. There are R relations with D
answers each.
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

import recall_claims as rc
from claims.common import claim, rungs
from simulation.factual import additive_heads as measured
from theory.factual import additive_heads

SUBJECT_DIM = rc.on(additive_heads.subject_dim)
RELATION_DIM = rc.on(additive_heads.relation_dim)
EDGE = 0.06
code_claim = partial(
    claim,
    source=rc.Source("B", "B4"),
    replicates=(8, 2048),
    rule=rc.CriticalLocation(rc.Region(1 - EDGE, 1 + EDGE), scan="dim"),
    why="""by the kinematic formula the dimension at which a code exists with probability 1/2 is
        within 0.2, or 1.4%, of the statistical dimension; the prediction's own draws add 0.5%. The
        rest is what the replicates resolve. Region and looks follow pilots with other seeds""",
    plot=rc.Plot(
        x="dim",
        group=("relations", "answers"),
        collapse=True,
        y_label="share of draws with such a code",
        log="",
    ),
)


def around(dim: Callable[[rc.Cell], float], *shapes: tuple[int, int]) -> tuple[rc.Cell, ...]:
    """Make cells around the threshold for each shape, a pair of R and D."""
    return rungs("dim", dim, EDGE, *(rc.Cell(relations=r, answers=d) for r, d in shapes))


SUBJECTS = ((80, 2), (16, 16))
RELATIONS = ((4, 32), (8, 16))


@code_claim(
    "B.additive-subject-code",
    "A subject's code exists from d = R delta_0(D) on",
    predict=SUBJECT_DIM,
    latex=r"d = R\,\delta_0(D),\quad \delta_0 = E\,\mathrm{dist}^2(z,\{v: v_1\ge v_j\})",
    regime=additive_heads.SUBJECTS.searched(
        "at least 40 dimensions on the grid, where the statistical dimension is sharp",
    ),
    size=lambda c: 50 * c["relations"] ** 2 * c["answers"],
    cells={
        "smoke": lambda: around(SUBJECT_DIM, (80, 2)),
        "standard": lambda: around(SUBJECT_DIM, *SUBJECTS),
        "full": lambda: around(SUBJECT_DIM, *SUBJECTS, (40, 4), (24, 8), (64, 8), (32, 32)),
    },
    controls=(
        rc.times(1.14),
        rc.Control(
            "asymptotic",
            "2 ln D instead of delta_0(D)",
            lambda cell: 2 * cell["relations"] * math.log(cell["answers"]),
        ),
        rc.Control("one-each", "one dimension per answer, d = R", lambda cell: cell["relations"]),
    ),
)
def subject_code(cell: rc.Cell, block: rc.Block) -> Tensor:
    """Without an MLP, a subject's code has to give each of the subject's R answers a larger logit
    than the D - 1 other answers of the same relation. Such a code exists in R delta_0(D) dimensions
    or more. In fewer dimensions, up to a narrow transition, no such code exists. The number
    delta_0(D) of dimensions per answer is 1/2 for D = 2, and about 2 ln D for large D."""
    return torch.tensor([measured.subject_code_exists(rng, **cell) for rng in block.rngs])


@code_claim(
    "B.additive-relation-code",
    "A relation's code exists from its statistical dimension on",
    predict=RELATION_DIM,
    regime=additive_heads.RELATIONS.searched(
        "at least 37 dimensions on the grid, where the statistical dimension is sharp",
    ),
    size=lambda c: 2500 * c["relations"] * c["answers"],
    cells={
        "standard": lambda: around(RELATION_DIM, *RELATIONS),
        "full": lambda: around(RELATION_DIM, *RELATIONS, (16, 16), (16, 32), (64, 8)),
    },
    controls=(
        rc.times(1.14),
        rc.Control("one-each", "one dimension per answer, d = D", lambda cell: cell["answers"]),
        rc.Control(
            "separation",
            "R D/2 dimensions, as for a random half of all answers",
            lambda cell: cell["relations"] * cell["answers"] / 2,
        ),
    ),
)
def relation_code(cell: rc.Cell, block: rc.Block) -> Tensor:
    """From the statistical dimension on, some code gives all D answers of a relation larger logits
    than the (R - 1) D other answers. The statistical dimension is the mean squared distance of a
    normal vector of R D logits to the nearest vector that puts these D answers above the others. It
    is 1.6 D at R = 4, D = 32, and 2.3 D at R = 8, D = 16."""
    return torch.tensor([measured.relation_code_exists(rng, **cell) for rng in block.rngs])
