"""Shared parts of the claims about sequential learning: times, losses, flows from a small start.

Functions that simulate must not use theory: the library refuses claims that do.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TypeVar

import torch

import recall_claims as rc
from claims.factual.common import NAMES
from simulation.factual import sequential_learning as learning
from theory.factual import sequential_learning as theory

REFERENCE = "theory/factual/sequential_learning.py"
SEQUENTIAL = rc.Source("B", "B6", provenance="derived", reference=REFERENCE)
SMALL = 1e-5  # the published start
RATE = 0.1  # of the published SGD
FLOW_STEPS = 500
STAGES: tuple[theory.Stage, theory.Stage] = ("relation", "subject")
T = TypeVar("T")


def along_flow(cell: rc.Cell) -> float:
    """Return how many numbers a flow handles, as each step computes all prompts' logits."""
    return float(100 * cell["subjects"] * cell["relations"] ** 2 * cell["answers"])


def half_time(cell: rc.Cell) -> float:
    """Predict the time at which half of the loss of the cell's stage is gone."""
    return theory.half_time(theory.Sizes.of(cell), cell["stage"], scale=cell.get("scale", SMALL))


def stage_times(cell: rc.Cell) -> tuple[float, float]:
    """Predict the half times of the relations and of the subjects."""
    relation, subject = (half_time(cell.replace(stage=stage)) for stage in STAGES)
    return relation, subject


def timed(points: Iterable[rc.Cell], past: float = 1.2) -> tuple[rc.Cell, ...]:
    """Add the duration of the flow to cells: ``past`` times the half time of the later stage."""
    return tuple(cell.replace(duration=round(past * max(stage_times(cell)))) for cell in points)


def time(cell: rc.Cell) -> float:
    """Return the cell's time; a step of SGD advances the flow's time by the learning rate."""
    return float(cell["time"] if "time" in cell else RATE * cell["step"])


def loss(cell: rc.Cell) -> float:
    """Predict the loss of the flow at the cell's time."""
    return theory.loss(theory.Sizes.of(cell), time(cell), scale=cell.get("scale", SMALL))


def stage_loss(cell: rc.Cell, stage: theory.Stage, pace: float = 1.0) -> float:
    """Predict a stage's part of the loss, in nats, at ``pace`` times the cell's time."""
    return theory.stage_loss(theory.Sizes.of(cell), stage, pace * time(cell), scale=SMALL)


def stages_swapped(cell: rc.Cell) -> float:
    """Predict the loss as if subjects were learned at the relations' time, and vice versa."""
    relation, subject = stage_times(cell)
    return stage_loss(cell, "relation", relation / subject) + stage_loss(
        cell, "subject", subject / relation
    )


def task(cell: rc.Cell, block: rc.Block) -> learning.FactPrompts:
    """Make the task of a cell, with the published answers to all facts or with random ones."""
    shape = [cell[name] for name in NAMES]
    if cell.get("dictionary") == "random":
        facts = learning.random_dictionaries(block.rngs, *shape, device=block.device)
    else:
        one = torch.from_numpy(learning.product_dictionary(*shape))
        facts = one.expand(block.replicates, -1, -1)
    return learning.FactPrompts(facts, answers=shape[2], device=block.device, dtype=block.dtype)


def shifted(problem: learning.FactPrompts) -> learning.Weights:
    """Make the published start, but with all values of token z in replicate k equal to w cos(k z).

    Here w is sqrt(2) times the start's attention weight. In the first replicate, k = 0, all tokens
    have the same values. Nothing is random: the flow is deterministic.
    """
    tokens = torch.arange(problem.subjects + problem.relations + 2)
    waves = torch.arange(problem.replicates)[:, None] * tokens
    shifts = math.sqrt(2) * torch.cos(waves.to(problem.target))
    return problem.start(SMALL, SMALL * shifts[:, :, None])


def whole_flow(cell: rc.Cell, problem: learning.FactPrompts) -> learning.Losses:
    """Compute the losses along the flow for the cell's duration."""
    start = shifted(problem)
    path = learning.flow(problem, start, duration=cell["duration"], steps=FLOW_STEPS)
    return learning.losses_along(problem, start, path)


def end(path: Iterator[T]) -> T:
    """Return the last point of a path."""
    (last,) = deque(path, maxlen=1)
    return last
