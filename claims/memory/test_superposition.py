"""Facts in learned embeddings, of a dimension that grows with the logarithm of their number."""

import math
from functools import partial

import torch

import recall_claims as rc
from claims.common import claim, rungs
from simulation.memory import superposition as measured
from theory.memory import linear
from theory.memory import superposition as theory

superposition = partial(
    claim,
    source=rc.Source("G", "G6"),
    size=lambda c: c["attributes"] ** 2 * c["relations"] / 4,
)
needed = rc.on(theory.needed_dim)
SIZES = rc.grid(attributes=(64, 512), relations=4)
FEWER = SIZES[0]


def beside(law: float, fewer: float) -> float:
    """Dimension proportional to ``law``, and right at 64 attributes, where the law is ``fewer``."""
    return float(needed(FEWER) * law / fewer)


def linear_memory(cell: rc.Cell) -> float:
    """Dimension by the law of a linear memory with frozen embeddings that stores as many facts."""
    law, fewer = (linear.half_dim(c["attributes"] * c["relations"]) for c in (cell, FEWER))
    return beside(law, fewer)


@superposition(
    "G.superposed-facts",
    "Embeddings that hold 99% of R C facts grow with log C",
    predict=needed,
    regime=theory.FACTS.searched("the MLP's neurons in full", without=("dim",)),
    cells={"standard": lambda: rungs("dim", needed, 0.06, *SIZES)},
    rule=rc.CriticalLocation(rc.Region(0.94, 1.06), scan="dim"),
    why="the theory states an error of 5%; 1% is left for sampling error",
    replicates=(32, 2048),
    controls=(
        rc.Control("linear-memory", "grows as a linear memory's, from 64 on", linear_memory),
        rc.Control(
            "facts",
            "the square root of the number of facts, from 64 on",
            lambda cell: beside(math.sqrt(cell["attributes"]), math.sqrt(FEWER["attributes"])),
        ),
        rc.Control("constant", "the dimension for 64 does for 512", lambda _: needed(FEWER)),
        rc.at("relations", "a relation more", relations=5),
    ),
    plot=rc.Plot(
        x="dim", group=("attributes",), collapse=True, y_label="share of memories 99% right"
    ),
)
def superposed(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """Subjects that are superpositions of their attributes' vectors, and an MLP that knows the
    relations and no fact, recall 99% of eight times as many facts with a quarter more dimensions.
    What is stored in a weight of the embeddings hardly changes: their number grows eightfold."""
    return (block.draw(measured.accuracy, cell) >= 0.99).to(block.dtype)


@superposition(
    "G.superposed-accuracy",
    "Superposed embeddings recall the predicted share of facts, to within 0.015",
    predict=rc.on(theory.accuracy),
    regime=theory.FACTS.searched("on the grid half of the facts and more"),
    cells=rc.grid(
        {"attributes": c, "relations": r, "dim": d} for c, r, d in ((256, 4, 28), (64, 8, 64))
    ),
    rule=rc.ProportionDifference,
    why="the stated error: scores of attributes in the noise are taken as those of a sphere",
    replicates=(64, 4096),
    controls=(
        rc.at("relations", "interference of all relations", relations=lambda c: c["relations"] + 1),
        rc.at("half", "as with half of the attributes", attributes=lambda c: c["attributes"] / 2),
        rc.at("wider", "as with 5% more dimensions", dim=lambda c: 1.05 * c["dim"]),
    ),
    plot=rc.Plot("parity", y_label="share of facts recalled"),
)
def superposed_accuracy(cell: rc.Cell, block: rc.Block) -> torch.Tensor:
    """A fact comes out right where its attribute's score exceeds C - 1 others, all disturbed by the
    R - 1 other attributes of its subject."""
    return block.draw(measured.accuracy, cell)
