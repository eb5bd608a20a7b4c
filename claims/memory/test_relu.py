"""The MLP associative memory with ReLU features: what the projection and wide layers give."""

import torch

from claims.memory.test_mlp import ALL_RIGHT, SOURCE, accuracy, construct
from claims.memory.test_mlp_scaling import capacity, scan_associations
from recall_claims import (
    Block,
    Cell,
    Control,
    CriticalLocation,
    MeanDifference,
    OneSided,
    Ordering,
    Plot,
    Region,
    cells,
    claim,
    grid,
)

RELU = ({"width": 256, "dim": 32}, {"width": 512, "dim": 64}, {"width": 1024, "dim": 64})
RELU_WIDE = cells(
    {"associations": n, "dim": d, "width": 4096, "features": "relu"}
    for n, d in ((800, 24), (1200, 32))
)


@claim(
    "B.relu-memory-capacity",
    "ReLU features without constant and linear parts make a memory",
    source=SOURCE,
    latex=r"T^2 = \frac{1}{m-d-1} + T_\infty^2,\quad T_\infty^2\approx\frac{1.53}{d^2}",
    regime="widths from 8 d to 16 d, below d^2/1.53, where neurons still count most; N = M",
    cells=lambda: {
        "smoke": scan_associations(RELU[0], factors=(0.88, 1.0, 1.14), features="relu"),
        "standard": scan_associations(*RELU, factors=(0.88, 1.0, 1.14), features="relu"),
        "full": scan_associations(
            *RELU, {"width": 1024, "dim": 128}, factors=(0.88, 1.0, 1.14), features="relu"
        ),
    },
    replicates=64,
    looks=4,
    rule=CriticalLocation(Region(0.92, 1.08), scan="associations"),
    why="the theory states an error of 3% up to m = d^2/1.53; the rest is sampling",
    predict=capacity,
    controls=(
        Control(
            "as-cosine",
            "neither neurons lost to the projection nor a quadratic part",
            predict=lambda cell: capacity(cell.replace(features="cosine")),
        ),
        Control(
            "no-quadratic-part",
            "the cosine's law with m - d - 1 neurons",
            predict=lambda cell: capacity(
                cell.replace(features="cosine", width=int(cell["width"] - cell["dim"] - 1))
            ),
        ),
    ),
    plot=Plot(x="associations", group=("width", "dim"), collapse=True, y_label=ALL_RIGHT),
    critical=capacity,
)
def relu_capacity(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """Random ReLU features, projected off the constant and linear directions, store associations
    by the law of the cosine memory; d + 1 neurons are lost to the projection, and the quadratic
    part of the features adds interference that no width removes."""
    return {"value": construct(cell, block)["all"]}


@claim(
    "B.relu-memory-floor",
    "Beyond d^2 neurons, wider ReLU layers store no more",
    source=SOURCE,
    latex=r"T^2 \to T_\infty^2 = \mathrm{Var}\,k \approx\frac{2}{(\pi-2)^2d^2}",
    regime="width 4096, 4 and 7 times d^2, so that the quadratic part is 6 to 11 times the "
    "neurons' share of the interference",
    cells={"standard": RELU_WIDE, "full": RELU_WIDE},
    replicates=32,
    looks=2,
    rule=MeanDifference(Region(-0.04, 0.04)),
    why="overlaps of quadratic features are skewed, not normal, which the theory "
    "neglects: it states an error of 0.02; the rest is sampling",
    predict=accuracy,
    controls=(
        Control(
            "width-suffices",
            "interference falls as 1/m for ever",
            predict=lambda cell: accuracy(cell.replace(features="cosine")),
        ),
        Control(
            "linear-part-left",
            "interference of the linear part, 1/d, as in a linear memory",
            predict=lambda cell: accuracy(cell.replace(features="cosine", width=int(cell["dim"]))),
        ),
    ),
    plot=Plot(kind="parity"),
)
def relu_floor(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """The overlaps of ReLU features are, but for their constant and linear parts, nearly quadratic
    in the inputs; a layer wider than the d^2/1.53 that such functions can use stays at the
    accuracy of infinite width."""
    return {"value": construct(cell, block)["accuracy"]}


@claim(
    "B.relu-memory-projection",
    "Plain ReLU features make no memory",
    source=SOURCE,
    latex=r"k_{\mathrm{relu}}(t) = \frac1\pi + \frac t2 + \frac{t^2}{2\pi} + \dots",
    regime="sizes at which the projected features recall nearly everything",
    cells={
        "smoke": grid(associations=128, dim=32, width=256),
        "standard": grid(associations=(128, 256), dim=(32, 64), width=512),
        "full": grid(associations=(128, 256, 512), dim=(64, 128), width=1024),
    },
    replicates=32,
    looks=2,
    rule=Ordering(smaller="plain", larger="projected", margin=0.5),
    why="half of the associations lost is what we call no memory",
    controls=(
        Control("the-plain-one", "plain is better", rule=Ordering("projected", "plain")),
        Control(
            "projection-idle",
            "what is projected off costs less than a tenth of the associations",
            rule=OneSided(upper=0.1, observable="difference"),
        ),
    ),
)
def relu_projection(cell: Cell, block: Block) -> dict[str, torch.Tensor]:
    """With plain ReLU features every input overlaps every other by 1/pi of its own square, so that
    each answer is mostly the sum of all outputs; taking constant and linear parts off gains more
    than half of the associations."""
    projected = construct(cell.replace(features="relu"), block)["accuracy"]
    plain = construct(cell.replace(features="plain relu"), block)["accuracy"]
    return {"projected": projected, "plain": plain, "difference": projected - plain}
