"""Factual recall task: the information in a prompt, and in the relation alone."""

import math

import torch
from torch import Tensor

import recall_claims as rc
from claims.common import claim
from claims.factual.common import NAMES, shapes
from claims.factual.explicit_weights import each
from simulation.factual import sequential_learning as learning
from simulation.factual import task
from simulation.streams import Streams
from theory.factual import constructions as theory
from theory.factual import sequential_learning

REFERENCE = "theory/factual/sequential_learning.py"
TASKS = shapes((16, 4, 8), (64, 8, 8), (32, 16, 4), dim=8)


@rc.claim(
    "B.factual-task",
    "Every prompt determines its answer, and the subject alone gives one in R",
    source=rc.Source("B", "B3", provenance="reported", reference="theory/factual/constructions.py"),
    latex=r"a^*(s,r)\in A_r,\quad |A_r| = D,\quad A_r\cap A_{r'}=\emptyset",
    regime=sequential_learning.ANY.searched(
        "exact for any sizes",
        holds=lambda cell: cell["length"] >= 3,
        dim=(8, 2, 32),
        length=(3, 4, 8, 32, 128),
    ),
    size=lambda c: 10 * c["subjects"] * c["relations"] * c["length"],
    cells=tuple(cell.replace(length=length) for cell in TASKS for length in (3, 32)),
    replicates=8,
    rule=rc.Identity(1e-12),
    why="an identity, up to the rounding of a division",
    controls=(
        rc.reads("relation-suffices", "the relation alone determines the answer", "relation"),
        rc.reads("subject-suffices", "the subject alone determines the answer", "subject"),
    ),
)
def factual_task(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """A prompt holds one subject and one relation, which determine the answer. The answer to
    relation r lies in block r of R disjoint blocks of D. The best predictor that knows the subject
    alone is right for one relation in R."""

    def run(streams: Streams, facts: task.Facts) -> Tensor:
        found = task.recovered(facts, task.prompts(streams, facts, length=cell["length"]))
        blocks = torch.arange(cell["relations"], device=found.device)
        wrong = (found != facts.answers.flatten(1)).sum(1)
        wrong += (facts.answers // cell["answers"] != blocks).sum((1, 2))
        subject, relation = (task.best_guess(facts, know=know) for know in ("subject", "relation"))
        error = wrong + (subject * cell["relations"] - 1).abs()
        return torch.stack([error, 1 - relation, 1 - subject])

    return dict(zip(("error", "relation", "subject"), each(cell, block, run), strict=True))


@claim(
    "B.factual-guess-by-relation",
    "Guessing by the relation alone is right as often as predicted, within 4%",
    source=rc.Source("B", "B3"),
    predict=rc.on(theory.guess_by_relation),
    regime=sequential_learning.ANY.searched(
        "exact for any sizes",
        dim=(8, 2, 32),
    ),
    size=lambda c: 10 * c["subjects"] * c["relations"] * c["answers"],
    cells=TASKS,
    replicates=(64, 4096),
    rule=rc.MeanRatio(rc.Region(0.96, 1.04), method=rc.Betting()),
    why="the formula is exact; 4% is the resolution asked for",
    controls=(
        rc.times(1.1),
        rc.Control("blind", "1/D, a guess within the block", lambda cell: 1 / cell["answers"]),
    ),
    plot=rc.Plot("parity", y_label="share guessed right"),
)
def guess_by_relation(cell: rc.Cell, block: rc.Block) -> Tensor:
    """A predictor that knows the relation but not the subject is at the stage of hallucination. The
    best such predictor is right with a probability above 1/D, because among the answers of S
    subjects some are more frequent than others."""
    return each(cell, block, lambda _, facts: task.best_guess(facts, know="relation"))


OPEN_ENTROPY = rc.on(sequential_learning.Sizes, sequential_learning.random_plateau)


@claim(
    "B.factual-open-entropy",
    "The entropy that a relation leaves is as predicted, within 3%",
    source=rc.Source("B", "B3", "B6", provenance="derived", reference=REFERENCE),
    predict=lambda cell: OPEN_ENTROPY(cell) / math.log(cell["answers"]),
    latex=r"\frac{E\,\mathrm{entropy}(p(\cdot|r))}{\log D} \approx 1-\frac{D-1}{2S\log D}",
    regime=sequential_learning.ANY.searched(
        "exact for any sizes",
    ),
    size=lambda c: 10 * c["subjects"] * c["relations"] ** 2 * c["answers"],
    cells=shapes((24, 2, 6), (16, 4, 4), (8, 2, 4)),
    replicates=(64, 4096),
    rule=rc.MeanRatio(rc.Region(0.97, 1.03), method=rc.Betting()),
    why="the formula is exact; 3% is the resolution asked for",
    controls=(
        rc.Control("log-D", "all answers equally frequent", lambda cell: 1.0),
        rc.times(1.08),
    ),
    plot=rc.Plot("parity", y_label="entropy left, as a share of log D"),
)
def open_entropy(cell: rc.Cell, block: rc.Block) -> Tensor:
    """In a random dictionary the answers of a relation are not equally frequent. So the entropy of
    the answer given the relation is less than log D, by about (D - 1)/(2S) nats. The plateau of
    learning is at this entropy."""
    sizes = [cell[name] for name in NAMES]
    facts = learning.random_dictionaries(block.rngs, *sizes)
    problem = learning.FactPrompts(facts, answers=cell["answers"], dtype=block.dtype)
    return learning.open_entropy(problem) / math.log(cell["answers"])
