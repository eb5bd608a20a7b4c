"""The task of factual recall: what a prompt tells, and what the relation alone is worth."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from recall_claims import Block, Cell, Control, Identity, MeanRatio, Plot, Region, Source, claim
from simulation.factual import task
from theory.factual import constructions as theory

TASK = Source("B", "B3", provenance="reported", reference="theory/factual/constructions.py")
GUESS = Source("B", "B3", provenance="derived", reference="theory/factual/constructions.py")
Observables = Mapping[str, torch.Tensor]
Replicate = Callable[[np.random.Generator, task.Facts], float | bool]


def sizes(cell: Cell) -> dict[str, Any]:
    """S, R and D."""
    return {name: cell[name] for name in ("subjects", "relations", "answers")}


def shapes(*triples: tuple[int, int, int], **more: int) -> tuple[Cell, ...]:
    """Settings with these S, R, D."""
    return tuple(Cell(subjects=s, relations=r, answers=d, **more) for s, r, d in triples)


def each(cell: Cell, block: Block, run: Replicate) -> Observables:
    """One number per replicate, from facts drawn for it."""
    shape = sizes(cell) | {name: cell[name] for name in ("dim", "noise") if name in cell}
    shape |= {"device": block.device, "dtype": block.dtype}
    values = [run(rng, task.draw(rng, **shape)) for rng in block.rngs]
    return {"value": torch.tensor(values, dtype=block.dtype)}


TASKS = shapes((16, 4, 8), (64, 8, 8), (32, 16, 4))


@claim(
    "B.factual-task",
    "Every prompt determines its answer, and the subject alone gives one in R",
    source=TASK,
    latex=r"a^*(s,r)\in A_r,\quad |A_r| = D,\quad A_r\cap A_{r'}=\emptyset",
    regime="exact for any sizes",
    cells=tuple(c.replace(dim=8, length=t) for c in TASKS for t in (3, 32)),
    replicates=8,
    looks=1,
    rule=Identity(1e-12),
    why="an identity, up to the rounding of a division",
    controls=(
        Control(
            "relation-suffices",
            "the relation alone determines the answer",
            rule=Identity(1e-12, observable="relation"),
        ),
        Control(
            "subject-suffices",
            "the subject alone determines the answer",
            rule=Identity(1e-12, observable="subject"),
        ),
    ),
    plot=None,
)
def factual_task(cell: Cell, block: Block) -> Mapping[str, torch.Tensor]:
    """A prompt holds one subject and one relation, which determine the answer; the answer to
    relation r lies in block r of R disjoint blocks of D; and a predictor that knows the subject
    alone is right for one relation in R, whatever it answers."""
    errors: dict[str, list[float]] = {"error": [], "relation": [], "subject": []}
    for rng in block.rngs:
        facts = task.draw(rng, **sizes(cell), dim=cell["dim"])
        found = task.recovered(facts, task.prompts(rng, facts, length=cell["length"]))
        strays = (facts.answers // cell["answers"] != torch.arange(cell["relations"])).sum()
        subject = task.best_guess(facts, know="subject")
        wrong = (found != facts.answers.flatten()).sum()
        errors["error"].append(float(wrong + strays) + abs(subject * cell["relations"] - 1))
        errors["relation"].append(1 - task.best_guess(facts, know="relation"))
        errors["subject"].append(1 - subject)
    return {name: torch.tensor(values, dtype=block.dtype) for name, values in errors.items()}


@claim(
    "B.factual-guess-by-relation",
    "What the relation alone is worth",
    source=GUESS,
    latex=r"\frac1S\,E\max_{k\le D}n_k,\quad n\sim\mathrm{Multinomial}(S;1/D)",
    regime="exact for any sizes",
    cells=tuple(c.replace(dim=8) for c in TASKS),
    replicates=256,
    looks=3,
    rule=MeanRatio(Region(0.96, 1.04)),
    why="the formula is exact; 4% is the resolution asked for",
    predict=lambda cell: theory.guess_by_relation(cell["subjects"], cell["answers"]),
    controls=(
        Control("blind", "1/D, a guess within the block", predict=lambda c: 1 / c["answers"]),
    ),
    plot=Plot(kind="parity"),
)
def guess_by_relation(cell: Cell, block: Block) -> Observables:
    """The best predictor that knows the relation but not the subject, the stage of hallucination,
    is right more often than 1/D: with S subjects some answers are more frequent than others."""
    return each(cell, block, lambda rng, facts: task.best_guess(facts, know="relation"))
