"""The MLP associative memory: how width and capacity grow with the sizes, and the limit."""

import math
from collections.abc import Iterable
from typing import Any

import torch

from claims.memory.test_mlp import (
    ALL_RIGHT,
    AROUND,
    SOURCE,
    SQUARE,
    Sizes,
    construct,
    critical_width,
    noise,
    scan_width,
    times,
    without,
)
from recall_claims import (
    Block,
    Cell,
    Control,
    CriticalExponents,
    CriticalLocation,
    Plot,
    Region,
    cells,
    claim,
)
from theory.memory import mlp


def scan_associations(
    *settings: Sizes, factors: Iterable[float], features: str = "cosine"
) -> tuple[Cell, ...]:
    """Cells at these multiples of the capacity."""
    factors = tuple(factors)
    points: list[dict[str, Any]] = []
    for setting in settings:
        capacity = mlp.capacity(**setting, features=features)
        points += [
            {**setting, "features": features, "associations": round(factor * capacity)}
            for factor in factors
        ]
    return cells(points)


def capacity(cell: Cell) -> float:
    """The most associations that are all right."""
    return mlp.capacity(**without(cell, "associations"))


def asymptotic_width(cell: Cell) -> float:
    """The least width in the limit."""
    return mlp.asymptotic_width(**without(cell, "width"))


@claim(
    "B.mlp-memory-width-exponents",
    "The critical width grows as N log N / d: on this grid, powers 1.15 and -1.03",
    source=SOURCE,
    latex=r"m_* \propto N^{a}d^{-b}",
    regime="M = N from 128 to 512, d from 32 to 64; the logarithm raises the power of N by 0.18, "
    "the term N/M = 1 lowers it by 0.12 to 0.2, and the input's own signal raises it by as much",
    cells=lambda: {
        tier: scan_width(
            *({"associations": n, "dim": d} for n in (128, 512) for d in (32, 64)),
            factors=AROUND,
        )
        for tier in ("standard", "full")
    },
    replicates=64,
    looks=4,
    rule=CriticalExponents(
        {"associations": 1.0, "dim": -1.0}, 0.1, scan="width", reference="prediction"
    ),
    why="an error of 3%, as stated, at either end moves the power of N by 0.04 and that "
    "of d by 0.09",
    predict=critical_width,
    controls=(
        Control(
            "no-logarithm",
            "md proportional to N",
            predict=lambda cell: cell.number("associations") / cell.number("dim"),
        ),
        Control(
            "width-alone",
            "m proportional to N log N, whatever d",
            predict=lambda cell: cell["associations"] * math.log(cell["associations"]),
        ),
        Control(
            "dimension-counts-twice",
            "m d^2 proportional to N log N",
            predict=lambda cell: (
                cell["associations"] * math.log(cell["associations"]) / cell["dim"] ** 2
            ),
        ),
    ),
    plot=Plot(x="width", group=("associations", "dim"), y_label=ALL_RIGHT),
)
def memory_width_exponents(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """The critical width grows a little faster than N and falls with d as fast as N log N / d,
    up to what finite size does to the powers."""
    return {"value": construct(cell, block)["all"]}


@claim(
    "B.mlp-memory-capacity",
    "The capacity grows with the product of width and dimension",
    source=SOURCE,
    latex=r"N_*\log N_* \propto m\,d",
    regime="m from 128 to 512, d from 32 to 64, N = M; finite size and the logarithm take "
    "0.1 to 0.15 off the power 1 of either",
    cells=lambda: {
        tier: scan_associations(
            *({"width": m, "dim": d} for m in (128, 512) for d in (32, 64)),
            factors=(0.88, 1.0, 1.14),
        )
        for tier in ("standard", "full")
    },
    replicates=64,
    looks=4,
    rule=CriticalExponents(
        {"width": 1.0, "dim": 1.0}, 0.08, scan="associations", reference="prediction"
    ),
    why="an error of 4% in the capacity at either end moves an exponent by 0.03 in the "
    "width, by 0.06 in the dimension",
    predict=capacity,
    controls=(
        Control(
            "no-logarithm",
            "N proportional to md",
            predict=lambda cell: cell.number("width") * cell.number("dim"),
        ),
        Control("dimension-alone", "d^2 counts", predict=lambda cell: cell.number("dim") ** 2),
        Control("width-alone", "m counts", predict=lambda cell: cell.number("width")),
    ),
    plot=Plot(x="associations", group=("width", "dim"), y_label=ALL_RIGHT),
)
def memory_capacity(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Twice the width at fixed dimension, or twice the dimension at fixed width, stores nearly
    twice as many associations."""
    return {"value": construct(cell, block)["all"]}


@claim(
    "B.mlp-memory-asymptotic",
    "The limit's law md = 8 N log N (1 + d/M), within its finite-size error",
    source=SOURCE,
    latex=r"m_* \sim 4\ln(NM)\left(\frac Nd+\frac NM\right)",
    regime="M = N from 128 to 1024, d from 32 to 128",
    cells=lambda: {
        "smoke": scan_width(SQUARE[0], factors=AROUND),
        "standard": scan_width(
            SQUARE[0], SQUARE[2], {"associations": 512, "dim": 128}, factors=AROUND
        ),
        "full": scan_width(
            SQUARE[0],
            SQUARE[2],
            {"associations": 512, "dim": 128},
            {"associations": 1024, "dim": 64},
            factors=AROUND,
        ),
    },
    replicates=64,
    looks=4,
    rule=CriticalLocation(Region(0.7, 1.0), scan="width"),
    why="the approach to the limit is logarithmic: the theory of finite size puts the "
    "ratio at 0.78 to 0.9 on this grid, within its own 3%",
    predict=asymptotic_width,
    controls=(
        Control(
            "two",
            "md = 2 N log N, the conjectured optimum of linear memories",
            predict=times(asymptotic_width, 0.25),
        ),
        Control("no-logarithm", "md = 8 N (1 + d/M)", predict=lambda cell: 8 * noise(cell)),
        Control(
            "width-alone",
            "m = 8 log N: the dimension stores",
            predict=lambda cell: 8 * math.log(cell.number("associations")),
        ),
    ),
    plot=Plot(x="width", group=("associations", "dim"), collapse=True, y_label=ALL_RIGHT),
    critical=asymptotic_width,
)
def memory_asymptotic(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """A layer of md parameters stores N associations once md exceeds 8 N log N, as many as the
    d^2 of a linear memory; sizes of a few hundred need a little less."""
    return {"value": construct(cell, block)["all"]}
