"""The MLP associative memory with cosine features: its accuracy, and the width that it needs.

All sizes of the claims on MLP memories are of order 10 to 1000, where the capacities of the limit,
N log N ~ md, are not reached yet: the claims test the law of finite size, and say where the limit
is.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from scipy import special

from recall_claims import (
    Block,
    Cell,
    Control,
    CriticalLocation,
    MeanDifference,
    Plot,
    Region,
    Source,
    cells,
    claim,
)
from simulation.memory import mlp as measured
from theory.laws import quadrature
from theory.memory import mlp

SOURCE = Source("B", "B2", provenance="derived", reference="theory/mlp.py")
Sizes = Mapping[str, Any]
Law = Callable[[Cell], float]
AROUND = (0.87, 1.0, 1.15)
ALL_RIGHT = "P(all right)"
SQUARE = (
    {"associations": 128, "dim": 32},
    {"associations": 512, "dim": 32},
    {"associations": 512, "dim": 64},
)
FEW_OUTPUTS = (
    {"associations": 512, "dim": 32, "outputs": 64},
    {"associations": 512, "dim": 64, "outputs": 64},
)


def scan_width(*settings: Sizes, factors: Iterable[float]) -> tuple[Cell, ...]:
    """Cells at these multiples of the critical width."""
    factors = tuple(factors)
    return cells(
        {**setting, "width": round(factor * mlp.critical_width(**setting))}
        for setting in settings
        for factor in factors
    )


def middle() -> tuple[Cell, ...]:
    """Square memories, and two with fewer outputs, in the middle of their transition."""
    return scan_width(
        {"associations": 512, "dim": 32},
        {"associations": 512, "dim": 64},
        {"associations": 512, "dim": 64, "outputs": 128},
        {"associations": 512, "dim": 64, "outputs": 64},
        factors=(0.25, 0.5),
    )


def without(cell: Cell, name: str) -> dict[str, Any]:
    """The cell's other parameters."""
    return {key: value for key, value in cell.items() if key != name}


def critical_width(cell: Cell) -> float:
    """The least width for all associations."""
    return mlp.critical_width(**without(cell, "width"))


def accuracy(cell: Cell) -> float:
    """The share of associations that are right."""
    return mlp.accuracy(**cell)


def times(law: Law, factor: float) -> Law:
    """The law with another constant."""
    return lambda cell: factor * law(cell)


def outputs(cell: Cell) -> float:
    """M."""
    return float(cell.get("outputs", cell["associations"]))


def noise(cell: Cell) -> float:
    """N/d + N/M, leading variance of a score times the width."""
    return cell.number("associations") * (1 / cell.number("dim") + 1 / outputs(cell))


def leading_accuracy(cell: Cell) -> float:
    """Gaussian scores of variance v = (N/d + N/M)/m, own signal not counted."""
    own, weights = quadrature.normal(64)
    deviation = math.sqrt(noise(cell) / cell.number("width"))
    return float(weights @ special.ndtr(1 / deviation + own) ** (outputs(cell) - 1))


def construct(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """What a construction recalls."""
    return measured.constructed(block.rngs, **cell, device=block.device, dtype=block.dtype)


@claim(
    "B.mlp-memory-accuracy",
    "Accuracy of the cosine memory across its transition",
    source=SOURCE,
    latex=r"\mathrm{Acc} = E\left[F_D\left(\frac{\kappa+\alpha+\eta}{\sqrt{|F|^2/d+B^2}}\right)"
    r"\right]^{M-1}",
    regime="d >= 32 and M >= d, widths at a quarter and a half of the critical one: accuracy 0.6 "
    "to 0.98",
    cells=lambda: {"smoke": middle()[1:4], "standard": middle(), "full": middle()},
    replicates=64,
    looks={"smoke": 2, "standard": 3, "full": 3},
    rule=MeanDifference(Region(-0.02, 0.02)),
    why="the theory states an error of 0.01; as much again for sampling",
    predict=accuracy,
    controls=(
        Control("leading-order", "Gaussian scores of variance v", predict=leading_accuracy),
        Control(
            "both-layers",
            "2 md counts, the weights of both layers, in place of md",
            predict=lambda cell: accuracy(cell.replace(width=2 * int(cell["width"]))),
        ),
    ),
    plot=Plot(x="width", group=("associations", "dim"), y_label="accuracy"),
)
def memory_accuracy(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """A Hebbian second layer on m random cosine features recalls the share of N associations that
    the interference of the others, of variance N/(md) + N/(mM) and more, leaves above the best
    competitor."""
    return {"value": construct(cell, block)["accuracy"]}


@claim(
    "B.mlp-memory-width",
    "The width at which the cosine memory recalls everything",
    source=SOURCE,
    latex=r"N\,(1-\mathrm{Acc}(m_*)) = \ln2",
    regime="d >= 32, as many outputs as associations; widths within 15% of the critical one",
    cells=lambda: {
        "smoke": scan_width(SQUARE[0], factors=AROUND),
        "standard": scan_width(*SQUARE, factors=AROUND),
        "full": scan_width(
            *SQUARE,
            {"associations": 2048, "dim": 64},
            {"associations": 2048, "dim": 128},
            factors=AROUND,
        ),
    },
    replicates=64,
    looks=4,
    rule=CriticalLocation(Region(0.9, 1.1), scan="width"),
    why="the theory states an error of 3%; the rest is sampling",
    predict=critical_width,
    controls=(
        Control(
            "average-association",
            "the width for a typical association, 2 log N, in place of all",
            predict=times(critical_width, 0.5),
        ),
        Control(
            "linear-memory",
            "a layer of width m stores as many as its m^2 parameters would in a linear memory",
            predict=lambda cell: math.sqrt(cell.number("dim") * critical_width(cell)),
        ),
    ),
    plot=Plot(x="width", group=("associations", "dim"), collapse=True, y_label=ALL_RIGHT),
    critical=critical_width,
)
def memory_width(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """All N associations are right with probability 1/2 at the width where the mean number of
    wrong ones is log 2."""
    return {"value": construct(cell, block)["all"]}


@claim(
    "B.mlp-memory-few-outputs",
    "Interference within an output adds to that between outputs",
    source=SOURCE,
    latex=r"m_* \propto \frac Nd + \frac NM",
    regime="M = N/8, equal to d and to 2 d, so that both terms count",
    cells=lambda: {
        "standard": scan_width(*FEW_OUTPUTS, factors=AROUND),
        "full": scan_width(
            *FEW_OUTPUTS, {"associations": 2048, "dim": 128, "outputs": 256}, factors=AROUND
        ),
    },
    replicates=64,
    looks=4,
    rule=CriticalLocation(Region(0.9, 1.1), scan="width"),
    why="the theory states an error of 3%; the rest is sampling",
    predict=critical_width,
    controls=(
        Control(
            "between-only",
            "drops the interference N/M within an output's own score",
            predict=lambda cell: (
                critical_width(cell)
                * cell.number("associations")
                / cell.number("dim")
                / noise(cell)
            ),
        ),
        Control(
            "within-only",
            "drops the interference N/d between outputs",
            predict=lambda cell: (
                critical_width(cell) * cell.number("associations") / outputs(cell) / noise(cell)
            ),
        ),
    ),
    plot=Plot(x="width", group=("outputs", "dim"), collapse=True, y_label=ALL_RIGHT),
    critical=critical_width,
)
def memory_few_outputs(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """With fewer outputs than associations a score is disturbed by the N/M inputs of the same
    output and, through the overlaps of the outputs, by all N; the variances N/(mM) and N/(md)
    add up."""
    return {"value": construct(cell, block)["all"]}
